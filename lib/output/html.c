/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * html.c - HTML sink: rows as a table of a page.
 *
 * A browser needs seconds to create tens of thousands of rows. Only the first HTML_FIRST
 * are elements, for readers without scripts. All rows follow as text in a <script> of
 * type text/plain, and html_table.c shows those in sight.
 *
 * That text is blocks of up to HTML_BLOCK rows: a line with the number of rows, then a
 * line for each column, with tabs between its fields. An empty field repeats the one
 * before it, "!" is n/a, and "=" precedes a text that is empty or begins with either
 * character. A number is followed by a blank and its plain form if they differ. Texts are
 * escaped as in elements, so that HTML and XML parsers read the same names.
 */
#include <inttypes.h>
#include <stdio.h>

#include "output/html_page.h"

enum {
	HTML_FIRST = 100,        /* rows that are elements */
	HTML_BLOCK = 512,
	HTML_ROWS = 100000,      /* more would take seconds to open and to sort */
};

static bool html_is_word(enum atw_type type)
{
	return sink_is_hex(type) || type == ATW_T_LETTERS;
}

/* ---- rows as text ---- */

/* A value in a page. `value`: the sort key of a number, else NULL. */
struct html_cell {
	const char *text, *value;
	size_t len, value_len;
	char digits[40], human[40];
};

static void html_add_field(struct cell *c, const struct html_cell *t)
{
	struct buf *b = &c->lead;
	bool first = !b->len;
	size_t at;

	if (!first)
		buf_char(b, '\t');
	at = b->len;
	if (!t) {
		buf_char(b, '!');
	} else if (t->value) {
		buf_add(b, t->value, t->value_len);
		if (t->len != t->value_len || memcmp(t->text, t->value, t->len) != 0) {
			buf_char(b, ' ');
			buf_add(b, t->text, t->len);
		}
	} else {
		if (!t->len || *t->text == '!' || *t->text == '=')
			buf_char(b, '=');
		buf_add(b, t->text, t->len);
	}
	if (b->failed)
		return;
	if (!first && b->len - at == c->field_len &&
	    !memcmp(b->data + at, b->data + c->field, c->field_len)) {
		b->len = at;
		return;
	}
	c->field = at;
	c->field_len = b->len - at;
}

/* The preceding rows that are elements. */
static uint64_t html_rows(const struct atw_sink *k)
{
	return k->rows < HTML_ROWS ? k->rows : HTML_ROWS;
}

/* The rows since the last block. The first block ends the table's elements. */
static void html_put_block(struct atw_sink *k)
{
	uint64_t n = html_rows(k);
	char digits[24];

	if (n <= HTML_BLOCK)
		writer_str(k->w, "</tbody></table></div>\n<script type=\"text/plain\" "
			    "class=\"rows\">\n");
	writer_put(k->w, digits, (size_t)(put_dec(digits, (n - 1) % HTML_BLOCK + 1) - digits));
	writer_char(k->w, '\n');
	for (size_t i = 0; i < k->sc->ncols; i++) {
		writer_buf(k->w, &k->cell[i].lead);
		writer_char(k->w, '\n');
		k->cell[i].lead.len = 0;
	}
}

static void html_end_rows(struct atw_sink *k)
{
	struct buf b = { 0 };
	uint64_t n = html_rows(k);

	if (n <= HTML_FIRST) {
		writer_str(k->w, "</tbody></table></div>\n");
		return;
	}
	html_put_block(k);
	writer_str(k->w, "</script>\n");
	buf_printf(&b, "<noscript><p class=\"cut\">These are the first %d of %" PRIu64 " rows. "
		   "This page shows more of them with scripts enabled; CSV and JSON "
		   "output has all.</p></noscript>\n", HTML_FIRST, k->rows);
	if (k->rows > n)
		buf_printf(&b, "<p class=\"cut\">This page has the first %" PRIu64 " of %" PRIu64
			   " rows. CSV and JSON output has all; a filter or another "
			   "order chooses others.</p>\n", n, k->rows);
	writer_buf(k->w, &b);
	buf_deinit(&b);
}

/* Lines are escaped one by one, because text_xml() escapes line ends. */
static void html_put_notes(struct atw_sink *k, const char *text)
{
	html_end_rows(k);
	writer_str(k->w, "<pre class=\"notes\">");
	while (*text) {
		size_t len = strcspn(text, "\n\t");
		struct buf line = { 0 }, b = { 0 };

		buf_add(&line, text, len);
		text_xml(&b, line.data ? line.data : "");
		writer_check(k->w, &line);
		writer_buf(k->w, &b);
		text += len;
		if (*text)
			writer_char(k->w, *text++);
		buf_deinit(&line);
		buf_deinit(&b);
	}
	writer_str(k->w, "</pre>\n");
	/* The table is closed here, so end() does not close it. */
	k->put_notes = NULL;
}

