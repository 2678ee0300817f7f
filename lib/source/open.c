// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open.c - detection of formats, and opening of sources: PATH, FORMAT:PATH or
 * raw:PATH@ADDRESS. The only list of kinds is sources.def.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/io.h"
#include "base/num.h"
#include "base/spool.h"
#include "base/unpack.h"
#include "source/open.h"
#include "source/plugged.h"

enum { HEAD = 64 * 1024 };       /* as much of a file as probes see */
#define STDIN_NAME "standard input"

static const struct atw_source_ops *const kinds[] = {
#define SOURCE(name) &source_##name,
#include "source/sources.def"
#undef SOURCE
};

const struct atw_source_ops *atw_source_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? kinds[i] : NULL;
}

static bool open_begins_with(const char *text, const char *format, const char **rest)
{
	size_t len = strlen(format);

	if (strncmp(text, format, len) != 0 || text[len] != ':')
		return false;
	*rest = text + len + 1;
	return true;
}

/* A source of a plugin before the colon, of files or not; NULL: none. */
static const struct atw_source_ops *open_added(const struct source_input *in, const char *text,
					       bool file, const char **rest)
{
	for (size_t i = 0; in->added && i < in->added->n; i++)
		if (plugin_source_is_file(&in->added->v[i]) == file &&
		    open_begins_with(text, in->added->v[i].ops.name, rest))
			return &in->added->v[i].ops;
	return NULL;
}

/* Is there a format before the path? in->kind stays NULL if it is `other`. */
static bool open_is_forced(const char *text, const struct source_format *other,
			   struct source_input *in, const char **rest)
{
	*rest = text;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (open_begins_with(text, kinds[i]->name, rest)) {
			in->kind = kinds[i];
			return true;
		}
	if (other && open_begins_with(text, other->name, rest))
		return true;
	in->kind = open_added(in, text, true, rest);
	return in->kind;
}

/* "live" and "live:WAY" name no file; ./live does. */
static bool open_names_live(const char *text, const char **way)
{
	size_t len = strlen(source_live.name);

	if (strncmp(text, source_live.name, len) || (text[len] && text[len] != ':'))
		return false;
	*way = text + len + (text[len] == ':');
	return true;
}

/* "qemu:PID" and "kvm:PID" name no file, either. */
static bool open_names_guest(const char *text, struct source_input *in)
{
	in->kind = open_begins_with(text, source_qemu.name, &in->spec.path) ? &source_qemu
		   : open_begins_with(text, source_kvm.name, &in->spec.path) ? &source_kvm
									     : NULL;
	return in->kind;
}

/* Is there a file of the name that ends before `at`? */
static bool open_is_file_before(char *path, char *at)
{
	bool found;

	*at = '\0';
	found = !access(path, F_OK);
	*at = '@';
	return found;
}

/*
 * raw: "PATH@ADDRESS". File names may hold an @ too: what follows the last
 * one is an address if it starts with a digit, or if there is no file of the whole name
 * and it is hexadecimal, or there is one of what stands before it.
 */
static int open_split_load(char *path, struct atw_source_spec *spec, struct atw_err *err)
{
	char *at = strrchr(path, '@');

	if (!at || ((at[1] < '0' || at[1] > '9') &&
		    (!access(path, F_OK) || (!num_hex(at + 1, strlen(at + 1), &spec->load) &&
					     !open_is_file_before(path, at)))))
		return ATW_OK;
	if (!num_hex(at + 1, strlen(at + 1), &spec->load)) {
		atw_err_set(err, ATW_E_USAGE, "'%s' is not an address", at + 1);
		atw_err_hint(err, "a file with @ in its name: raw:%.180s@0", path);
		return ATW_E_USAGE;
	}
	spec->has_load = true;
	*at = '\0';
	return ATW_OK;
}

/* qcow2: "PATH@SNAPSHOT", unless there is a file of the whole name. */
static void open_split_snapshot(char *path, struct atw_source_spec *spec)
{
	char *at = strrchr(path, '@');

	if (!at || !access(path, F_OK))
		return;
	spec->snapshot = at + 1;
	*at = '\0';
}

/*
 * The kind that is surest of these first bytes, before those of plugins; NULL in *ret: it is
 * the other format. False: neither.
 */
static bool open_surest(struct atw_blob head, const char *path,
			const struct source_format *other,
			const struct added_sources *added, const struct atw_source_ops **ret)
{
	int most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int score = kinds[i]->probe ? kinds[i]->probe(head, path) : 0;

		if (score > most) {
			most = score;
			*ret = kinds[i];
		}
	}
	if (other && other->probe(head, path) > most) {
		most = 1;
		*ret = NULL;
	}
	for (size_t i = 0; !most && added && i < added->n; i++)
		if (plugin_source_knows(&added->v[i], head)) {
			most = 1;
			*ret = &added->v[i].ops;
		}
	return most;
}

