/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture_usual.c - fast parser of runs in the form in which most are written. */
#include "base/cleanup.h"
#include "base/digits.h"
#include "format/capture_fields.h"

struct capture_usual_cursor {
	const char *s, *end;
};

static bool capture_usual_hex(struct capture_usual_cursor *c, uint64_t *ret)
{
	return scan_hex(&c->s, c->end, ret);
}

static bool capture_usual_dec(struct capture_usual_cursor *c, uint64_t *ret)
{
	return scan_dec(&c->s, c->end, ret);
}

/* Skips the text if it comes next. */
static bool capture_usual_text(struct capture_usual_cursor *c, const char *text, size_t len)
{
	if ((size_t)(c->end - c->s) < len || memcmp(c->s, text, len))
		return false;
	c->s += len;
	return true;
}
#define NEXT(c, text) capture_usual_text(c, text, sizeof(text) - 1)

/* "key=value" behind a comma; a repeated key is left to the general parser. */
static bool capture_usual_keyed(struct capture_usual_cursor *c, struct capture_run *run)
{
	uint32_t has = 0;
	bool ok;

	if (NEXT(c, "refs=")) {
		has = CAPTURE_M_REFS;
		ok = capture_usual_dec(c, &run->refs);
	} else if (NEXT(c, "order=")) {
		has = CAPTURE_M_ORDER;
		ok = capture_usual_dec(c, &run->order);
	} else if (NEXT(c, "folio=")) {
		has = CAPTURE_M_FOLIO;
		ok = capture_usual_dec(c, &run->folio);
	} else if (NEXT(c, "swap=")) {
		has = CAPTURE_M_SWAP;
		ok = capture_usual_hex(c, &run->swap.a) && NEXT(c, ":") &&
		     capture_usual_hex(c, &run->swap.b);
	} else if (NEXT(c, "map=")) {
		has = CAPTURE_M_MAP;
		ok = capture_usual_hex(c, &run->map);
	} else if (NEXT(c, "raw=")) {
		has = CAPTURE_M_RAW;
		ok = capture_usual_hex(c, &run->raw);
	} else {
		return false;
	}
	ok = ok && !(run->has & has);
	run->has |= has;
	return ok;
}

/*
 * All zero, field by field, and the run is parsed in place: the CPU cannot forward single
 * stores to the wide loads of a copy, and so a copy takes as long as the parsing.
 */
static void capture_usual_clear(struct capture_run *run)
{
	_Static_assert(sizeof(*run) == 16 * sizeof(uint64_t), "all fields are here");
	/* And what lies behind `has`: runs are compared as bytes. */
	memset(run, 0, offsetof(struct capture_run, va));
	run->count = run->flags = 0;
	run->refs = 0;
	run->order = run->folio = 0;
	run->swap.a = run->swap.b = 0;
	run->state = 0;
	run->map = run->raw = 0;
	run->same = run->noframe = 0;
}

bool capture_parse_usual(struct atw_blob *text, struct capture_run *run)
{
	struct capture_usual_cursor c = {text->data,
					 (const char *)text->data + text->len};

	capture_usual_clear(run);
	run->pages = 1;
	if (!NEXT(&c, " ") || !capture_usual_hex(&c, &run->va) ||
	    (NEXT(&c, "*") && !capture_usual_dec(&c, &run->pages)) ||
	    !NEXT(&c, "=") || !capture_usual_hex(&c, &run->entry) ||
	    !NEXT(&c, ", "))
		return false;
	if (!NEXT(&c, "-")) {
		run->has = CAPTURE_M_COUNT;
		if (!capture_usual_dec(&c, &run->count))
			return false;
	}
	if (!NEXT(&c, ", "))
		return false;
	if (!NEXT(&c, "-")) {
		run->has |= CAPTURE_M_FLAGS;
		if (!capture_usual_hex(&c, &run->flags))
			return false;
	}
	while (NEXT(&c, ", "))
		if (!capture_usual_keyed(&c, run))
			return false;
	if (!NEXT(&c, " |"))
		return false;
	*text = (struct atw_blob){ c.s, (size_t)(c.end - c.s) };
	return true;
}

/* ---- packed ---- */

/*
 * A run is a word that says where it is, and of what it has; then va, entry, pages, and
 * the fields of `has`, lowest bit first. Most are like the one before in their line, and
 * have no fields of their own.
 */
enum { LEN_BITS = 12, AT_BITS = 20, WORDS = 16 };
#define PACKED_LIKE (UINT64_C(1) << 63)

static const uint16_t fields[] = {
	offsetof(struct capture_run, count), offsetof(struct capture_run, flags),
	offsetof(struct capture_run, refs), offsetof(struct capture_run, order),
	offsetof(struct capture_run, folio), offsetof(struct capture_run, swap),
	offsetof(struct capture_run, state), offsetof(struct capture_run, map),
	offsetof(struct capture_run, raw), offsetof(struct capture_run, same),
};

static uint64_t *capture_usual_field(struct capture_run *run, unsigned bit)
{
	return (uint64_t *)((char *)run + fields[bit]);
}

