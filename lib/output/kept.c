/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/huge.h"

enum {
	HEAD = 2,                /* words before values, or before a text */
	KIND_BITS = 8,
	LONG = 64 << 10,         /* words: what has more is in huge pages */
};

void kept_deinit(struct kept_rows *k)
{
	if (k->huge)
		huge_free(k->word, k->cap * sizeof(*k->word));
	else
		free(k->word);
	*k = (struct kept_rows){ .rows = 0 };
}

void kept_clear(struct kept_rows *k)
{
	k->len = k->rows = k->at = 0;
	memset(k->last, 0, sizeof(k->last));
}

/* Few tables are long, and what is long is filled fast: a page fault takes as long as a page. */
static bool kept_grow(struct kept_rows *k, size_t need)
{
	const size_t each = sizeof(*k->word);
	uint64_t *few = k->word;

	if (k->huge || need <= LONG)
		return k->huge ? huge_reserve((void **)&k->word, &k->cap, need, each, true)
			       : array_reserve((void **)&k->word, &k->cap, need, each);
	k->word = NULL;
	k->cap = 0;
	k->huge = huge_reserve((void **)&k->word, &k->cap, need, each, true);
	if (k->huge && k->len)
		memcpy(k->word, few, k->len * each);
	free(few);
	return k->huge;
}

static bool kept_room(struct kept_rows *k, size_t more)
{
	size_t need;

	if (!k->failed)
		k->failed = __builtin_add_overflow(k->len, more, &need) ||
			    (need > k->cap && !kept_grow(k, need));
	return !k->failed;
}

/* The place of the text, which mostly is that of the row before. */
static uint64_t kept_place(struct kept_rows *k, size_t column, const char *text)
{
	size_t n, at = k->last[column];

	if (at && !strcmp((const char *)(k->word + at), text))
		return at;
	n = strlen(text) + 1;
	at = k->len;
	if (!kept_room(k, n / 8 + 1))
		return 0;
	memcpy(k->word + at, text, n);
	k->len += n / 8 + 1;
	k->last[column] = at;
	return at;
}

/* Which columns of the schema the row has. */
static uint64_t kept_have(const struct atw_schema *sc, const struct atw_row *row,
			  const uint8_t *from)
{
	uint64_t have = 0;

	if (!from)
		have = sc->ncols < 64 ? row->have & (((uint64_t)1 << sc->ncols) - 1) : row->have;
	for (size_t i = 0; from && i < sc->ncols; i++)
		have |= (row->have >> from[i] & 1) << i;
	return have;
}

void kept_row(struct kept_rows *k, const struct atw_schema *sc, const struct atw_row *row,
	      const uint8_t *from)
{
	uint64_t have = kept_have(sc, row, from);
	size_t n = (size_t)__builtin_popcountll(have), at = k->len, put = at + HEAD;

	if (!kept_room(k, HEAD + n))
		return;
	k->len += HEAD + n;
	for (uint64_t left = have; left; left &= left - 1) {
		size_t i = (size_t)__builtin_ctzll(left);
		const union atw_value *v = &row->v[from ? from[i] : i];
		bool text = sc->col[i].type == ATW_T_TEXT;
		uint64_t value;

		if (text && !v->s) {
			have &= ~((uint64_t)1 << i);
			continue;
		}
		/* Where the text goes may move all words. */
		value = text ? kept_place(k, i, v->s) : v->u;
		k->word[put++] = value;
	}
	k->word[at] = (k->len - at) << 1 | 1;
	k->word[at + 1] = have;
	k->rows++;
}

void kept_event(struct kept_rows *k, unsigned kind, const void *data, size_t len)
{
	size_t words = HEAD + len / 8 + 1;

	if (!kept_room(k, words))
		return;
	k->word[k->len] = words << 1;
	k->word[k->len + 1] = len << KIND_BITS | kind;
	memcpy(k->word + k->len + HEAD, data, len);
	k->len += words;
}

void kept_text(struct kept_rows *k, const char *text, size_t len)
{
	kept_event(k, 0, text, len);
}

bool kept_next(struct kept_rows *k, const struct atw_schema *sc, union atw_value *v,
	       struct kept_item *ret)
{
	const uint64_t *item;

	if (k->failed || k->at >= k->len)
		return false;
	item = k->word + k->at;
	k->at += item[0] >> 1;
	ret->is_row = item[0] & 1;
	if (!ret->is_row) {
		ret->kind = (unsigned)(item[1] & ((1u << KIND_BITS) - 1));
		ret->len = item[1] >> KIND_BITS;
		ret->text = (const char *)(item + HEAD);
		return true;
	}
	ret->row = (struct atw_row){ .v = v, .have = item[1] };
	item += HEAD;
	for (uint64_t left = ret->row.have; left; left &= left - 1, item++) {
		size_t i = (size_t)__builtin_ctzll(left);

		if (sc->col[i].type == ATW_T_TEXT)
			v[i].s = (const char *)(k->word + *item);
		else
			v[i].u = *item;
	}
	return true;
}