static int html_table_begin(struct atw_sink *k, const struct atw_schema *sc,
			    struct atw_err *err)
{
	struct buf b = { 0 };

	k->notes = true;
	k->put_notes = html_put_notes;
	buf_str(&b, "<div class=\"scroll\"><table>\n<thead><tr>");
	for (size_t i = 0; i < sc->ncols; i++) {
		const struct atw_column *c = &sc->col[i];

		buf_str(&b, sink_is_number(c->type) ? "<th scope=\"col\" class=\"n\""
			    : html_is_word(c->type) ? "<th scope=\"col\" class=\"x\""
						    : "<th scope=\"col\"");
		if (c->help) {
			buf_str(&b, " title=\"");
			text_xml(&b, c->help);
			buf_char(&b, '"');
		}
		buf_char(&b, '>');
		text_xml(&b, c->key);
		buf_str(&b, c->rate ? "/s</th>" : "</th>");
	}
	buf_str(&b, "</tr></thead>\n<tbody>\n");
	writer_buf(k->w, &b);
	buf_deinit(&b);
	return ATW_OK;
}

/* ---- values ---- */

static void html_value(struct atw_sink *k, struct cell *c, const union atw_value *v,
		       struct html_cell *t)
{
	char *end = sink_exact(c->type, t->digits, v);

	t->value = NULL;
	if (end) {
		t->text = t->digits;
		t->len = (size_t)(end - t->digits);
		if (!sink_is_number(c->type))
			return;
		t->value = t->digits;
		t->value_len = t->len;
		t->text = t->human;
		t->len = (size_t)(sink_plain_number(k, c->type, t->human, v) - t->human);
		return;
	}
	if (c->type != ATW_T_TEXT) {
		if (!cell_has(c, v->u))
			text_xml(&c->form->text, cell_words(c, v->u));
	} else if (!cell_has_text(c, v->s)) {
		text_xml(&c->form->text, v->s);
	}
	writer_check(k->w, &c->form->text);
	t->text = c->form->text.data ? c->form->text.data : "";
	t->len = c->form->text.len;
}

/* `t` NULL: n/a. */
static void html_put_cell(struct atw_sink *k, const struct cell *c, const struct html_cell *t)
{
	if (!t) {
		writer_str(k->w, sink_is_number(c->type) ? "<td class=\"n na\">n/a"
						    : "<td class=\"na\">n/a");
	} else {
		if (t->value) {
			writer_str(k->w, "<td class=\"n\" data-v=\"");
			writer_put(k->w, t->value, t->value_len);
			writer_str(k->w, "\">");
		} else {
			writer_str(k->w, html_is_word(c->type) ? "<td class=\"x\">" : "<td>");
		}
		writer_put(k->w, t->text, t->len);
	}
	writer_str(k->w, "</td>");
}

static int html_table_row(struct atw_sink *k, const struct atw_row *row,
			  struct atw_err *err)
{
	bool first = k->rows < HTML_FIRST;

	if (k->rows >= HTML_ROWS)
		return ATW_OK;
	if (k->rows && k->rows % HTML_BLOCK == 0)
		html_put_block(k);
	if (first)
		writer_str(k->w, "<tr>");
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];
		struct html_cell t, *known = NULL;

		if (row_has(row, i) && (c->type != ATW_T_TEXT || row->v[i].s)) {
			html_value(k, c, &row->v[i], &t);
			known = &t;
		}
		html_add_field(c, known);
		if (first)
			html_put_cell(k, c, known);
	}
	if (first)
		writer_str(k->w, "</tr>\n");
	return ATW_OK;
}

static int html_table_end(struct atw_sink *k, struct atw_err *err)
{
	if (k->put_notes)
		html_end_rows(k);
	return ATW_OK;
}

static int html_document_begin(struct atw_sink *k, const struct atw_schema *sc,
			       struct atw_err *err)
{
	char title[80];

	snprintf(title, sizeof(title), "atwalk %s", sc->name);
	html_page_begin(k->w, title);
	return html_table_begin(k, sc, err);
}

static int html_document_end(struct atw_sink *k, struct atw_err *err)
{
	html_table_end(k, err);
	html_page_end(k->w);
	return ATW_OK;
}

const struct atw_sink_ops sink_html_table = {
	.name = "html",
	.help = "a table of a page",
	.begin = html_table_begin,
	.row = html_table_row,
	.end = html_table_end,
};

const struct atw_sink_ops sink_html = {
	.name = "html",
	.help = "a page with a table that can be sorted and filtered",
	.begin = html_document_begin,
	.row = html_table_row,
	.end = html_document_end,
};
