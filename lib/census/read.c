/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.c - a capture's text as a stream of records, from a file or a pipe. */
#include "census/census.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/unpack.h"

enum {
	PIECE = 256 << 10,           /* what is read at once stays in the cache */
	FAULTS = 20,                 /* so many are told one by one */
};

struct reading {
	const char *name;            /* of the file, for people */
	const struct census_read_opts *o;
	const struct census_sink *to;
	uint64_t faults;
	bool theirs;                 /* what failed is not the file */
	struct atw_err e;            /* of the last fault */
	struct capture_reader rd;
	char buf[CAPTURE_LINE + PIECE];
};

/* Where the sentence of the next fault goes: nobody reads the thousandth. */
static struct atw_err *place(struct reading *x)
{
	return x->faults < FAULTS ? &x->e : NULL;
}

static int failed(const struct reading *x, struct atw_err *err)
{
	return atw_err_set(err, x->e.status, "%s", x->e.text);
}

/* Tells of it and goes on; with nobody to tell it is a failure. */
static int tell(struct reading *x, struct atw_err *err)
{
	if (!x->o || !x->o->damaged)
		return failed(x, err);
	atw_err_wrap(&x->e, "%s", x->name);
	x->o->damaged(x->o->arg, &x->e);
	return ATW_OK;
}

/* Of a line or a run. */
static int fault(struct reading *x, struct atw_err *err)
{
	return x->faults++ < FAULTS ? tell(x, err) : ATW_OK;
}

/* What the sink answered. */
static int told(struct reading *x, int r)
{
	x->theirs = r != ATW_OK;
	return r;
}

static int runs(struct reading *x, struct atw_blob text, struct atw_err *err)
{
	struct capture_run run;
	int r;

	while ((r = capture_run(&x->rd, &text, &run, place(x))) != ATW_END) {
		r = r == ATW_OK ? told(x, x->to->run(x->to->arg, &run, err)) : fault(x, err);
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

static int frames(struct reading *x, struct atw_blob text, struct atw_err *err)
{
	struct capture_frames run;
	int r;

	while ((r = capture_frames_run(&x->rd, &text, &run, place(x))) != ATW_END) {
		r = r == ATW_OK ? told(x, x->to->frames(x->to->arg, &run, err))
				: fault(x, err);
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

/* All whole lines of a buffer; *pos moves behind them. */
static int lines(struct reading *x, struct atw_blob buf, bool last, size_t *pos,
		 struct atw_err *err)
{
	struct capture_record rec;
	int r;

	while ((r = capture_next(&x->rd, buf, last, pos, &rec, place(x))) != ATW_END) {
		/* Of another version no line means what we think. */
		if (r == ATW_E_UNSUPPORTED)
			return failed(x, err);
		if (r != ATW_OK)
			r = fault(x, err);
		else if (rec.letter == 'M')
			r = runs(x, rec.m, err);
		else if (rec.letter == 'F')
			r = frames(x, rec.f, err);
		else
			r = told(x, x->to->record(x->to->arg, &rec, err));
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

/* Is it a capture at all? Its first line says so, and a pipe may never end. */
static int first_line(struct reading *x, struct unpack *u, size_t *have, struct atw_err *err)
{
	size_t len = 0, n = 0;
	int r;

	do {
		r = unpack_read(u, x->buf + len, CAPTURE_LINE - len, &n, &x->e);
		len += r == ATW_OK ? n : 0;
	} while (r == ATW_OK && n && len < CAPTURE_LINE && !memchr(x->buf, '\n', len));
	*have = len;
	if (capture_probe((struct atw_blob){ x->buf, len }))
		return ATW_OK;
	if (r != ATW_OK)
		return failed(x, err);
	if (!len)
		return atw_err_set(err, ATW_E_FORMAT, "is empty");
	return atw_err_set(err, ATW_E_FORMAT, "not a capture: its first line is neither "
			   "\"H: atwalk-capture, 1\" nor a T: line of the paper's form");
}

static int all(struct reading *x, struct unpack *u, struct atw_err *err)
{
	size_t have = 0, n, pos;
	bool last = false;
	int r = first_line(x, u, &have, err);

	capture_init(&x->rd);
	while (r == ATW_OK) {
		pos = 0;
		r = lines(x, (struct atw_blob){ x->buf, have }, last, &pos, err);
		if (r != ATW_OK || last)
			break;
		have -= pos;
		memmove(x->buf, x->buf + pos, have);
		r = unpack_read(u, x->buf + have, sizeof(x->buf) - have, &n, &x->e);
		if (r == ATW_OK) {
			have += n;
			last = !n;
		} else if (r == ATW_E_DAMAGED) {
			r = tell(x, err);
			last = true;
		} else {
			r = failed(x, err);
		}
	}
	if (r == ATW_OK && x->faults > FAULTS) {
		atw_err_set(&x->e, ATW_E_DAMAGED, "%" PRIu64 " more lines or runs are wrong",
			    x->faults - FAULTS);
		r = tell(x, err);
	}
	if (r == ATW_OK && capture_finish(&x->rd, &x->e) != ATW_OK)
		r = tell(x, err);
	return r;
}

static int open_path(const char *path, struct atw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int status = errno == ENOENT ? ATW_E_MISSING : errno == EACCES || errno == EPERM ?
		     ATW_E_PERM : ATW_E_IO;

	return fd >= 0 ? fd : atw_err_set(err, status, "%m");
}

int census_read(const char *path, const struct census_read_opts *o,
		const struct census_sink *to, struct atw_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "standard input" : path;
	_auto_fd int fd = is_stdin ? -1 : open_path(path, err);
	_auto_free struct reading *x = NULL;
	struct unpack *u = NULL;
	struct stat st;
	int r;

	if (!is_stdin && fd < 0)
		return atw_err_wrap(err, "%s", name), fd;
	x = malloc(sizeof(*x));
	if (!x)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	x->name = name;
	x->o = o;
	x->to = to;
	x->faults = 0;
	x->theirs = false;
	x->e = (struct atw_err){ 0 };
	if (!fstat(is_stdin ? 0 : fd, &st) && S_ISDIR(st.st_mode))
		r = atw_err_set(err, ATW_E_FORMAT, "is a directory");
	else
		r = unpack_open(is_stdin ? 0 : fd, &u, err);
	if (r == ATW_OK)
		r = all(x, u, err);
	unpack_close(u);
	/* A failure to write is not about what is read. */
	if (r < 0 && !x->theirs)
		atw_err_wrap(err, "%s", name);
	return r;
}
