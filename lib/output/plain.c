/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.c - a table for people: a head line, then aligned columns, two blanks
 * between them and none at the end of a line.
 *
 * Rows stream, so widths are guesses: a value that is wider pushes the rest
 * of its line to the right and is never cut.
 */
#include "base/num.h"
#include "output/number.h"
#include "output/sink.h"
#include "output/text.h"

#define BOLD  "\033[1m"
#define RESET "\033[0m"

/* Wide enough for most of them; they are the ones that vary. */
#define WIDTH_FLAGS 24
#define WIDTH_TEXT  16

static size_t longest(const struct atw_names *nm)
{
	size_t max = 0;

	for (size_t i = 0; nm && nm->name && i < nm->n; i++)
		if (nm->name[i] && strlen(nm->name[i]) > max)
			max = strlen(nm->name[i]);
	return max;
}

static size_t type_width(const struct atw_sink *k, const struct atw_column *c)
{
	switch (c->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		return 18;
	case ATW_T_BYTES:
		return k->units == ATW_UNITS_HUMAN ? 7 :
		       k->units == ATW_UNITS_PAGES ? 10 : 15;
	case ATW_T_COUNT:
		return 8;
	case ATW_T_ENUM:
		return longest(c->names);
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

static void measure(const struct atw_sink *k, struct cell *c)
{
	size_t head = strlen(c->col->key);

	c->right = c->col->type == ATW_T_BYTES || c->col->type == ATW_T_COUNT;
	c->width = c->col->width;
	/* The column's own width is that of the usual form. */
	if (!c->width || (c->col->type == ATW_T_BYTES &&
			  k->units != ATW_UNITS_HUMAN))
		c->width = type_width(k, c->col);
	if (c->width < head)
		c->width = head;
}

static void blanks(struct writer *w, size_t n)
{
	while (n) {
		size_t part = n < WRITER_ROOM ? n : WRITER_ROOM;
		char *p = writer_room(w, part);

		memset(p, ' ', part);
		writer_advance(w, p + part);
		n -= part;
	}
}

/* One cell of a line, and the blanks around it; `width` is what it takes. */
static void put_cell(struct atw_sink *k, size_t i, const char *s, size_t len,
		     size_t width)
{
	const struct cell *c = &k->cell[i];
	size_t pad = width < c->width ? c->width - width : 0;

	if (c->right)
		blanks(k->w, pad);
	writer_put(k->w, s, len);
	if (i + 1 < k->sc->ncols)
		blanks(k->w, c->right ? 2 : pad + 2);
}

static int plain_begin(struct atw_sink *k, const struct atw_schema *sc,
		       struct atw_err *err)
{
	k->notes = true;
	if (k->color)
		writer_put(k->w, BOLD, strlen(BOLD));
	for (size_t i = 0; i < sc->ncols; i++) {
		struct buf head = { 0 };

		measure(k, &k->cell[i]);
		for (const char *s = sc->col[i].key; *s; s++)
			buf_char(&head, *s >= 'a' && *s <= 'z' ?
				 (char)(*s - ('a' - 'A')) : *s);
		if (head.failed) {
			buf_deinit(&head);
			return atw_err_set(err, ATW_E_NOMEM,
					   "not enough memory for the output");
		}
		put_cell(k, i, head.data ? head.data : "", head.len, head.len);
		buf_deinit(&head);
	}
	if (k->color)
		writer_put(k->w, RESET, strlen(RESET));
	writer_char(k->w, '\n');
	return ATW_OK;
}

static char *put_pages(char *p, uint64_t u, unsigned shift)
{
	uint64_t part = u & (((uint64_t)1 << shift) - 1);
	unsigned cents = (unsigned)(part * 100 >> shift);

	p = put_dec(p, u >> shift);
	if (!part)
		return p;
	/* What is not whole pages must not look as if it were. */
	if (!cents)
		cents = 1;
	*p++ = '.';
	*p++ = (char)('0' + cents / 10);
	*p++ = (char)('0' + cents % 10);
	return p;
}

static void put_form(struct atw_sink *k, size_t i)
{
	const struct cell *c = &k->cell[i];

	sink_check(k, &c->form);
	put_cell(k, i, c->form.data ? c->form.data : "", c->form.len,
		 c->form_width);
}

static void measure_form(struct cell *c)
{
	c->form_width = text_width(c->form.data ? c->form.data : "",
				   c->form.len);
}

static void put_bytes(struct atw_sink *k, size_t i, uint64_t u)
{
	struct cell *c = &k->cell[i];
	char digits[32], *end = digits;

	if (!cell_has(c, u)) {
		switch (k->units) {
		case ATW_UNITS_HUMAN:
			num_human(u, digits);
			end += strlen(digits);
			break;
		case ATW_UNITS_PAGES:
			end = put_pages(digits, u, k->page_shift);
			break;
		default:
			end = put_dec(digits, u);
			break;
		}
		buf_add(&c->form, digits, (size_t)(end - digits));
		measure_form(c);
	}
	put_form(k, i);
}

static void put_words(struct atw_sink *k, size_t i, uint64_t u)
{
	struct cell *c = &k->cell[i];

	if (!cell_has(c, u)) {
		const char *words = cell_words(c, u);

		text_plain(&c->form, *words ? words : "-");
		measure_form(c);
	}
	put_form(k, i);
}

static void put_text(struct atw_sink *k, size_t i, const char *s)
{
	struct cell *c = &k->cell[i];

	if (!cell_has_text(c, s)) {
		text_plain(&c->form, *s ? s : "-");
		measure_form(c);
	}
	put_form(k, i);
}

static void put_value(struct atw_sink *k, size_t i, const union atw_value *v)
{
	char digits[NUMBER_MAX], *end;

	switch (k->cell[i].col->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		put_hex(digits, v->u);
		put_cell(k, i, digits, 18, 18);
		break;
	case ATW_T_COUNT:
		end = put_dec(digits, v->u);
		put_cell(k, i, digits, (size_t)(end - digits),
			 (size_t)(end - digits));
		break;
	case ATW_T_BYTES:
		put_bytes(k, i, v->u);
		break;
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		put_words(k, i, v->u);
		break;
	case ATW_T_TEXT:
		put_text(k, i, v->s);
		break;
	}
}

static int plain_row(struct atw_sink *k, const struct atw_row *row,
		     struct atw_err *err)
{
	(void)err;
	for (size_t i = 0; i < k->sc->ncols; i++) {
		if (!row_has(row, i) ||
		    (k->sc->col[i].type == ATW_T_TEXT && !row->v[i].s))
			put_cell(k, i, "n/a", 3, 3);
		else
			put_value(k, i, &row->v[i]);
	}
	writer_char(k->w, '\n');
	return ATW_OK;
}

static int plain_end(struct atw_sink *k, struct atw_err *err)
{
	(void)k;
	(void)err;
	return ATW_OK;
}

const struct atw_sink_ops sink_plain = {
	.size = sizeof(sink_plain),
	.name = "plain",
	.help = "an aligned table with a head line",
	.begin = plain_begin,
	.row = plain_row,
	.end = plain_end,
};
