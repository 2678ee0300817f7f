/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer.h - bytes on their way to a file descriptor.
 *
 * One big buffer that sinks fill in place. What leaves it are whole rows, so
 * that a failure half way through one does not show. An error is remembered;
 * from then on bytes are taken and dropped, and one check a row is enough.
 */
#ifndef OUTPUT_WRITER_H
#define OUTPUT_WRITER_H

#include <string.h>

#include <atwalk/base.h>

#define WRITER_ROOM 4096         /* most that can be asked for at once */

struct writer {
	int fd;                  /* borrowed */
	char *buf;
	size_t len, cap;
	size_t whole;            /* bytes up to the end of the last row */
	bool prompt;             /* interactive: each row is flushed at once */
	int error;               /* an errno, or 0 */
};

int writer_init(struct writer *w, int fd, struct atw_err *err);
void writer_deinit(struct writer *w);

/* Make room for n more bytes; false when they never fit at once. */
bool writer_grow(struct writer *w, size_t n);
/* Everything goes out. false: an error, see there. */
bool writer_flush(struct writer *w);
void writer_put(struct writer *w, const void *data, size_t len);

/* Where the next n bytes belong, n <= WRITER_ROOM; then writer_advance(). */
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

static inline void writer_row_end(struct writer *w)
{
	w->whole = w->len;
	if (w->prompt)
		writer_flush(w);
}

#endif
