/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - search of memory for bytes and words. */
#include "base/pattern.h"

#include "base/digits.h"
#include "base/message.h"
#include "base/num.h"

static int pattern_too_long(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_USAGE, "a pattern has at most %d bytes", PATTERN_MOST);
}

enum { PATTERN_BLOCK = 64 };     /* bytes or words that are looked at before a branch */

/* How much of memory a byte of the pattern rules out: fillers of memory rule out least. */
static int pattern_weight(const struct pattern *p, unsigned i)
{
	bool filler = !p->byte[i] || p->byte[i] == 0xff || p->byte[i] == ' ';

	return 2 * __builtin_popcount(p->mask[i]) - (filler ? 8 : 0);
}

/* The first of the two best bytes of the pattern, and the last one. */
static void pattern_anchors(struct pattern *p)
{
	p->anchor[0] = 0;
	for (unsigned i = 1; i < p->len; i++)
		if (pattern_weight(p, i) > pattern_weight(p, p->anchor[0]))
			p->anchor[0] = i;
	p->anchor[1] = p->anchor[0] ? 0 : p->len - 1;
	for (unsigned i = 0; i < p->len; i++)
		if (i != p->anchor[0] &&
		    pattern_weight(p, i) >= pattern_weight(p, p->anchor[1]))
			p->anchor[1] = i;
}

int pattern_hex(struct pattern *ret, const char *text, struct atw_err *err)
{
	struct pattern p = {.kind = PATTERN_BYTES};
	unsigned digits = 0;
	bool any = false;

	for (const char *s = text; *s; s++) {
		unsigned v = scan_digit[(uint8_t)*s];
		bool known = v < 16;

		if (*s == ' ' && !(digits & 1))
			continue;
		if (!known && *s != '?')
			return atw_err_set(err, ATW_E_USAGE,
					   "invalid bytes '%.100s': expected pairs of hexadecimal "
					   "digits, or ? for any digit",
					   text);
		if (digits / 2 == PATTERN_MOST)
			return pattern_too_long(err);
		p.byte[digits / 2] = (uint8_t)(p.byte[digits / 2] << 4 | (known ? v : 0));
		p.mask[digits / 2] = (uint8_t)(p.mask[digits / 2] << 4 | (known ? 15 : 0));
		any |= known;
		digits++;
	}
	if (!any || digits & 1)
		return atw_err_set(err, ATW_E_USAGE,
				   "invalid bytes '%.100s': %s", text,
				   any ? _("the number of digits is odd") : _("there is no digit"));
	p.len = digits / 2;
	pattern_anchors(&p);
	*ret = p;
	return ATW_OK;
}

