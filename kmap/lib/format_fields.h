/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_fields.h - parsers for the fields of atwalk-kmap(5) lines. */
#pragma once

#include "base/bytes.h"
#include "kmap/lib/format.h"

enum { KMAP_FIRST = 7 };                 /* fields of an object in all versions */

#define KMAP_NULL "(null)"

static inline bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline struct atw_blob trim(struct atw_blob b)
{
	const char *s = b.data;

	while (b.len && blank(*s))
		s++, b.len--;
	while (b.len && blank(s[b.len - 1]))
		b.len--;
	return (struct atw_blob){ s, b.len };
}

/* Takes it away, if it stands in front. */
static inline bool begins(struct atw_blob *b, const char *word)
{
	size_t len = strlen(word);

	if (b->len < len || memcmp(b->data, word, len))
		return false;
	*b = (struct atw_blob){ (const char *)b->data + len, b->len - len };
	return true;
}

/* Up to the next comma, which is taken, too; false: there was none. */
static inline bool take(struct atw_blob *b, struct atw_blob *ret)
{
	const char *s = b->data, *comma = b->len ? memchr(s, ',', b->len) : NULL;
	size_t n = comma ? (size_t)(comma - s) : b->len;

	*ret = (struct atw_blob){ s, n };
	*b = (struct atw_blob){ s + n + (comma != NULL), b->len - n - (comma != NULL) };
	return comma;
}

/* The last field of it; false: there is no comma. */
static inline bool take_last(struct atw_blob *b, struct atw_blob *ret)
{
	const char *s = b->data, *comma = b->len ? memrchr(s, ',', b->len) : NULL;

	if (!comma)
		return false;
	*ret = (struct atw_blob){ comma + 1, b->len - (size_t)(comma - s) - 1 };
	b->len = (size_t)(comma - s);
	return true;
}

static inline size_t commas(struct atw_blob b)
{
	const char *s = b.data, *end = s + b.len;
	size_t n = 0;

	while (s < end && (s = memchr(s, ',', (size_t)(end - s))))
		s++, n++;
	return n;
}

/* A piece of the line, for people. */
struct kmap_quoted {
	char s[44];
};
struct kmap_quoted kmap_quote(struct atw_blob b);

/* `what` is the field's name, for the error. Addresses are as %p prints them. */
int kmap_address(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err);
int kmap_count(const char *what, struct atw_blob b, uint64_t *ret, struct atw_err *err);
/* It may be negative. */
int kmap_number(const char *what, struct atw_blob b, int64_t *ret, struct atw_err *err);

/*
 * kmap_object.c: a line with more than KMAP_FIRST fields. `declared`: as
 * KMAP_DECLARED.
 */
int kmap_parse_object(struct atw_blob line, enum kmap_version v, bool declared,
		      struct kmap_object *ret, struct atw_err *err);
