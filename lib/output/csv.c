/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv.c - CSV sink: RFC 4180 with a head line, and lines that end in LF. */
#include "output/sink.h"

static int csv_begin(struct atw_sink *k, const struct atw_schema *sc, struct atw_err *err)
{
	for (size_t i = 0; i < sc->ncols; i++) {
		if (i)
			writer_char(k->w, ',');
		writer_str(k->w, sc->col[i].key);
	}
	writer_char(k->w, '\n');
	return ATW_OK;
}

static void csv_put_words(struct atw_sink *k, struct cell *c, uint64_t u)
{
	if (!cell_has(c, u)) {
		const char *words = cell_words(c, u);

		if (*words)
			text_csv(&c->form->text, words);
	}
	writer_buf(k->w, &c->form->text);
}

/*
 * Spreadsheets evaluate a cell that begins with one of these characters, quoted or not.
 * An apostrophe in front makes it text. Texts that begin with apostrophes get one more,
 * so that removing one restores the text.
 */
static bool csv_is_formula(const char *s)
{
	s += strspn(s, "'");
	return *s && strchr("=+-@\t\r", *s);
}

static void csv_text(struct buf *b, const char *s)
{
	struct buf guarded = { 0 }, cell = { 0 };
	bool quotes;

	if (!csv_is_formula(s)) {
		text_csv(b, s);
		return;
	}
	buf_char(&guarded, '\'');
	buf_str(&guarded, s);
	text_csv(&cell, guarded.data ? guarded.data : "");
	quotes = cell.data && *cell.data != '"';
	if (quotes)
		buf_char(b, '"');
	buf_add(b, cell.data ? cell.data : "", cell.len);
	if (quotes)
		buf_char(b, '"');
	b->failed |= guarded.failed || cell.failed;
	buf_deinit(&guarded);
	buf_deinit(&cell);
}

static void csv_put_text(struct atw_sink *k, struct cell *c, const char *s)
{
	/* n/a is an empty field; the empty text is "". */
	if (!s)
		return;
	if (!cell_has_text(c, s))
		csv_text(&c->form->text, s);
	writer_buf(k->w, &c->form->text);
}

static int csv_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	struct writer *w = k->w;

	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];
		char *p = writer_room(w, 1 + NUMBER_MAX), *end = p + (i != 0);

		*p = ',';
		if (row_has(row, i))
			end = sink_exact(c->type, end, &row->v[i]);
		writer_advance(w, end ? end : p + (i != 0));
		if (!end && c->type == ATW_T_TEXT)
			csv_put_text(k, c, row->v[i].s);
		else if (!end)
			csv_put_words(k, c, row->v[i].u);
	}
	writer_char(w, '\n');
	return ATW_OK;
}

const struct atw_sink_ops sink_csv = {
	.name = "csv",
	.help = "comma-separated values (RFC 4180) with a head line",
	.apart = true,
	.begin = csv_begin,
	.row = csv_row,
};
