/* SPDX-License-Identifier: GPL-2.0-or-later */
/* width.c - column widths of the plain table, and shortening of texts. */
#include "output/width.h"

#include "base/text.h"
#include "output/number.h"

/* Sufficient for most texts, whose lengths vary. */
#define WIDTH_FLAGS 24
#define WIDTH_TEXT  16
/* If rows are measured, longer texts are shortened in their middle. */
#define TEXT_MOST   64

static size_t width_longest(const struct atw_names *nm)
{
	size_t max = 0;

	for (size_t i = 0; nm && nm->name && i < nm->n; i++)
		if (nm->name[i] && strlen(nm->name[i]) > max)
			max = strlen(nm->name[i]);
	return max;
}

static size_t width_type(const struct atw_sink *k, const struct atw_column *c)
{
	switch (c->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		return 18;
	case ATW_T_BYTES:
	case ATW_T_CHANGE_BYTES:
		return k->units == ATW_UNITS_HUMAN ? 7 :
		       k->units == ATW_UNITS_PAGES ? 10 : 15;
	case ATW_T_PAGES:
		if (k->page_units && k->units == ATW_UNITS_BYTES)
			return 15;
		/* fall through */
	case ATW_T_COUNT:
	case ATW_T_CHANGE:
	case ATW_T_SECONDS:
	case ATW_T_LIST:
		return 8;
	case ATW_T_ENUM:
		return width_longest(c->names);
	case ATW_T_FLAGS:
		return WIDTH_FLAGS;
	case ATW_T_LETTERS:
		return c->names && c->names->letters ?
		       strlen(c->names->letters) : 0;
	case ATW_T_TEXT:
		return WIDTH_TEXT;
	}
	return 0;
}

static bool width_is_right(const struct cell *c)
{
	return c->type == ATW_T_BYTES || c->type == ATW_T_COUNT || c->type == ATW_T_PAGES ||
	       c->type == ATW_T_CHANGE || c->type == ATW_T_CHANGE_BYTES ||
	       c->type == ATW_T_SECONDS || c->type == ATW_T_LIST;
}

void width_choose(const struct atw_sink *k, struct cell *c)
{
	size_t head = strlen(c->col->key) + (c->col->rate ? 2 : 0);
	bool bytes = c->type == ATW_T_BYTES || c->type == ATW_T_CHANGE_BYTES;
	bool pages = c->type == ATW_T_PAGES && k->page_units && !k->ahead;

	c->right = width_is_right(c);
	c->width = c->col->width;
	/* The width of a column is that of its usual format. */
	if (!c->width || pages || (bytes && k->units != ATW_UNITS_HUMAN))
		c->width = width_type(k, c->col);
	if (c->width < head)
		c->width = head;
	if (c->width < c->widest)
		c->width = c->widest;
}

/* The offset of character `n`. */
static size_t width_char_at(const struct buf *b, size_t n)
{
	size_t i = 0;

	for (; i < b->len; i++)
		if ((b->data[i] & 0xc0) != 0x80 && !n--)
			break;
	return i;
}

/* Both ends of a path are significant, the last one more. */
static void width_leave_middle_out(struct buf *b)
{
	size_t width = text_width(b->data, b->len), head = (TEXT_MOST - 3) / 3;
	size_t from = width_char_at(b, head),
	       to = width_char_at(b, width - (TEXT_MOST - 3 - head));

	memcpy(b->data + from, "...", 3);
	memmove(b->data + from + 3, b->data + to, b->len - to + 1);
	b->len -= to - from - 3;
}

void width_text(const struct atw_sink *k, const struct cell *c, const char *s, struct buf *ret)
{
	text_plain(ret, *s ? s : "-");
	if (k->ahead && !c->last && c->type == ATW_T_TEXT && ret->data && !ret->failed &&
	    text_width(ret->data, ret->len) > TEXT_MOST)
		width_leave_middle_out(ret);
}

void width_measure(struct atw_sink *k, const struct atw_row *row)
{
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];
		struct buf clean = { 0 };
		char digits[40];
		size_t n = 3;

		if (!row_has(row, i) || (c->last && !width_is_right(c)))
			continue;
		switch (c->type) {
		case ATW_T_COUNT:
			n = dec_digits(row->v[i].u);
			break;
		case ATW_T_LIST:
			n = dec_digits(row->v[i].list->n);
			break;
		case ATW_T_PAGES:
			n = (size_t)(sink_pages(k, digits, row->v[i].u) - digits);
			break;
		case ATW_T_BYTES:
			n = (size_t)(sink_bytes(k, digits, row->v[i].u) - digits);
			break;
		case ATW_T_CHANGE:
		case ATW_T_CHANGE_BYTES:
			n = (size_t)(sink_change(k, c->type, digits, row->v[i].u) - digits);
			break;
		case ATW_T_SECONDS:
			n = (size_t)(put_seconds(digits, row->v[i].u) - digits);
			break;
		case ATW_T_TEXT:
			width_text(k, c, row->v[i].s ? row->v[i].s : "n/a", &clean);
			n = clean.data ? text_width(clean.data, clean.len) : 0;
			sink_check(k, &clean);
			buf_deinit(&clean);
			break;
		default:
			break;
		}
		if (n > c->widest)
			c->widest = n;
	}
}
