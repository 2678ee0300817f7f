/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buf.c - growing byte buffers and arrays. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool array_reserve(void **array, size_t *cap, size_t need, size_t elem)
{
	size_t want = *cap ? *cap : 16, bytes;
	void *p;

	if (need <= *cap)
		return true;
	while (want < need)
		if (__builtin_mul_overflow(want, (size_t)2, &want))
			return false;
	if (__builtin_mul_overflow(want, elem, &bytes))
		return false;
	p = realloc(*array, bytes);
	if (!p)
		return false;
	*array = p;
	*cap = want;
	return true;
}

void buf_deinit(struct buf *b)
{
	free(b->data);
	*b = (struct buf){ 0 };
}

static bool buf_room(struct buf *b, size_t more)
{
	size_t need;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len, more, &need) ||
	    __builtin_add_overflow(need, (size_t)1, &need) ||
	    !array_reserve((void **)&b->data, &b->cap, need, 1)) {
		b->failed = true;
		return false;
	}
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!buf_room(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

size_t buf_keep(struct buf *b, const void *data, size_t len)
{
	size_t at = b->len;

	buf_add(b, data, len);
	buf_char(b, '\0');
	return at;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n >= 0 && buf_room(b, (size_t)n)) {
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}
