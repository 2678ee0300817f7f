/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_stream.c - lines of a text that arrives in pieces. */
#include "base/line_stream.h"

#include <stdlib.h>
#include <string.h>

int line_stream_init(struct line_stream *ret, line_stream_read *read, void *arg,
		     struct atw_err *err)
{
	char *buf = malloc(LINE_STREAM_ROOM);

	if (!buf)
		return atw_err_nomem(err);
	*ret = (struct line_stream){ .read = read, .arg = arg, .buf = buf };
	return ATW_OK;
}

void line_stream_deinit(struct line_stream *s)
{
	free(s->buf);
	*s = (struct line_stream){ .buf = NULL };
}

/* Reads behind what is left. */
static int line_stream_fill(struct line_stream *s, struct atw_err *err)
{
	size_t n = 0;
	int r;

	if (s->at) {
		memmove(s->buf, s->buf + s->at, s->len - s->at);
		s->len -= s->at;
		s->at = 0;
	}
	r = s->read(s->arg, s->buf + s->len, LINE_STREAM_ROOM - s->len, &n, err);
	if (r < 0)
		return r;
	s->len += n;
	s->ended = !n;
	return ATW_OK;
}

static size_t line_stream_split(const struct line_stream *s, struct atw_blob *line, size_t max)
{
	const char *at = s->buf + s->at, *end = s->buf + s->len, *stop;
	size_t n = 0;

	for (; n < max && at < end; at = stop < end ? stop + 1 : end) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop && !s->ended)
			break;
		stop = stop ? stop : end;
		line[n++] = (struct atw_blob){ at, (size_t)(stop - at) };
	}
	return n;
}

int line_stream_ahead(struct line_stream *s, struct atw_blob *line, size_t max, size_t *ret,
		      struct atw_err *err)
{
	size_t n = line_stream_split(s, line, max);

	while (n < max && !s->ended && s->len - s->at < LINE_STREAM_ROOM) {
		int r = line_stream_fill(s, err);

		if (r < 0)
			return r;
		n = line_stream_split(s, line, max);
	}
	*ret = n;
	return ATW_OK;
}

/* A line does not fit: its bytes are skipped, and counted. */
static int line_stream_long(struct line_stream *s, struct atw_blob *ret, struct atw_err *err)
{
	const char *end = NULL;
	size_t len = s->len - s->at;

	while (!end && !s->ended) {
		int r;

		s->at = s->len = 0;
		r = line_stream_fill(s, err);
		if (r < 0)
			return r;
		end = memchr(s->buf, '\n', s->len);
		s->at = end ? (size_t)(end - s->buf) : s->len;
		len += s->at;
	}
	s->at += end != NULL;
	*ret = (struct atw_blob){ s->buf, len };
	return ATW_OK;
}

int line_stream_next(struct line_stream *s, struct atw_blob *ret, struct atw_err *err)
{
	for (;;) {
		const char *from = s->buf + s->at;
		size_t left = s->len - s->at;
		const char *end = memchr(from, '\n', left);
		int r;

		if (end || (left && s->ended)) {
			*ret = (struct atw_blob){ from, end ? (size_t)(end - from) : left };
			s->at += ret->len + (end != NULL);
			return ATW_OK;
		}
		if (s->ended)
			return ATW_END;
		if (left == LINE_STREAM_ROOM)
			return line_stream_long(s, ret, err);
		r = line_stream_fill(s, err);
		if (r < 0)
			return r;
	}
}