/* capture_run_tail_same() word by word, as they were stored: see capture_usual_clear(). */
static bool capture_usual_is_like(const struct capture_run *a, const struct capture_run *b)
{
	uint64_t differs = (a->entry ^ b->entry) & CAPTURE_ENTRY_BITS;

	differs |= (a->count ^ b->count) | (a->flags ^ b->flags) | (a->refs ^ b->refs);
	differs |= (a->order ^ b->order) | (a->folio ^ b->folio) | (a->map ^ b->map);
	differs |= (a->swap.a ^ b->swap.a) | (a->swap.b ^ b->swap.b) | (a->raw ^ b->raw);
	/* The form has neither a state nor `same` nor `noframe`. */
	return a->has == b->has && !differs;
}

/* Returns the number of words. */
static size_t capture_usual_pack(struct capture_run *run, bool like, uint64_t at, uint64_t len,
				 uint64_t *to)
{
	uint64_t *w = to;

	*w++ = (like ? PACKED_LIKE : 0) | (uint64_t)run->has << 32 | at << LEN_BITS | len;
	*w++ = run->va;
	*w++ = run->entry;
	*w++ = run->pages;
	for (uint32_t left = like ? 0 : run->has; left; left &= left - 1) {
		unsigned bit = (unsigned)__builtin_ctz(left);

		*w++ = *capture_usual_field(run, bit);
		if (1u << bit == CAPTURE_M_SWAP)
			*w++ = run->swap.b;
	}
	return (size_t)(w - to);
}

static const uint64_t *capture_usual_unpack(const uint64_t *w, struct capture_run *run)
{
	capture_usual_clear(run);
	run->has = (uint32_t)(*w++ >> 32);
	run->va = *w++;
	run->entry = *w++;
	run->pages = *w++;
	for (uint32_t left = run->has; left; left &= left - 1) {
		unsigned bit = (unsigned)__builtin_ctz(left);

		*capture_usual_field(run, bit) = *w++;
		if (1u << bit == CAPTURE_M_SWAP)
			run->swap.b = *w++;
	}
	return w;
}

/* The number of words of a packed run. */
static size_t capture_usual_words(uint64_t head)
{
	uint32_t has = head & PACKED_LIKE ? 0 : (uint32_t)(head >> 32);

	return 4 + (size_t)__builtin_popcount(has) + !!(has & CAPTURE_M_SWAP);
}

bool capture_take_parsed(struct capture_parsed *p, struct atw_blob *text, struct capture_run *ret)
{
	const uint64_t where = (UINT64_C(1) << AT_BITS) - 1;
	uint64_t at;
	size_t len;

	if (p->next == p->end)
		return false;
	at = (uint64_t)((const char *)text->data - p->text);
	while (p->next != p->end && (*p->next >> LEN_BITS & where) < at)
		p->next += capture_usual_words(*p->next);
	if (p->next == p->end || (*p->next >> LEN_BITS & where) != at)
		return false;
	len = *p->next & ((1u << LEN_BITS) - 1);
	if (len > text->len)
		return false;
	if (!(*p->next & PACKED_LIKE)) {
		p->next = capture_usual_unpack(p->next, ret);
	} else if (p->behind == p->next && p->into == ret) {
		ret->like = p->sound;
		ret->va = p->next[1];
		ret->entry = p->next[2];
		ret->pages = p->next[3];
		p->next += 4;
	} else {
		return false;
	}
	p->behind = p->next;
	p->into = ret;
	*text = (struct atw_blob){ (const char *)text->data + len, text->len - len };
	return true;
}

/* Of one line, from behind its letter on. */
static size_t capture_usual_line(const char *base, struct atw_blob line, uint64_t *ret,
				 size_t most)
{
	struct capture_run both[2], *run = &both[0];
	const struct capture_run *before = NULL;
	size_t n = 0;

	while (n + WORDS <= most && line.len) {
		const char *from = line.data, *bar;

		if (capture_parse_usual(&line, run)) {
			uint64_t len = (uint64_t)((const char *)line.data - from);
			bool like = before && capture_usual_is_like(run, before);

			before = NULL;
			if (len < 1u << LEN_BITS) {
				n += capture_usual_pack(run, like, (uint64_t)(from - base), len,
							ret + n);
				before = run;
				run = run == &both[0] ? &both[1] : &both[0];
			}
			continue;
		}
		before = NULL;
		bar = memchr(from, '|', line.len);
		if (!bar)
			break;
		line = (struct atw_blob){ bar + 1, line.len - (size_t)(bar + 1 - from) };
	}
	return n;
}

size_t capture_parse_ahead(struct atw_blob text, uint64_t *ret, size_t most)
{
	const char *s = text.data, *end = s + text.len, *nl;
	size_t n = 0;

	_Static_assert(CAPTURE_PARSED_TEXT == 1 << AT_BITS, "all places fit");
	_Static_assert(4 + ARRAY_SIZE(fields) + 1 <= WORDS, "all fields fit");
	if (text.len >= CAPTURE_PARSED_TEXT)
		return 0;
	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl)
			break;
		if (nl - s > 2 && s[0] == 'M' && s[1] == ':')
			n += capture_usual_line(text.data, (struct atw_blob){ s + 2, (size_t)(nl - s) - 2 },
						ret + n, most - n);
	}
	return n;
}
