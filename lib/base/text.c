/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - escaping of untrusted texts for each output format. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/cleanup.h"

#define NOT_UTF8 UINT32_MAX

/*
 * Decode and remove the first character of the text. Overlong forms, surrogates and
 * numbers above the last character are not UTF-8 (RFC 3629): in these cases one byte is
 * consumed.
 */
static uint32_t text_next_char(const char **s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	unsigned len = p[0] < 0x80 ? 1 : p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 2 :
		       p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 0;
	uint32_t c = len > 1 ? p[0] & (0x7fu >> len) : p[0];

	(*s)++;
	if (!len)
		return NOT_UTF8;
	/*
	 * The closing NUL is no continuation byte either, so this does not read past the
	 * end.
	 */
	for (unsigned i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return NOT_UTF8;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return NOT_UTF8;
	*s += len - 1;
	return c;
}

/*
 * Characters without a glyph: bidirectional controls, joiners, fillers, tags and others,
 * which make two different names look the same. This is the property
 * Default_Ignorable_Code_Point of Unicode 15, plus line separators.
 */
static const struct { uint32_t first, last; } invisible[] = {
	{ 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
	{ 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

/* Characters that are escaped before output to a terminal. */
static bool text_harmful(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == NOT_UTF8)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(invisible) && c >= invisible[i].first; i++)
		if (c <= invisible[i].last)
			return true;
	return false;
}

/* The length of the prefix of printable ASCII other than `not`. */
static size_t text_clean(const char *s, const char * not )
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != not[0] && s[n] != not[1])
		n++;
	return n;
}

static void text_hex_bytes(struct buf *b, const char *s, const char *end)
{
	for (; s < end; s++)
		buf_printf(b, "\\x%02x", (unsigned char)*s);
}

/* `keep`: control characters that are not escaped; `twice`: a quote is doubled. */
static void text_escape(struct buf *b, const char *s, const char *keep, bool twice)
{
	while (*s) {
		size_t n = text_clean(s, twice ? "\"\"" : "\0");
		const char *from = s + n;

		buf_add(b, s, n);
		s = from;
		if (!*s)
			break;
		if (*s == '"') {
			buf_str(b, "\"\"");
			s++;
		} else if (!text_harmful(text_next_char(&s)) || strchr(keep, *from)) {
			buf_add(b, from, (size_t)(s - from));
		} else {
			text_hex_bytes(b, from, s);
		}
	}
}

void text_plain(struct buf *b, const char *s)
{
	size_t start = b->len;

	/* A blank at either end is invisible and would get lost. */
	if (*s == ' ') {
		buf_str(b, "\\x20");
		s++;
	}
	text_escape(b, s, "", false);
	if (b->len > start && b->data[b->len - 1] == ' ') {
		b->len--;
		buf_str(b, "\\x20");
	}
}

void text_lines(struct buf *b, const char *s)
{
	text_escape(b, s, "\n\t", false);
}

void text_octal(struct buf *b, const char *s)
{
	while (*s) {
		const char *from = s;

		if (!text_harmful(text_next_char(&s))) {
			buf_add(b, from, (size_t)(s - from));
			continue;
		}
		for (; from < s; from++)
			buf_printf(b, "\\%03o", (unsigned char)*from);
	}
}

void text_csv(struct buf *b, const char *s)
{
	if (*s && !s[strcspn(s, ",\"\r\n\t")]) {
		text_escape(b, s, "", false);
		return;
	}
	buf_char(b, '"');
	text_escape(b, s, "\r\n\t", true);
	buf_char(b, '"');
}

static void text_json_char(struct buf *b, uint32_t c)
{
	static const char named[] = "\bb\tt\nn\ff\rr\"\"\\\\";
	const char *n = NULL;

	for (size_t i = 0; i < sizeof(named) - 1 && !n; i += 2)
		if ((unsigned char)named[i] == c)
			n = &named[i + 1];
	if (n) {
		buf_char(b, '\\');
		buf_char(b, *n);
	} else if (c > 0xffff) {
		/* A surrogate pair (RFC 8259, section 7). */
		buf_printf(b, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	} else {
		buf_printf(b, "\\u%04x", c);
	}
}

void text_json(struct buf *b, const char *s)
{
	buf_char(b, '"');
	while (*s) {
		size_t n = text_clean(s, "\"\\");
		const char *from = s + n;
		uint32_t c;

		buf_add(b, s, n);
		s = from;
		if (!*s)
			break;
		c = text_next_char(&s);
		if (c == NOT_UTF8)
			text_json_char(b, (unsigned char)*from);
		else if (c == '"' || c == '\\' || text_harmful(c))
			text_json_char(b, c);
		else
			buf_add(b, from, (size_t)(s - from));
	}
	buf_char(b, '"');
}

void text_utf8(struct buf *b, const char *s)
{
	while (*s) {
		const char *from = s;
		unsigned char byte = (unsigned char)*s;

		if (text_next_char(&s) != NOT_UTF8) {
			buf_add(b, from, (size_t)(s - from));
		} else {
			buf_char(b, (char)(0xc0 | byte >> 6));
			buf_char(b, (char)(0x80 | (byte & 0x3f)));
		}
	}
}

void text_xml(struct buf *b, const char *s)
{
	static const char marked[] = "&<>\"'";
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
	struct buf clean = { 0 };

	text_plain(&clean, s);
	for (const char *p = clean.data ? clean.data : ""; *p; p++) {
		const char *special = strchr(marked, *p);

		/* U+FFFE and U+FFFF are not allowed in XML. */
		if (special) {
			buf_str(b, entities[special - marked]);
		} else if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			text_hex_bytes(b, p, p + 3);
			p += 2;
		} else {
			buf_char(b, *p);
		}
	}
	b->failed |= clean.failed;
	buf_deinit(&clean);
}

size_t text_width(const char *s, size_t len)
{
	bool known = MB_CUR_MAX > 1;
	mbstate_t state = { 0 };
	size_t n = 0;
	wchar_t c;
	int width;

	for (size_t i = 0; i < len; i++) {
		if ((s[i] & 0xc0) == 0x80)
			continue;
		n++;
		if (!known || (unsigned char)s[i] < 0x80)
			continue;
		if (mbrtowc(&c, s + i, len - i, &state) > len) {
			memset(&state, 0, sizeof(state));
			continue;
		}
		width = wcwidth(c);
		n += width >= 0 ? (size_t)width - 1 : 0;
	}
	return n;
}

size_t text_whole(const char *s, size_t len)
{
	size_t at = len, more;

	while (at && (s[at - 1] & 0xc0) == 0x80)
		at--;
	if (!at || (unsigned char)s[at - 1] < 0xc0)
		return len;
	more = (unsigned char)s[at - 1] < 0xe0 ? 1 : (unsigned char)s[at - 1] < 0xf0 ? 2 : 3;
	return len - at < more ? at - 1 : len;
}
