/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/object.h"

#include "base/text.h"
#include "output/number.h"

int object_begin(struct atw_sink *k, struct atw_err *err)
{
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct buf *lead = &k->cell[i].lead;

		buf_char(lead, i ? ',' : '{');
		text_json(lead, k->sc->col[i].key);
		buf_char(lead, ':');
		if (lead->failed)
			return atw_err_set(err, ATW_E_NOMEM,
					   "not enough memory for the output");
	}
	return ATW_OK;
}

static void list_json(struct buf *b, const struct atw_column *col, uint64_t u)
{
	const char *word;
	char number[24], before = '[';

	if (!u)
		buf_char(b, '[');
	while (words_next(col, &u, number, &word)) {
		buf_char(b, before);
		text_json(b, word);
		before = ',';
	}
	buf_char(b, ']');
}

static void put_words(struct atw_sink *k, struct cell *c, uint64_t u)
{
	if (!cell_has(c, u)) {
		if (c->col->type == ATW_T_FLAGS)
			list_json(&c->form->text, c->col, u);
		else
			text_json(&c->form->text, cell_words(c, u));
	}
	sink_put(k, &c->form->text);
}

static void put_value(struct atw_sink *k, struct cell *c,
		      const union atw_value *v)
{
	char *p;

	switch (c->col->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		p = writer_room(k->w, NUMBER_MAX + 2);
		*p++ = '"';
		p = put_hex(p, v->u);
		*p++ = '"';
		writer_advance(k->w, p);
		break;
	case ATW_T_BYTES:
	case ATW_T_COUNT:
	case ATW_T_PAGES:
		p = writer_room(k->w, NUMBER_MAX);
		writer_advance(k->w, put_dec(p, v->u));
		break;
	case ATW_T_SECONDS:
		p = writer_room(k->w, NUMBER_MAX);
		writer_advance(k->w, put_seconds(p, v->u));
		break;
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		p = writer_room(k->w, NUMBER_MAX);
		writer_advance(k->w, put_signed(p, v->u));
		break;
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		put_words(k, c, v->u);
		break;
	case ATW_T_TEXT:
		if (!cell_has_text(c, v->s))
			text_json(&c->form->text, v->s);
		sink_put(k, &c->form->text);
		break;
	}
}

void object_put(struct atw_sink *k, const struct atw_row *row)
{
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];

		sink_put(k, &c->lead);
		if (!row_has(row, i) ||
		    (c->col->type == ATW_T_TEXT && !row->v[i].s))
			writer_put(k->w, "null", 4);
		else
			put_value(k, c, &row->v[i]);
	}
	writer_char(k->w, '}');
}
