/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { HEAD = 2 };               /* words before values, or before a text */

void kept_deinit(struct kept_rows *k)
{
	free(k->word);
	*k = (struct kept_rows){ .rows = 0 };
}

void kept_clear(struct kept_rows *k)
{
	k->len = k->rows = k->at = 0;
	memset(k->last, 0, sizeof(k->last));
}

static bool kept_room(struct kept_rows *k, size_t more)
{
	size_t need;

	if (!k->failed)
		k->failed = __builtin_add_overflow(k->len, more, &need) ||
			    !array_reserve((void **)&k->word, &k->cap, need, sizeof(*k->word));
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

void kept_row(struct kept_rows *k, const struct atw_schema *sc, const struct atw_row *row,
	      const uint8_t *from)
{
	uint64_t have = 0;
	size_t at = k->len;

	if (!kept_room(k, HEAD + sc->ncols))
		return;
	k->len += HEAD + sc->ncols;
	for (size_t i = 0; i < sc->ncols; i++) {
		size_t in = from ? from[i] : i;
		bool text = sc->col[i].type == ATW_T_TEXT;
		uint64_t value = 0;

		if (row->have >> in & 1 && (!text || row->v[in].s)) {
			value = text ? kept_place(k, i, row->v[in].s) : row->v[in].u;
			have |= (uint64_t)1 << i;
		}
		k->word[at + HEAD + i] = value;
	}
	k->word[at] = (k->len - at) << 1 | 1;
	k->word[at + 1] = have;
	k->rows++;
}

void kept_text(struct kept_rows *k, const char *text, size_t len)
{
	size_t words = HEAD + len / 8 + 1;

	if (!kept_room(k, words))
		return;
	k->word[k->len] = words << 1;
	k->word[k->len + 1] = len;
	memcpy(k->word + k->len + HEAD, text, len);
	k->len += words;
}

bool kept_next(struct kept_rows *k, const struct atw_schema *sc, union atw_value *v,
	       struct kept_item *ret)
{
	const uint64_t *item = k->word + k->at;

	if (k->failed || k->at >= k->len)
		return false;
	k->at += item[0] >> 1;
	ret->is_row = item[0] & 1;
	if (!ret->is_row) {
		ret->len = item[1];
		ret->text = (const char *)(item + HEAD);
		return true;
	}
	ret->row = (struct atw_row){ .v = v, .have = item[1] };
	for (size_t i = 0; i < sc->ncols; i++)
		if (sc->col[i].type == ATW_T_TEXT && item[1] >> i & 1)
			v[i].s = (const char *)(k->word + item[HEAD + i]);
		else
			v[i].u = item[HEAD + i];
	return true;
}
