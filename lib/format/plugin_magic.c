/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugin_magic.c - how files of a plugin's sources are recognized. */
#include "format/plugin_magic.h"

#include <string.h>

#include "base/bytes.h"
#include "base/num.h"
#include "format/plugin_note.h"

enum { MAGIC_OFFSET = 65536, MAGIC_BYTES = 32 };

/* An element. */
struct magic {
	char source[32];
	uint64_t offset;
	const char *digits;      /* two for each byte */
	size_t n;                /* bytes */
};

static bool magic_parse(const char *s, size_t len, struct magic *ret)
{
	const char *at = memchr(s, '@', len), *sign = at ? memchr(at, '=', len - (size_t)(at - s)) : NULL;
	size_t name = at ? (size_t)(at - s) : 0;
	bool known = false;

	if (!sign || !name || name >= sizeof(ret->source))
		return false;
	memcpy(ret->source, s, name);
	ret->source[name] = '\0';
	ret->digits = sign + 1;
	ret->n = (len - (size_t)(ret->digits - s)) / 2;
	if (!num_dec(at + 1, (size_t)(sign - at - 1), &ret->offset) || ret->offset >= MAGIC_OFFSET ||
	    !ret->n || ret->n > MAGIC_BYTES || s + len != ret->digits + 2 * ret->n)
		return false;
	for (size_t i = 0; i < 2 * ret->n; i++) {
		if (!ret->digits[i] || !strchr("0123456789abcdef?", ret->digits[i]))
			return false;
		known |= ret->digits[i] != '?';
	}
	return known;
}

bool plugin_magic_is_valid(const char *magic, const char *sources)
{
	struct magic m;

	for (const char *s = magic; *s;) {
		size_t len = strcspn(s, " ");

		if (!magic_parse(s, len, &m) || !plugin_list_has(sources, m.source))
			return false;
		s += len;
		s += *s == ' ';
	}
	return true;
}

static bool magic_digit_fits(char digit, unsigned value)
{
	return digit == '?' || "0123456789abcdef"[value] == digit;
}

static bool magic_fits(const struct magic *m, struct atw_blob head)
{
	const uint8_t *p = blob_at(head, m->offset, m->n);

	for (size_t i = 0; p && i < m->n; i++)
		if (!magic_digit_fits(m->digits[2 * i], p[i] >> 4) ||
		    !magic_digit_fits(m->digits[2 * i + 1], p[i] & 15))
			return false;
	return p;
}

bool plugin_magic_matches(const char *magic, const char *source, struct atw_blob head)
{
	struct magic m;

	for (const char *s = magic; *s;) {
		size_t len = strcspn(s, " ");

		if (magic_parse(s, len, &m) && !strcmp(m.source, source) && magic_fits(&m, head))
			return true;
		s += len;
		s += *s == ' ';
	}
	return false;
}
