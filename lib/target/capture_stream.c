/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_stream.c - records of a capture, read line by line. */
#include "target/captured.h"
#include "target/capture_ahead.h"

#include <stdlib.h>
#include <string.h>

/* Is it a capture at all? Its first line says so, and a pipe may never end. */
static int capture_stream_first_line(struct capture_stream *s, struct atw_err *err)
{
	size_t n = 0;
	int r;

	do {
		r = unpack_read(s->in, s->buf + s->have, CAPTURE_LINE - s->have, &n, err);
		s->have += r == ATW_OK ? n : 0;
	} while (r == ATW_OK && n && s->have < CAPTURE_LINE && !memchr(s->buf, '\n', s->have));
	if (capture_probe((struct atw_blob){ s->buf, s->have }))
		return ATW_OK;
	if (r != ATW_OK)
		return r;
	if (!s->have)
		return atw_err_set(err, ATW_E_FORMAT, "is empty");
	return atw_err_set(err, ATW_E_FORMAT, "not a capture: its first line is neither "
			   "\"H: atwalk-capture, 1\" nor a T: line of the paper's form");
}

/* The stream has `in` from now on. */
static int capture_stream_begin(struct unpack *in, struct capture_stream **ret,
				struct atw_err *err)
{
	struct capture_stream *s = malloc(sizeof(*s));
	int r;

	if (!s) {
		unpack_close(in);
		return atw_err_nomem(err);
	}
	memset(s, 0, offsetof(struct capture_stream, buf));
	s->in = in;
	s->text = s->buf;
	capture_init(&s->rd);
	r = capture_stream_first_line(s, err);
	if (r != ATW_OK) {
		capture_stream_close(s);
		return r;
	}
	*ret = s;
	return ATW_OK;
}

int capture_stream_open(int fd, struct capture_stream **ret, struct atw_err *err)
{
	struct unpack *in = NULL;
	int r = unpack_open(fd, &in, err);

	return r == ATW_OK ? capture_stream_begin(in, ret, err) : r;
}

int capture_stream_open_path(const char *path, struct capture_stream **ret, struct atw_err *err)
{
	struct unpack *in = NULL;
	int r = unpack_open_path(path, &in, err);

	return r == ATW_OK ? capture_stream_begin(in, ret, err) : r;
}

/* More of the file, behind what was not used yet. */
static int capture_stream_more(struct capture_stream *s)
{
	size_t n = 0;
	int r;

	if (s->ahead)
		return capture_ahead_more(s->ahead, s);
	s->have -= s->pos;
	memmove(s->buf, s->buf + s->pos, s->have);
	s->base += s->pos;
	s->pos = 0;
	r = unpack_read(s->in, s->buf + s->have, sizeof(s->buf) - s->have, &n, &s->e);
	s->have += r == ATW_OK ? n : 0;
	/* Of what is damaged all before is whole. */
	s->last = r == ATW_E_DAMAGED || (r == ATW_OK && !n);
	s->fatal = r != ATW_OK && r != ATW_E_DAMAGED;
	return r;
}

int capture_stream_next(struct capture_stream *s, struct capture_record *ret)
{
	int r;

	s->of_line = s->fatal = false;
	for (;;) {
		s->mark = (struct capture_mark){
			s->base + s->pos, s->rd.line, s->rd.mapped, s->rd.tasks, s->rd.skip,
		};
		r = capture_next(&s->rd, (struct atw_blob){ s->text, s->have }, s->last, &s->pos,
				 ret, s->terse ? NULL : &s->e);
		if (r != ATW_END) {
			s->of_line = r != ATW_OK;
			/* Of another version no line means what we think. */
			s->fatal = r == ATW_E_UNSUPPORTED;
			return r;
		}
		if (s->last)
			break;
		r = capture_stream_more(s);
		if (r != ATW_OK)
			return r;
	}
	if (s->over)
		return ATW_END;
	s->over = true;
	return capture_finish(&s->rd, &s->e) == ATW_OK ? ATW_END : s->e.status;
}

void capture_stream_threads(struct capture_stream *s, unsigned n)
{
	if (n && !s->ahead)
		s->ahead = capture_ahead_open(s, n);
}

int capture_stream_seek(struct capture_stream *s, const struct capture_mark *to,
			struct atw_err *err)
{
	struct capture_reader *rd = &s->rd;
	int r;

	/* What is in the buffer needs not to be read again. */
	if (to->at >= s->base && to->at - s->base <= s->have) {
		s->pos = to->at - s->base;
	} else {
		r = unpack_seek(s->in, to->at, err);
		if (r != ATW_OK)
			return r;
		s->base = to->at;
		s->pos = s->have = 0;
		s->last = false;
	}
	s->over = false;
	rd->line = to->line;
	rd->mapped = to->mapped;
	rd->tasks = to->tasks;
	rd->skip = to->skip;
	rd->ended = rd->wrapped = rd->frames = false;
	rd->in_task = rd->in_area = false;
	return ATW_OK;
}

void capture_stream_close(struct capture_stream *s)
{
	if (!s)
		return;
	capture_ahead_close(s->ahead);
	unpack_close(s->in);
	free(s);
}
