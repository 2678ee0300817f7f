/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - rows as JSON objects: one array of them, a line each, "[]" when there are
 * none; or jsonl, an object on each line, which streams and can be cut anywhere.
 */
#include "output/sink.h"

static void json_put_key(struct buf *b, size_t i, const char *key)
{
	buf_char(b, i ? ',' : '{');
	text_json(b, key);
	buf_char(b, ':');
}

/* Write the keys once; each row only copies them. */
static int json_lines_begin(struct atw_sink *k, const struct atw_schema *sc,
			    struct atw_err *err)
{
	for (size_t i = 0; i < sc->ncols; i++) {
		struct buf *lead = &k->cell[i].lead;

		json_put_key(lead, i, sc->col[i].key);
		/* The keys of a list's objects, each with a zero behind. */
		for (size_t j = 0; sc->col[i].of && j < sc->col[i].of->ncols; j++) {
			json_put_key(&k->cell[i].raw, j, sc->col[i].of->col[j].key);
			buf_char(&k->cell[i].raw, '\0');
			lead->failed |= k->cell[i].raw.failed;
		}
		if (lead->failed)
			return atw_err_nomem(err);
	}
	return ATW_OK;
}

static void json_list(struct buf *b, const struct atw_column *col, uint64_t u)
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

static void json_put_words(struct atw_sink *k, struct cell *c, uint64_t u)
{
	if (!cell_has(c, u)) {
		if (c->col->type == ATW_T_FLAGS)
			json_list(&c->form->text, c->col, u);
		else
			text_json(&c->form->text, cell_words(c, u));
	}
	writer_buf(k->w, &c->form->text);
}

/* false: it is no number. */
static bool json_put_number(struct atw_sink *k, enum atw_type type, const union atw_value *v)
{
	bool quotes = sink_is_hex(type) || type == ATW_T_TIME;
	char *p = writer_room(k->w, NUMBER_MAX + 2), *end = sink_exact(type, p + quotes, v);

	if (!end)
		return false;
	if (quotes)
		*p = *end++ = '"';
	writer_advance(k->w, end);
	return true;
}

static void json_put_list(struct atw_sink *k, const struct cell *c,
			    const struct atw_list *l)
{
	const struct atw_schema *of = c->col->of;
	const union atw_value *v = l->v;

	writer_char(k->w, '[');
	for (size_t i = 0; i < l->n; i++) {
		const char *key = c->raw.data;

		if (i)
			writer_char(k->w, ',');
		for (size_t j = 0; j < of->ncols; j++, v++) {
			size_t len = strlen(key);

			writer_put(k->w, key, len);
			key += len + 1;
			if (!(l->have[i] >> j & 1) ||
			    !json_put_number(k, of->col[j].type, v))
				writer_put(k->w, "null", 4);
		}
		writer_char(k->w, '}');
	}
	writer_char(k->w, ']');
}

static void json_put_value(struct atw_sink *k, struct cell *c, const union atw_value *v)
{
	switch (c->col->type) {
	case ATW_T_LIST:
		json_put_list(k, c, v->list);
		break;
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		json_put_words(k, c, v->u);
		break;
	case ATW_T_TEXT:
		if (!cell_has_text(c, v->s))
			text_json(&c->form->text, v->s);
		writer_buf(k->w, &c->form->text);
		break;
	default:
		json_put_number(k, c->col->type, v);
		break;
	}
}

/* {"address":"0x0000000000001000","size":4096}; keys in column order. */
static void json_put_object(struct atw_sink *k, const struct atw_row *row)
{
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];

		writer_buf(k->w, &c->lead);
		if (!row_has(row, i) || (c->col->type == ATW_T_TEXT && !row->v[i].s))
			writer_put(k->w, "null", 4);
		else
			json_put_value(k, c, &row->v[i]);
	}
	writer_char(k->w, '}');
}

/* ---- an array ---- */

static int json_array_begin(struct atw_sink *k, const struct atw_schema *sc,
			    struct atw_err *err)
{
	writer_char(k->w, '[');
	return json_lines_begin(k, sc, err);
}

static int json_array_row(struct atw_sink *k, const struct atw_row *row,
			  struct atw_err *err)
{
	if (k->rows)
		writer_char(k->w, ',');
	writer_char(k->w, '\n');
	json_put_object(k, row);
	return ATW_OK;
}

static int json_array_end(struct atw_sink *k, struct atw_err *err)
{
	if (k->rows)
		writer_char(k->w, '\n');
	writer_put(k->w, "]\n", 2);
	return ATW_OK;
}

const struct atw_sink_ops sink_json = {
	.name = "json",
	.help = "one JSON array of objects",
	.apart = true,
	.begin = json_array_begin,
	.row = json_array_row,
	.end = json_array_end,
};

/* ---- lines ---- */

static int json_lines_row(struct atw_sink *k, const struct atw_row *row,
			  struct atw_err *err)
{
	json_put_object(k, row);
	writer_char(k->w, '\n');
	return ATW_OK;
}

const struct atw_sink_ops sink_jsonl = {
	.name = "jsonl",
	.help = "one JSON object a line",
	.apart = true,
	.begin = json_lines_begin,
	.row = json_lines_row,
};
