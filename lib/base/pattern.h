/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pattern.h - search of memory for bytes, and for words that have a value or lie in a
 * range. Pure. Words are little-endian and lie at multiples of their width.
 */
#pragma once

#include <atwalk/base.h>

enum { PATTERN_MOST = 256 };     /* bytes of a pattern */

enum pattern_kind { PATTERN_BYTES, PATTERN_WORDS };

struct pattern {
	enum pattern_kind kind;
	unsigned len;            /* bytes of a match: of all of them, or of a word: 1, 2, 4, 8 */
	/* PATTERN_BYTES: a byte matches if it has these values where `mask` has ones. */
	uint8_t byte[PATTERN_MOST], mask[PATTERN_MOST];
	unsigned anchor[2];      /* the bytes that are compared first */
	/* PATTERN_WORDS: (word & bits) - lo <= span. */
	uint64_t bits, lo, span;
};

/* "7f454c46", "7f 45 ?? 46": hexadecimal digits, `?` for any. */
int pattern_hex(struct pattern *ret, const char *text, struct atw_err *err);
/* The bytes of a text; `fold`: letters of ASCII match in either case. */
int pattern_text(struct pattern *ret, const char *text, bool fold, struct atw_err *err);
/* "VALUE" or "VALUE/MASK", hexadecimal; `width` bytes, 1, 2, 4 or 8. */
int pattern_word(struct pattern *ret, const char *text, unsigned width, struct atw_err *err);
/* Words of `width` bytes that lie in first..last. */
void pattern_range(struct pattern *ret, uint64_t first, uint64_t last, unsigned width);

/*
 * The first match that begins at data[from] or behind it and ends within data[len];
 * SIZE_MAX: there is none. data[0] lies at the address `at`.
 */
size_t pattern_find(const struct pattern *p, uint64_t at, const void *data, size_t len,
		    size_t from);
/* Do zeroes match? */
bool pattern_is_zero(const struct pattern *p);
