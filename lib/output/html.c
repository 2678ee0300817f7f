/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.c - rows as a table of a page. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "output/html_page.h"
#include "output/number.h"

/* More of them no browser shows, sorts and filters while somebody waits. */
enum { HTML_ROWS = 50000 };

static bool is_number(enum atw_type type)
{
	return type == ATW_T_BYTES || type == ATW_T_COUNT || type == ATW_T_PAGES ||
	       type == ATW_T_SECONDS || type == ATW_T_LIST ||
	       type == ATW_T_CHANGE || type == ATW_T_CHANGE_BYTES;
}

static bool is_word(enum atw_type type)
{
	return type == ATW_T_VA || type == ATW_T_PA || type == ATW_T_HEX ||
	       type == ATW_T_LETTERS;
}

static void put(struct atw_sink *k, const char *s)
{
	writer_put(k->w, s, strlen(s));
}

static void end_rows(struct atw_sink *k)
{
	struct buf b = { 0 };

	put(k, "</tbody></table></div>\n");
	if (k->rows <= HTML_ROWS)
		return;
	buf_printf(&b, "<p class=\"cut\">These are the first %d of %" PRIu64 " rows, for a page has "
		   "no more of a table. All are in --format csv and json; --filter and "
		   "--sort choose others.</p>\n", HTML_ROWS, k->rows);
	sink_put(k, &b);
	buf_deinit(&b);
}

/* Each line of the notes is escaped by itself: text_xml() takes line ends for harm. */
static void put_notes(struct atw_sink *k, const char *text)
{
	end_rows(k);
	put(k, "<pre class=\"notes\">");
	while (*text) {
		size_t len = strcspn(text, "\n\t");
		struct buf line = { 0 }, b = { 0 };

		buf_add(&line, text, len);
		text_xml(&b, line.data ? line.data : "");
		sink_check(k, &line);
		sink_put(k, &b);
		text += len;
		if (*text)
			writer_char(k->w, *text++);
		buf_deinit(&line);
		buf_deinit(&b);
	}
	put(k, "</pre>\n");
	/* The table is closed, and end() need not do so. */
	k->put_notes = NULL;
}

static int table_begin(struct atw_sink *k, const struct atw_schema *sc, struct atw_err *err)
{
	struct buf b = { 0 };

	(void)err;
	k->notes = true;
	k->put_notes = put_notes;
	buf_str(&b, "<div class=\"scroll\"><table>\n<thead><tr>");
	for (size_t i = 0; i < sc->ncols; i++) {
		const struct atw_column *c = &sc->col[i];

		buf_str(&b, is_number(c->type) ? "<th scope=\"col\" class=\"n\""
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
	sink_put(k, &b);
	buf_deinit(&b);
	return ATW_OK;
}

static void put_number(struct atw_sink *k, const struct cell *c, uint64_t u)
{
	char text[40], *end;

	put(k, "<td class=\"n\" data-v=\"");
	end = c->type == ATW_T_CHANGE || c->type == ATW_T_CHANGE_BYTES ? put_signed(text, u) :
	      c->type == ATW_T_SECONDS ? put_seconds(text, u) : put_dec(text, u);
	writer_put(k->w, text, (size_t)(end - text));
	put(k, "\">");
	switch (c->type) {
	case ATW_T_BYTES:
		end = sink_bytes(k, text, u);
		break;
	case ATW_T_PAGES:
		end = sink_pages(k, text, u);
		break;
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		end = sink_change(k, c->type, text, u);
		break;
	default:
		break;
	}
	writer_put(k->w, text, (size_t)(end - text));
}

static void put_value(struct atw_sink *k, struct cell *c, const union atw_value *v)
{
	char text[NUMBER_MAX];

	if (is_number(c->type)) {
		put_number(k, c, c->type == ATW_T_LIST ? v->list->n : v->u);
		return;
	}
	put(k, is_word(c->type) ? "<td class=\"x\">" : "<td>");
	switch (c->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		writer_put(k->w, text, (size_t)(put_hex(text, v->u) - text));
		return;
	case ATW_T_TEXT:
		if (!cell_has_text(c, v->s))
			text_xml(&c->form->text, v->s);
		break;
	default:
		if (!cell_has(c, v->u))
			text_xml(&c->form->text, cell_words(c, v->u));
		break;
	}
	sink_put(k, &c->form->text);
}

static int table_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	(void)err;
	if (k->rows >= HTML_ROWS)
		return ATW_OK;
	put(k, "<tr>");
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];

		if (!row_has(row, i) || (c->type == ATW_T_TEXT && !row->v[i].s))
			put(k, is_number(c->type) ? "<td class=\"n na\">n/a"
						  : "<td class=\"na\">n/a");
		else
			put_value(k, c, &row->v[i]);
		put(k, "</td>");
	}
	put(k, "</tr>\n");
	return ATW_OK;
}

static int table_end(struct atw_sink *k, struct atw_err *err)
{
	(void)err;
	if (k->put_notes)
		end_rows(k);
	return ATW_OK;
}

static int page_begin(struct atw_sink *k, const struct atw_schema *sc, struct atw_err *err)
{
	char title[80];

	snprintf(title, sizeof(title), "atwalk %s", sc->name);
	html_page_begin(k->w, title);
	return table_begin(k, sc, err);
}

static int page_end(struct atw_sink *k, struct atw_err *err)
{
	table_end(k, err);
	html_page_end(k->w);
	return ATW_OK;
}

const struct atw_sink_ops sink_html_table = {
	.size = sizeof(sink_html_table),
	.name = "html",
	.help = "a table of a page",
	.begin = table_begin,
	.row = table_row,
	.end = table_end,
};

const struct atw_sink_ops sink_html = {
	.size = sizeof(sink_html),
	.name = "html",
	.help = "a page with a table that can be sorted and filtered",
	.begin = page_begin,
	.row = table_row,
	.end = page_end,
};
