/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer.h - output buffer of a file descriptor.
 *
 * Sinks format into one large buffer. Only complete rows are flushed, so that a failure
 * in the middle of a row is not visible. An error is remembered; after it, output is
 * discarded, and one check per row is enough.
 */
#pragma once

#include <string.h>

#include "base/buf.h"

#define WRITER_ROOM 4096         /* maximum of a single reservation */

struct writer {
	int fd;                  /* borrowed */
	char *buf;
	size_t len, cap;
	size_t whole;            /* bytes of complete rows */
	bool (*send)(void *arg, const char *data, size_t len);   /* instead of fd; or NULL */
	void *arg;
	bool prompt;             /* interactive: each row is flushed at once */
	int error;               /* an errno, or 0 */
};

int writer_init(struct writer *w, int fd, struct atw_err *err);
/* What is full goes to a function, which returns false if it failed; then w->error is set. */
int writer_init_fn(struct writer *w, bool (*send)(void *arg, const char *data, size_t len),
		   void *arg, struct atw_err *err);
void writer_deinit(struct writer *w);

/* Make room for n more bytes; false if they never fit at once. */
bool writer_grow(struct writer *w, size_t n);
/* Write all bytes. false: see `error`. */
bool writer_flush(struct writer *w);
void writer_put(struct writer *w, const void *data, size_t len);
/* Complete rows that another buffer has: many are not copied. */
void writer_pass(struct writer *w, const void *data, size_t len);
/* The contents of the buffer; one without memory is an error of the output. */
void writer_buf(struct writer *w, const struct buf *b);
void writer_check(struct writer *w, const struct buf *b);
/* The reason of `error`; `name`: of the output. */
int writer_failed(const struct writer *w, const char *name, struct atw_err *err);

/* Reserve the next n bytes, n <= WRITER_ROOM; then call writer_advance(). */
static inline char *writer_room(struct writer *w, size_t n)
{
	if (w->cap - w->len < n)
		writer_grow(w, n);
	return w->buf + w->len;
}

static inline void writer_advance(struct writer *w, const char *end)
{
	w->len = (size_t)(end - w->buf);
}

static inline void writer_char(struct writer *w, char c)
{
	*writer_room(w, 1) = c;
	w->len++;
}

static inline void writer_str(struct writer *w, const char *s)
{
	writer_put(w, s, strlen(s));
}

static inline void writer_row_end(struct writer *w)
{
	w->whole = w->len;
	if (w->prompt)
		writer_flush(w);
}