/* Words that can stand before a colon; probed: of files that are recognised alone. */
static void open_formats(const struct source_format *other, bool probed, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds) && len < size; i++)
		if (!probed || (kinds[i] != &source_raw && kinds[i] != &source_live &&
				kinds[i] != &source_qemu && kinds[i] != &source_kvm))
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
						kinds[i]->name);
	if (other && len < size)
		snprintf(buf + len, size - len, ", %s", other->name);
}

static int open_no_format(const char *name, const struct source_format *other,
			  struct atw_err *err)
{
	char list[200];

	open_formats(other, true, list, sizeof(list));
	atw_err_set(err, ATW_E_FORMAT, "not a known dump format (%s)", list);
	atw_err_hint(err, "for a plain image of RAM say raw:%.180s@ADDRESS",
		     strcmp(name, STDIN_NAME) ? name : "-");
	return ATW_E_FORMAT;
}

/*
 * A pipe can be read once, and a source is read twice: first to detect its format. Its
 * bytes are copied to a file in memory, which has a path; unless the first of them are of
 * no format, because a pipe may never end.
 */
static int open_spool(int fd, bool forced, const struct source_format *other,
		      struct source_input *in, struct atw_err *err)
{
	_auto_fd int mem = memfd_create("atwalk", MFD_CLOEXEC);
	_auto_free char *buf = malloc(HEAD);
	const struct atw_source_ops *kind;
	bool first = true;
	ssize_t n = -1;

	if (!buf)
		return atw_err_nomem(err);
	while (mem >= 0 && (n = io_read(fd, buf, HEAD)) > 0) {
		if (first && !forced && !unpack_name((struct atw_blob){buf, (size_t)n}) &&
		    !open_surest((struct atw_blob){buf, (size_t)n}, in->name, other, in->added,
				 &kind))
			return open_no_format(in->name, other, err);
		first = false;
		if (io_write(mem, buf, (size_t)n) < (size_t)n) {
			n = -1;
			break;
		}
	}
	if (n < 0)
		return atw_err_set(err, ATW_E_IO, "%s", strerror(errno));
	if (first)
		return atw_err_set(err, ATW_E_FORMAT, "is empty");
	in->copy = mem;
	mem = -1;
	return ATW_OK;
}

/* in->copy is a spooled copy if the path is a pipe. */
static int open_spool_pipe(bool forced, const struct source_format *other,
			   struct source_input *in, struct atw_err *err)
{
	bool is_stdin = !strcmp(in->file, "-");
	_auto_fd int fd = -1;
	struct stat st;