int pattern_text(struct pattern *ret, const char *text, bool fold, struct atw_err *err)
{
	struct pattern p = {.kind = PATTERN_BYTES};
	size_t len = strlen(text);

	if (!len)
		return atw_err_set(err, ATW_E_USAGE, "the text to search for is empty");
	if (len > PATTERN_MOST)
		return pattern_too_long(err);
	p.len = (unsigned)len;
	for (size_t i = 0; i < len; i++) {
		bool letter = fold && ((text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z');

		/* Cases of a letter differ in one bit. */
		p.mask[i] = letter ? 0xdf : 0xff;
		p.byte[i] = (uint8_t)text[i] & p.mask[i];
	}
	pattern_anchors(&p);
	*ret = p;
	return ATW_OK;
}

static uint64_t pattern_word_most(unsigned width)
{
	return width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
}

int pattern_word(struct pattern *ret, const char *text, unsigned width, struct atw_err *err)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint64_t value, bits = pattern_word_most(width);

	if (!num_hex(text, len, &value) ||
	    (slash && !num_hex(slash + 1, strlen(slash + 1), &bits)))
		return atw_err_set(err, ATW_E_USAGE,
				   "invalid word '%.100s': expected VALUE or VALUE/MASK, "
				   "hexadecimal",
				   text);
	if (value > pattern_word_most(width) || bits > pattern_word_most(width))
		return atw_err_set(err, ATW_E_USAGE, "'%.100s' does not fit into %u bytes", text,
				   width);
	if (value & ~bits || !bits)
		return atw_err_set(err, ATW_E_USAGE,
				   "no word matches '%.100s': the value has bits that the mask "
				   "has not",
				   text);
	*ret = (struct pattern){
		.kind = PATTERN_WORDS, .len = width, .bits = bits, .lo = value,
	};
	return ATW_OK;
}

void pattern_range(struct pattern *ret, uint64_t first, uint64_t last, unsigned width)
{
	uint64_t most = pattern_word_most(width);

	*ret = (struct pattern){
		.kind = PATTERN_WORDS, .len = width, .bits = most, .lo = first,
		.span = (last < most ? last : most) - first,
	};
	/* No word of this width is so large: none matches. */
	if (first > most) {
		ret->bits = 0;
		ret->lo = 1;
		ret->span = 0;
	}
}

bool pattern_is_zero(const struct pattern *p)
{
	if (p->kind == PATTERN_WORDS)
		return 0 - p->lo <= p->span;
	for (unsigned i = 0; i < p->len; i++)
		if (p->byte[i])
			return false;
	return true;
}

/* ---- bytes ---- */

static bool pattern_matches(const struct pattern *p, const uint8_t *at)
{
	for (unsigned i = 0; i < p->len; i++)
		if ((at[i] & p->mask[i]) != p->byte[i])
			return false;
	return true;
}

/* Vectors that every CPU has: compilers take comparisons of longer ones apart. */
typedef uint8_t pattern_vector __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t pattern_pair __attribute__((vector_size(16)));

/* Does some place of a block agree in both anchors, at + first and at + second? */
static inline bool pattern_block(const struct pattern *p, const uint8_t *first,
				 const uint8_t *second)
{
	const pattern_vector *a = (const void *)first, *b = (const void *)second;
	const uint8_t byte_a = p->byte[p->anchor[0]], mask_a = p->mask[p->anchor[0]];
	const uint8_t byte_b = p->byte[p->anchor[1]], mask_b = p->mask[p->anchor[1]];
	pattern_pair any = {0};

#pragma GCC unroll 4
	for (unsigned i = 0; i < PATTERN_BLOCK / sizeof(*a); i++)
		any |= (pattern_pair)((a[i] & mask_a) == byte_a) &
		       (pattern_pair)((b[i] & mask_b) == byte_b);
	return any[0] | any[1];
}

static size_t pattern_find_bytes(const struct pattern *p, const uint8_t *data, size_t len,
				 size_t from)
{
	const unsigned a = p->anchor[0], b = p->anchor[1];
	const uint8_t *at = data + from, *end = data + len - p->len + 1;

	for (; at < end; at += PATTERN_BLOCK) {
		size_t n = (size_t)(end - at);

		if (n >= PATTERN_BLOCK) {
			if (!pattern_block(p, at + a, at + b))
				continue;
			n = PATTERN_BLOCK;
		}
		for (size_t i = 0; i < n; i++)
			if ((at[a + i] & p->mask[a]) == p->byte[a] &&
			    pattern_matches(p, at + i))
				return (size_t)(at + i - data);
	}
	return SIZE_MAX;
}

/* ---- words ---- */

#define PATTERN_FIND_WORDS(bits_of, type)                                                   \
	static size_t pattern_find_words_##bits_of(const struct pattern *p,                  \
						   const uint8_t *data, size_t from,        \
						   size_t end)                              \
	{                                                                                    \
		const type bits = (type)p->bits, lo = (type)p->lo, span = (type)p->span;     \
		type word, any;                                                              \
                                                                                             \
		for (; from + PATTERN_BLOCK * sizeof(type) <= end;                           \
		     from += PATTERN_BLOCK * sizeof(type)) {                                 \
			any = 0;                                                             \
			for (unsigned i = 0; i < PATTERN_BLOCK; i++) {                       \
				memcpy(&word, data + from + i * sizeof(type), sizeof(type)); \
				any |= (type)((word & bits) - lo) <= span;                   \
			}                                                                    \
			if (any)                                                             \
				break;                                                       \
		}                                                                            \
		for (; from + sizeof(type) <= end; from += sizeof(type)) {                   \
			memcpy(&word, data + from, sizeof(type));                            \
			if ((type)((word & bits) - lo) <= span)                              \
				return from;                                                 \
		}                                                                            \
		return SIZE_MAX;                                                             \
	}

PATTERN_FIND_WORDS(8, uint8_t)
PATTERN_FIND_WORDS(16, uint16_t)
PATTERN_FIND_WORDS(32, uint32_t)
PATTERN_FIND_WORDS(64, uint64_t)

size_t pattern_find(const struct pattern *p, uint64_t at, const void *data, size_t len,
		    size_t from)
{
	if (len < p->len || from > len - p->len)
		return SIZE_MAX;
	if (p->kind == PATTERN_BYTES)
		return pattern_find_bytes(p, data, len, from);
	from += (size_t)(-(at + from) & (p->len - 1));
	switch (p->len) {
	case 1: return pattern_find_words_8(p, data, from, len);
	case 2: return pattern_find_words_16(p, data, from, len);
	case 4: return pattern_find_words_32(p, data, from, len);
	default: return pattern_find_words_64(p, data, from, len);
	}
}
