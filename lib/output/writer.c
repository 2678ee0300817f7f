/* SPDX-License-Identifier: GPL-2.0-or-later */
/* writer.c - buffered output of rows. */
#include "output/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"

/* Larger buffers exceed the cache and are slower. */
#define WRITER_CAP ((size_t)256 << 10)

int writer_init_fn(struct writer *w, bool (*send)(void *arg, const char *data, size_t len),
		   void *arg, struct atw_err *err)
{
	*w = (struct writer){ .fd = -1, .send = send, .arg = arg, .buf = malloc(WRITER_CAP) };
	if (!w->buf)
		return atw_err_nomem(err);
	w->cap = WRITER_CAP;
	return ATW_OK;
}

int writer_init(struct writer *w, int fd, struct atw_err *err)
{
	int r = writer_init_fn(w, NULL, NULL, err);

	w->fd = fd;
	w->prompt = r == ATW_OK && isatty(fd);
	return r;
}

void writer_deinit(struct writer *w)
{
	free(w->buf);
	*w = (struct writer){ .fd = -1 };
}

static void writer_send_all(struct writer *w, const char *p, size_t n)
{
	if (w->send) {
		if (!w->error && !w->send(w->arg, p, n))
			w->error = EIO;
		return;
	}
	if (!w->error && io_write(w->fd, p, n) < n)
		w->error = errno;
}

bool writer_flush(struct writer *w)
{
	writer_send_all(w, w->buf, w->len);
	w->len = 0;
	w->whole = 0;
	return !w->error;
}

bool writer_grow(struct writer *w, size_t n)
{
	if (w->whole) {
		writer_send_all(w, w->buf, w->whole);
		w->len -= w->whole;
		memmove(w->buf, w->buf + w->whole, w->len);
		w->whole = 0;
	}
	/* A row longer than the buffer is split. */
	if (w->cap - w->len < n)
		writer_flush(w);
	return w->cap - w->len >= n;
}

void writer_put(struct writer *w, const void *data, size_t len)
{
	if (w->cap - w->len < len && !writer_grow(w, len)) {
		/* Longer than the whole buffer, which is empty here. */
		writer_send_all(w, data, len);
		return;
	}
	if (len)
		memcpy(w->buf + w->len, data, len);
	w->len += len;
}

void writer_pass(struct writer *w, const void *data, size_t len)
{
	if (len < WRITER_CAP / 4) {
		writer_put(w, data, len);
		writer_row_end(w);
		return;
	}
	writer_flush(w);
	writer_send_all(w, data, len);
}

void writer_check(struct writer *w, const struct buf *b)
{
	if (b->failed && !w->error)
		w->error = ENOMEM;
}

void writer_buf(struct writer *w, const struct buf *b)
{
	writer_check(w, b);
	writer_put(w, b->data, b->len);
}

int writer_failed(const struct writer *w, const char *name, struct atw_err *err)
{
	errno = w->error;
	return atw_err_set(err, errno == ENOMEM ? ATW_E_NOMEM : ATW_E_IO, "%s: cannot write: %m",
			   name);
}
