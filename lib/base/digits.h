/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * digits.h - fast conversion between text and numbers, for files with very many of them.
 *
 * Readers stop behind the last digit that they accept; they return false if there is
 * none. Pure.
 */
#pragma once

#include "base/bytes.h"

/* The value of a hexadecimal digit; 0xff: it is none. */
static const uint8_t scan_digit[256] = {
#define X 0xff
#define NONE16 X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X
	NONE16, NONE16, NONE16,
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, X, X, X, X, X, X,
	X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X, NONE16,
	X, 10, 11, 12, 13, 14, 15, X, X, X, X, X, X, X, X, X, NONE16,
	NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16, NONE16,
#undef NONE16
#undef X
};

/* At most 16 digits are read. */
static inline bool scan_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *s = *at, *max = end - s > 16 ? s + 16 : end;
	uint64_t v = 0;

	for (; s < max; s++) {
		uint8_t d = scan_digit[(uint8_t)*s];

		if (d > 15)
			break;
		v = v << 4 | d;
	}
	*ret = v;
	max = *at;
	*at = s;
	return s > max;
}

/* Eight hexadecimal digits at once. */
static inline bool scan_hex8(const char *s, uint64_t *ret)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t x = get_le64(s), low = x | 0x20 * ones, is;

	/* Bit 7 of each byte: at least '0', less than ':'; at least 'a', less than 'g'. */
	is = (x + 0x50 * ones) & ~(x + 0x46 * ones);
	is |= (low + 0x1f * ones) & ~(low + 0x19 * ones);
	if ((x & 0x80 * ones) | (~is & 0x80 * ones))
		return false;
	x = (x & 0x0f * ones) + (x >> 6 & ones) * 9;
	x = (x << 4 | x >> 8) & 0x00ff00ff00ff00ff;
	x = (x << 8 | x >> 16) & 0x0000ffff0000ffff;
	*ret = (x << 16 | x >> 32) & 0xffffffff;
	return true;
}

/* At most 19 digits are read: these are less than 2^64. */
static inline bool scan_dec(const char **at, const char *end, uint64_t *ret)
{
	const char *s = *at, *max = end - s > 19 ? s + 19 : end;
	uint64_t v = 0;

	for (; s < max; s++) {
		unsigned d = (uint8_t)*s - (unsigned)'0';

		if (d > 9)
			break;
		v = v * 10 + d;
	}
	*ret = v;
	max = *at;
	*at = s;
	return s > max;
}

/*
 * Eight hexadecimal digits at once, the first one in the lowest byte: each nibble is
 * expanded to a byte. `ten`: 'a' or 'A'.
 */
static inline uint64_t hex8_text(uint32_t v, char ten)
{
	uint64_t x = v, over9;

	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
	over9 = (x + 0x0606060606060606) >> 4 & 0x0101010101010101;
	x += 0x3030303030303030 + over9 * (uint64_t)(ten - '0' - 10);
	return __builtin_bswap64(x);
}

static inline char *put_hex8(char *p, uint32_t v)
{
	uint64_t x = hex8_text(v, 'a');

	memcpy(p, &x, 8);
	return p + 8;
}

/*
 * At least `width` digits, 1 to 16; `ten`: 'a' or 'A'. There is room for 16 bytes, any of
 * which may be overwritten. Returns the end of the number.
 */
static inline char *put_hex_digits(char *p, uint64_t v, int width, char ten)
{
	uint64_t high, low = hex8_text((uint32_t)v, ten);
	int n = (63 - __builtin_clzll(v | 1)) / 4 + 1;

	n = n < width ? width : n;
	if (n > 8) {
		high = hex8_text((uint32_t)(v >> 32), ten) >> 8 * (16 - n);
		memcpy(p, &high, 8);
		memcpy(p + n - 8, &low, 8);
	} else {
		low >>= 8 * (8 - n);
		memcpy(p, &low, 8);
	}
	return p + n;
}

enum { DEC_MAX = 20 };
/* Returns the end of the number, which has no more than DEC_MAX digits. */
char *put_dec(char *p, uint64_t v);
/* The number of characters that put_dec() writes. */
unsigned dec_digits(uint64_t v);

/* ---- line ---- */

/*
 * A line of text built in memory of the caller. If it does not fit, `full` is
 * set, which is checked once at the end. Pure; inline, because captures and KMAPs have
 * hundreds of millions of lines.
 */

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
	char tmp[DEC_MAX];

	if (!l->full && l->end - l->s >= DEC_MAX)
		l->s = put_dec(l->s, v);
	else
		line_put(l, tmp, (size_t)(put_dec(tmp, v) - tmp));
}

static inline void line_signed(struct line *l, int64_t v)
{
	if (v < 0)
		line_text(l, "-");
	line_dec(l, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* As put_hex_digits(): the bytes behind the number may be overwritten. */
static inline void line_hex(struct line *l, uint64_t v, int width, char ten)
{
	char tmp[16];

	if (!l->full && l->end - l->s >= 16)
		l->s = put_hex_digits(l->s, v, width, ten);
	else
		line_put(l, tmp, (size_t)(put_hex_digits(tmp, v, width, ten) - tmp));
}
