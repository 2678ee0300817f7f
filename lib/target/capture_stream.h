/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_stream.h - the lines of a capture, one after the other, from a file or a
 * pipe, packed by zstd or not; and of a file once more from a place in it.
 */
#ifndef TARGET_CAPTURE_STREAM_H
#define TARGET_CAPTURE_STREAM_H

#include "base/unpack.h"
#include "format/capture.h"

enum {
	CAPTURE_PIECE = 256 << 10,   /* what is read at once stays in the cache */
	CAPTURE_FAULTS = 1 << 20,    /* lines or runs: of what has so many that are wrong, nothing
					more is to be read */
};

/* Where a line is, and what of those before it matters to those behind. */
struct capture_mark {
	uint64_t at;                 /* bytes before it, unpacked */
	uint64_t line;               /* lines before it */
	uint64_t mapped;             /* bytes of the areas before it */
	uint64_t tasks;              /* and how many of these */
	bool skip;                   /* behind the rest of a line that was too long */
};

struct capture_stream {
	struct unpack *in;
	struct capture_reader rd;
	struct capture_mark mark;    /* of the last line that was asked for */
	/* Of the last failure: is it one of a line alone, and is it the end of all? */
	bool of_line, fatal;
	bool terse;                  /* set by the caller: no messages about lines */
	bool last, over;
	struct atw_err e;            /* what the last failure was */
	uint64_t base;               /* bytes before buf[] */
	size_t pos, have;
	char buf[CAPTURE_LINE + CAPTURE_PIECE];
};

/* `fd` stays the caller's. ATW_E_FORMAT: its first line is none of a capture. */
int capture_stream_open(int fd, struct capture_stream **ret, struct atw_err *err);
/* Of a file, or of standard input if it is "-"; the caller adds the name to an error. */
int capture_stream_open_path(const char *path, struct capture_stream **ret, struct atw_err *err);
/*
 * The next record, valid until the next call. An error is described by s->e and its line
 * is skipped: nothing more can be read only if s->fatal is set. Errors of the capture as
 * a whole come last; then ATW_END.
 */
int capture_stream_next(struct capture_stream *s, struct capture_record *ret);
/* The line of that mark is the next, a T: line; the first one has been reached before. */
int capture_stream_seek(struct capture_stream *s, const struct capture_mark *to,
			struct atw_err *err);
/* NULL is fine. */
void capture_stream_close(struct capture_stream *s);

#endif
