// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open.c - opening of a source by its name: PATH, FORMAT:PATH or raw:PATH@ADDRESS. The
 * kinds of sources are only listed in sources.def.
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
#include "source/kinds.h"

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

/* The kind a text forces, and what of the text is left for it. */
static const struct atw_source_ops *source_open_forced_kind(const char *text,
							    const char **rest)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;

	for (size_t i = 0; colon && i < ARRAY_SIZE(kinds); i++) {
		if (strlen(kinds[i]->name) == len && !memcmp(kinds[i]->name, text, len)) {
			*rest = colon + 1;
			return kinds[i];
		}
	}
	*rest = text;
	return NULL;
}

/* "live" and "live:WAY" name no file; ./live does. */
static bool source_open_names_live(const char *text, const char **way)
{
	size_t len = strlen(source_live.name);

	if (strncmp(text, source_live.name, len) || (text[len] && text[len] != ':'))
		return false;
	*way = text + len + (text[len] == ':');
	return true;
}

/*
 * raw: "PATH@ADDRESS". File names may hold an @ too: what follows the last
 * one is an address if it starts with a digit, or if it is hexadecimal and
 * there is no file of the whole name.
 */
static int source_open_split_load(char *path, struct atw_source_spec *spec,
				  struct atw_err *err)
{
	char *at = strrchr(path, '@');

	if (!at || ((at[1] < '0' || at[1] > '9') &&
		    (!num_hex(at + 1, strlen(at + 1), &spec->load) || !access(path, F_OK))))
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

/* The kind that is surest of these first bytes, or NULL. */
static const struct atw_source_ops *source_open_surest(struct atw_blob head,
						       const char *path)
{
	const struct atw_source_ops *best = NULL;
	int most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		int score = kinds[i]->probe ? kinds[i]->probe(head, path) : 0;

		if (score > most) {
			most = score;
			best = kinds[i];
		}
	}
	return best;
}

static int source_open_no_format(const char *name, struct atw_err *err)
{
	atw_err_set(err, ATW_E_FORMAT,
		    "not a dump format atwalk knows (ELF core, kdump-compressed, LiME, AVML)");
	atw_err_hint(err, "for a plain image of RAM say raw:%.180s@ADDRESS",
		     strcmp(name, STDIN_NAME) ? name : "-");
	return ATW_E_FORMAT;
}

/*
 * A pipe can be read once, and a source is looked at twice: first to see what
 * it is. So its bytes go to a file in memory, which has a name of its own;
 * unless the first of them are of no format, for a pipe may never end.
 */
static int source_open_spool(int fd, const char *name, bool forced, int *ret,
			     struct atw_err *err)
{
	_auto_fd int mem = memfd_create("atwalk", MFD_CLOEXEC);
	_auto_free char *buf = malloc(HEAD);
	bool first = true;
	ssize_t n = -1;

	if (!buf)
		return atw_err_nomem(err);
	while (mem >= 0 && (n = io_read(fd, buf, HEAD)) > 0) {
		if (first && !forced &&
		    !source_open_surest((struct atw_blob){buf, (size_t)n}, name))
			return source_open_no_format(name, err);
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
	*ret = mem;
	mem = -1;
	return ATW_OK;
}

/* A descriptor of a spooled copy if the path is a pipe; -1 if it is not. */
static int source_open_spool_pipe(const char *path, const char *name, bool forced,
				  int *ret, struct atw_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	_auto_fd int fd = -1;
	struct stat st;

	*ret = -1;
	if ((is_stdin ? fstat(0, &st) : stat(path, &st)) < 0)
		return ATW_OK;           /* file_open() will say why */
	if (!S_ISFIFO(st.st_mode) && !(is_stdin && S_ISSOCK(st.st_mode)))
		return ATW_OK;
	fd = is_stdin ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return atw_err_set(err, ATW_E_IO, "%s", strerror(errno));
	return source_open_spool(fd, name, forced, ret, err);
}

/* Ask every kind; the surest one wins. `name` is what the user calls the file. */
static int source_open_probe_kind(const char *path, const char *name,
				  const struct atw_source_ops **ret, struct atw_err *err)
{
	struct file f = { 0 };
	struct atw_blob head;
	int r = file_open(path, &f, err);

	if (r < 0)
		return r;
	head = f.map;
	if (head.len > HEAD)
		head.len = HEAD;
	*ret = source_open_surest(head, path);
	file_close(&f);
	return *ret ? ATW_OK : source_open_no_format(name, err);
}

/* "core:dump" names a file, but may have been meant to name a format. */
static void source_open_hint_formats(struct atw_err *err, const char *text)
{
	char list[128] = "";

	if (!err || !strchr(text, ':') || strchr(text, '/'))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
			 kinds[i]->name);
	}
	atw_err_hint(err, "formats that can stand before a colon: %s", list);
}

static int source_open_source_new(const struct atw_source_ops *ops,
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

/* Every failure names the file, once. */
static int source_open_name_file(struct atw_err *err, int status, const char *name)
{
	atw_err_about(err, name);
	return status;
}

int atw_source_open(const char *text, const char *const *parts, size_t nparts,
		    struct atw_source **ret, struct atw_err *err)
{
	const struct atw_source_ops *ops;
	struct atw_source_spec spec = { .parts = parts, .nparts = nparts };
	const char *rest, *name;
	_auto_free char *path = NULL;
	_auto_fd int pipe_copy = -1;
	char copy_path[32];
	int r = ATW_OK;

	if (!text || (nparts && !parts))
		return atw_err_set(err, ATW_E_USAGE, "no source is named");
	for (size_t i = 0; i < nparts; i++)
		if (!parts[i])
			return atw_err_set(err, ATW_E_USAGE, "part %zu of the source is not named", i);
	if (source_open_names_live(text, &spec.path)) {
		r = source_open_source_new(&source_live, &spec, ret, err);
		return r < 0 ? source_open_name_file(err, r, source_live.name) : ATW_OK;
	}
	ops = source_open_forced_kind(text, &rest);
	path = strdup(rest);
	if (!path)
		return atw_err_nomem(err);
	if (ops == &source_raw)
		r = source_open_split_load(path, &spec, err);
	if (r < 0)
		return source_open_name_file(err, r, text);
	spec.path = path;
	name = strcmp(path, "-") ? path : STDIN_NAME;
	r = source_open_spool_pipe(path, name, ops != NULL, &pipe_copy, err);
	if (r < 0)
		return source_open_name_file(err, r, name);
	if (pipe_copy >= 0 || !strcmp(path, "-")) {
		snprintf(copy_path, sizeof(copy_path), "/proc/self/fd/%d",
			 pipe_copy >= 0 ? pipe_copy : STDIN_FILENO);
		spec.path = copy_path;
	}
	if (!ops) {
		r = source_open_probe_kind(spec.path, name, &ops, err);
		if (r == ATW_E_MISSING)
			source_open_hint_formats(err, text);
	}
	if (r == ATW_OK)
		r = source_open_source_new(ops, &spec, ret, err);
	if (r < 0 && !strcmp(path, "/proc/kcore"))
		atw_err_hint(err, "live:kcore reads the running kernel through it");
	return r < 0 ? source_open_name_file(err, r, name) : ATW_OK;
}
