/* SPDX-License-Identifier: GPL-2.0-or-later */
/* words.h - words and numbers of one line, for the parsers of this folder. Pure. */
#pragma once

#include <string.h>

#include "base/num.h"
#include "trace/formats.h"

static inline bool words_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The next word; empty at the end. *p is advanced behind it. */
static inline struct atw_blob words_next(const char **p, const char *end)
{
	const char *from;

	while (*p < end && words_blank(**p))
		++*p;
	from = *p;
	while (*p < end && !words_blank(**p))
		++*p;
	return (struct atw_blob){ from, (size_t)(*p - from) };
}

/* Without blanks at both ends. */
static inline struct atw_blob words_trim(struct atw_blob b)
{
	const char *s = b.data;

	while (b.len && (words_blank(s[b.len - 1]) || s[b.len - 1] == '\r'))
		b.len--;
	while (b.len && words_blank(*s)) {
		s++;
		b.len--;
	}
	return (struct atw_blob){ s, b.len };
}

static inline bool words_is(struct atw_blob b, const char *s)
{
	return b.len == strlen(s) && !memcmp(b.data, s, b.len);
}

static inline bool words_begins(struct atw_blob b, const char *s)
{
	return b.len >= strlen(s) && !memcmp(b.data, s, strlen(s));
}

/* Where the text occurs first; NULL: nowhere. */
static inline const char *words_find(struct atw_blob b, const char *s)
{
	return b.len ? memmem(b.data, b.len, s, strlen(s)) : NULL;
}

/* Only digits, and at least one. */
static inline bool words_digits(struct atw_blob b)
{
	const char *s = b.data;

	for (size_t i = 0; i < b.len; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return b.len > 0;
}

/* Only digits of lower-case hexadecimal numbers, without 0x, and at least one. */
static inline bool words_hex(struct atw_blob b)
{
	const char *s = b.data;

	for (size_t i = 0; i < b.len; i++)
		if ((s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f'))
			return false;
	return b.len > 0;
}

/* "line N: 'TEXT' is not WHAT". Returns ATW_E_FORMAT. */
int words_bad(const struct trace_parser *p, struct atw_blob text, const char *what,
	      struct atw_err *err);
/* Numbers of the line. ATW_E_FORMAT: see words_bad(). */
int words_to_hex(const struct trace_parser *p, struct atw_blob text, const char *what,
		 uint64_t *ret, struct atw_err *err);
int words_to_u32(const struct trace_parser *p, struct atw_blob text, const char *what,
		 uint32_t *ret, struct atw_err *err);
/* Seconds with up to nine decimals, in ns. */
int words_to_time(const struct trace_parser *p, struct atw_blob text, uint64_t *ret,
		  struct atw_err *err);