	if ((is_stdin ? fstat(0, &st) : stat(in->file, &st)) < 0)
		return ATW_OK;           /* opening it reports why */
	if (!S_ISFIFO(st.st_mode) && !(is_stdin && S_ISSOCK(st.st_mode)))
		return ATW_OK;
	fd = is_stdin ? dup(0) : open(in->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return atw_err_set(err, ATW_E_IO, "%s", strerror(errno));
	return open_spool(fd, forced, other, in, err);
}

/* Is what `head` unpacks to of a known source? Some captures are packed, too. */
static bool open_packed_source(int fd, const char *path, const struct added_sources *added)
{
	_auto_free char *buf = malloc(HEAD);
	const struct atw_source_ops *kind;
	struct unpack *u = NULL;
	size_t len = 0, n = 1;

	if (buf && unpack_open(fd, &u, NULL) == ATW_OK)
		while (n && len < HEAD &&
		       unpack_read(u, buf + len, HEAD - len, &n, NULL) == ATW_OK)
			len += n;
	unpack_close(u);
	return len && open_surest((struct atw_blob){buf, len}, path, NULL, added, &kind);
}

/*
 * A packed file is unpacked into memory, and in->copy is that. It stays as it is if what is
 * in it is of the other format, and its reader unpacks it.
 */
static int open_unpack(bool forced, struct source_input *in, struct atw_err *err)
{
	_auto_fd int fd = open(in->spec.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char head[16];
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	const char *name = n > 0 ? unpack_name((struct atw_blob){head, (size_t)n}) : NULL;
	int copy, r;

	if (!name || (forced && !in->kind))
		return ATW_OK;
	if (!forced && !open_packed_source(fd, in->spec.path, in->added))
		return ATW_OK;
	r = spool_unpacked(fd, 0, &copy, err);
	if (r < 0)
		return r;
	if (in->copy >= 0)
		close(in->copy);
	in->copy = copy;
	return ATW_OK;
}

static void open_use_copy(struct source_input *in)
{
	snprintf(in->copy_path, sizeof(in->copy_path), "/proc/self/fd/%d",
		 in->copy >= 0 ? in->copy : STDIN_FILENO);
	in->spec.path = in->copy_path;
}

static int open_probe_kind(const struct source_format *other,
			   struct source_input *in, struct atw_err *err)
{
	struct file f = { 0 };
	struct atw_blob head;
	bool known;
	int r = file_open(in->spec.path, &f, err);

	if (r < 0)
		return r;
	head = f.map;
	head.len = MIN(head.len, HEAD);
	known = open_surest(head, in->spec.path, other, in->added, &in->kind);
	file_close(&f);
	return known ? ATW_OK : open_no_format(in->name, other, err);
}

/* "core:dump" names a file, but may have been meant to name a format. */
static void open_hint_formats(struct atw_err *err, const char *text,
			      const struct source_format *other)
{
	char list[200];

	if (!err || !strchr(text, ':') || strchr(text, '/'))
		return;
	open_formats(other, false, list, sizeof(list));
	atw_err_hint(err, "formats that can stand before a colon: %s", list);
}

static int open_source_new(const struct atw_source_ops *ops,
			   const struct atw_source_spec *spec,
			   struct atw_source **ret, struct atw_err *err)
{
	struct atw_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return atw_err_nomem(err);
	s->ops = ops;
	r = ops->open(s, spec, err);
	if (r < 0) {
		atw_source_close(s);
		return r;
	}
	*ret = s;
	return ATW_OK;
}

int source_input_failed(const struct source_input *in, int status, struct atw_err *err)
{
	/* What is wrong with a parameter is not the source's fault. */
	if (!err || err->param == ATW_PARAM_NONE)
		atw_err_about(err, in->name);
	return status;
}

bool source_input_is_live(const struct source_input *in)
{
	return in->kind == &source_live;
}

void source_input_close(struct source_input *in)
{
	if (in->copy >= 0)
		close(in->copy);
	free(in->file);
}

/* The format of a file, which need not be opened as one of a source. */
static int open_file(const char *text, const struct source_format *other,
		     struct source_input *in, struct atw_err *err)
{
	const char *rest;
	bool forced = open_is_forced(text, other, in, &rest);
	int r = ATW_OK;

	in->file = strdup(rest);
	if (!in->file)
		return atw_err_nomem(err);
	if (in->kind == &source_raw)
		r = open_split_load(in->file, &in->spec, err);
	else if (in->kind == &source_qcow2)
		open_split_snapshot(in->file, &in->spec);
	if (r < 0)
		return r;
	in->spec.path = in->file;
	in->name = strcmp(in->file, "-") ? in->file : STDIN_NAME;
	r = open_spool_pipe(forced, other, in, err);
	if (r < 0)
		return r;
	if (in->copy >= 0 || !strcmp(in->file, "-"))
		open_use_copy(in);
	r = open_unpack(forced, in, err);
	if (r < 0)
		return r;
	if (in->copy >= 0)
		open_use_copy(in);
	if (forced)
		return ATW_OK;
	r = open_probe_kind(other, in, err);
	if (r == ATW_E_MISSING)
		open_hint_formats(err, text, other);
	return r;
}

static void open_hint_kcore(const struct source_input *in, struct atw_err *err)
{
	if (in->file && !strcmp(in->file, "/proc/kcore"))
		atw_err_hint(err, "live:kcore reads the running kernel through it");
}

static int open_no_layout(const char *text, struct atw_err *err)
{
	return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_LAYOUT,
				 "'%.64s' is not a running guest (qemu:PID, kvm:PID)", text);
}

int source_input_open(const char *text, const struct atw_source_spec *given,
		      const struct source_format *other, const struct added_sources *added,
		      struct source_input *ret, struct atw_err *err)
{
	int r;

	*ret = (struct source_input){ .added = added, .name = text, .copy = -1 };
	if (given)
		ret->spec = *given;
	if (!text || (ret->spec.nparts && !ret->spec.parts))
		return atw_err_set(err, ATW_E_USAGE, "no source is named");
	for (size_t i = 0; i < ret->spec.nparts; i++)
		if (!ret->spec.parts[i])
			return atw_err_set(err, ATW_E_USAGE, "part %zu of the source is not named", i);
	if (open_names_guest(text, ret))
		return ATW_OK;
	if (ret->spec.layout)
		return open_no_layout(text, err);
	if (open_names_live(text, &ret->spec.path)) {
		ret->kind = &source_live;
		ret->name = source_live.name;
		return ATW_OK;
	}
	ret->kind = open_added(ret, text, false, &ret->spec.path);
	if (ret->kind)
		return ATW_OK;
	r = open_file(text, other, ret, err);
	if (r < 0) {
		open_hint_kcore(ret, err);
		source_input_failed(ret, r, err);
		source_input_close(ret);
	}
	return r;
}

int source_open_input(const struct source_input *in, struct atw_source **ret,
		      struct atw_err *err)
{
	int r = open_source_new(in->kind, &in->spec, ret, err);

	if (r < 0)
		open_hint_kcore(in, err);
	return r < 0 ? source_input_failed(in, r, err) : ATW_OK;
}

int atw_source_open(const char *text, const char *const *parts, size_t nparts,
		    struct atw_source **ret, struct atw_err *err)
{
	const struct atw_source_spec given = { .parts = parts, .nparts = nparts };
	struct source_input in;
	int r = source_input_open(text, &given, NULL, NULL, &in, err);

	if (r < 0)
		return r;
	r = source_open_input(&in, ret, err);
	source_input_close(&in);
	return r;
}
