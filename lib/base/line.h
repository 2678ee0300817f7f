/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line.h - a line of text built in memory of the caller. If it does not fit, `full` is
 * set, which is checked once at the end. Pure; inline, because captures and KMAPs have
 * hundreds of millions of lines.
 */
#ifndef BASE_LINE_H
#define BASE_LINE_H

#include "base/digits.h"

struct line {
	char *s, *end;           /* next byte; end of the caller's buffer */
	bool full;
};

static inline void line_put(struct line *l, const void *data, size_t len)
{
	if (l->full || len > (size_t)(l->end - l->s)) {
		l->full = true;
		return;
	}
	if (len)
		memcpy(l->s, data, len);
	l->s += len;
}

static inline void line_text(struct line *l, const char *s)
{
	line_put(l, s, strlen(s));
}

static inline void line_dec(struct line *l, uint64_t v)
{
	char tmp[20], *s = tmp + sizeof(tmp);

	do {
		*--s = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	line_put(l, s, (size_t)(tmp + sizeof(tmp) - s));
}

static inline void line_signed(struct line *l, int64_t v)
{
	if (v < 0)
		line_text(l, "-");
	line_dec(l, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* At least `width` digits, 1 to 16; `ten`: 'a' or 'A'. */
static inline void line_hex(struct line *l, uint64_t v, int width, char ten)
{
	uint64_t high = hex8_text((uint32_t)(v >> 32), ten), low = hex8_text((uint32_t)v, ten);
	int n = v ? (67 - __builtin_clzll(v)) / 4 : 1;
	char tmp[16], *to = l->end - l->s >= 16 && !l->full ? l->s : tmp;

	n = n < width ? width : n;
	if (n > 8) {
		high >>= 8 * (16 - n);
		memcpy(to, &high, 8);
		memcpy(to + n - 8, &low, 8);
	} else {
		low >>= 8 * (8 - n);
		memcpy(to, &low, 8);
	}
	/* Convert in place if the bytes behind the number may be overwritten. */
	if (to == tmp)
		line_put(l, tmp, (size_t)n);
	else
		l->s += n;
}

#endif
