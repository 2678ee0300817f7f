/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_stream.h - lines of a text that arrives in pieces, in memory that does not grow.
 *
 * Lines end with a line feed, which is not part of them; the last one may lack it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <atwalk/base.h>

/* Bytes of the longest line of which all bytes are returned. */
enum { LINE_STREAM_ROOM = 1 << 18 };

/* Reads up to `len` bytes, as soon as some are available; *ret = 0: end of the text. */
typedef int line_stream_read(void *arg, void *buf, size_t len, size_t *ret,
			     struct atw_err *err);

struct line_stream {
	line_stream_read *read;
	void *arg;
	char *buf;
	size_t at, len;          /* what was read and not returned: [at, len) */
	bool ended;              /* there is no more to read */
};

int line_stream_init(struct line_stream *ret, line_stream_read *read, void *arg,
		     struct atw_err *err);
/* A zeroed struct is accepted. */
void line_stream_deinit(struct line_stream *s);
/*
 * The next `max` lines, or as many as fit, without taking them. No line, and s->len is
 * not 0: the next line is longer than LINE_STREAM_ROOM.
 */
int line_stream_ahead(struct line_stream *s, struct atw_blob *line, size_t max, size_t *ret,
		      struct atw_err *err);
/*
 * The next line, valid until the next call. ATW_END behind the last one. Of a line
 * longer than LINE_STREAM_ROOM only the length is valid.
 */
int line_stream_next(struct line_stream *s, struct atw_blob *ret, struct atw_err *err);
