/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.c - plain text sink: a head line, then aligned columns separated by two blanks,
 * without blanks at the end of a line.
 *
 * Rows are streamed, so widths are estimates: a wider value shifts the rest of its line
 * to the right and is never cut. If the first rows are buffered, they are measured, and
 * columns are as wide as these need.
 */
#include "base/text.h"
#include "output/number.h"
#include "output/sink.h"
#include "output/width.h"

#define BOLD  "\033[1m"
#define RESET "\033[0m"

/*
 * A line is formatted in place. Blanks are written sixteen at a time, up to SPARE bytes
 * beyond the end; surplus blanks are overwritten by what follows.
 */
#define SPARE 32

struct plain_line {
	struct writer *w;
	char *p, *end;           /* p: next byte; end: of the buffer, less SPARE */
};

static void plain_line_begin(struct plain_line *l, struct writer *w)
{
	l->w = w;
	l->p = writer_room(w, WRITER_ROOM);
	l->end = l->p + WRITER_ROOM - SPARE;
}

static void plain_line_end(struct plain_line *l)
{
	writer_advance(l->w, l->p);
}

/* The line has room for n more, which is at most what plain_line_begin() reserves. */
static inline void plain_line_room(struct plain_line *l, size_t n)
{
	if ((size_t)(l->end - l->p) < n) {
		plain_line_end(l);
		plain_line_begin(l, l->w);
	}
}

static inline char *plain_blanks(char *p, size_t n)
{
	for (size_t i = 0; i < n; i += 16)
		memset(p + i, ' ', 16);
	return p + n;
}

/* Column widths are far below the available room, but a key may be longer. */
static inline void plain_line_blanks(struct plain_line *l, size_t n)
{
	for (size_t part; n; n -= part) {
		part = n < 1024 ? n : 1024;
		plain_line_room(l, part);
		l->p = plain_blanks(l->p, part);
	}
}

static inline void plain_line_text(struct plain_line *l, const char *s, size_t len)
{
	if (len > 1024) {
		plain_line_end(l);
		writer_put(l->w, s, len);
		plain_line_begin(l, l->w);
		return;
	}
	plain_line_room(l, len);
	memcpy(l->p, s, len);
	l->p += len;
}

/* The text of a cell with its blanks; `width` is that of the value. */
static void plain_pad(const struct atw_sink *k, size_t i, struct buf *b, const char *s,
		      size_t len, size_t width)
{
	const struct cell *c = &k->cell[i];
	size_t left = width < c->width ? c->width - width : 0;

	for (size_t n = c->right ? left : 0; n; n--)
		buf_char(b, ' ');
	buf_add(b, s, len);
	for (size_t n = c->last ? 0 : c->right ? 2 : left + 2; n; n--)
		buf_char(b, ' ');
}

/*
 * Numbers are formatted in place. An address always has 18 characters; a count is moved
 * to the right if it is shorter than its column.
 */
static inline void plain_put_address(struct plain_line *l, const struct cell *c,
				     uint64_t u)
{
	plain_line_room(l, 2 * SPARE);
	l->p = put_hex(l->p, u);
	if (!c->last)
		plain_line_blanks(l, c->width > 18 ? c->width - 18 + 2 : 2);
}

static inline void plain_put_count(struct plain_line *l, const struct cell *c, uint64_t u)
{
	unsigned len = dec_digits(u);

	if (c->width > len)
		plain_line_blanks(l, c->width - len);
	plain_line_room(l, 2 * SPARE);
	l->p = put_dec(l->p, u);
	if (!c->last)
		l->p = plain_blanks(l->p, 2);
}

static int plain_begin(struct atw_sink *k, const struct atw_schema *sc,
		       struct atw_err *err)
{
	struct buf line = { 0 };

	k->notes = true;
	for (size_t i = 0; i < sc->ncols; i++) {
		struct buf head = { 0 };

		width_choose(k, &k->cell[i]);
		for (const char *s = sc->col[i].key; *s; s++)
			buf_char(&head, *s >= 'a' && *s <= 'z' ?
				 (char)(*s - ('a' - 'A')) : *s);
		buf_str(&head, sc->col[i].rate ? "/s" : "");
		plain_pad(k, i, &line, head.data ? head.data : "", head.len, head.len);
		plain_pad(k, i, &k->cell[i].lead, "n/a", 3, 3);
		line.failed |= head.failed || k->cell[i].lead.failed;
		buf_deinit(&head);
	}
	if (line.failed) {
		buf_deinit(&line);
		return atw_err_nomem(err);
	}
	if (!k->bare) {
		if (k->color)
			writer_put(k->w, BOLD, strlen(BOLD));
		writer_put(k->w, line.data ? line.data : "", line.len);
		if (k->color)
			writer_put(k->w, RESET, strlen(RESET));
		writer_char(k->w, '\n');
	}
	buf_deinit(&line);
	return ATW_OK;
}

static void plain_form_bytes(struct atw_sink *k, size_t i, struct form *f, uint64_t u)
{
	char digits[32], *end = sink_bytes(k, digits, u);

	plain_pad(k, i, &f->text, digits, (size_t)(end - digits), (size_t)(end - digits));
}

static void plain_form_change(struct atw_sink *k, size_t i, struct form *f, uint64_t u)
{
	char digits[34], *end = sink_change(k, k->cell[i].type, digits, u);

	plain_pad(k, i, &f->text, digits, (size_t)(end - digits), (size_t)(end - digits));
}

static void plain_form_seconds(struct atw_sink *k, size_t i, struct form *f, uint64_t u)
{
	char digits[32], *end = put_seconds(digits, u);

	plain_pad(k, i, &f->text, digits, (size_t)(end - digits), (size_t)(end - digits));
}

static void plain_form_pages(struct atw_sink *k, size_t i, struct form *f, uint64_t u)
{
	char digits[34], *end = sink_pages(k, digits, u);

	plain_pad(k, i, &f->text, digits, (size_t)(end - digits), (size_t)(end - digits));
}

static void plain_form_text(struct atw_sink *k, size_t i, struct form *f, const char *s)
{
	struct buf clean = { 0 };
	const char *text;

	width_text(k, &k->cell[i], s, &clean);
	text = clean.data ? clean.data : "";
	plain_pad(k, i, &f->text, text, clean.len, text_width(text, clean.len));
	f->text.failed |= clean.failed;
	buf_deinit(&clean);
}

static inline void plain_put_value(struct atw_sink *k, struct plain_line *l, size_t i,
				   struct cell *c, union atw_value v)
{
	switch (c->type) {
	case ATW_T_VA:
	case ATW_T_PA:
	case ATW_T_HEX:
		plain_put_address(l, c, v.u);
		return;
	case ATW_T_COUNT:
		plain_put_count(l, c, v.u);
		return;
	case ATW_T_LIST:
		plain_put_count(l, c, v.list->n);
		return;
	case ATW_T_BYTES:
		if (!cell_has(c, v.u))
			plain_form_bytes(k, i, c->form, v.u);
		break;
	case ATW_T_PAGES:
		if (!k->page_units) {
			plain_put_count(l, c, v.u);
			return;
		}
		if (!cell_has(c, v.u))
			plain_form_pages(k, i, c->form, v.u);
		break;
	case ATW_T_SECONDS:
		if (!cell_has(c, v.u))
			plain_form_seconds(k, i, c->form, v.u);
		break;
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		if (!cell_has(c, v.u))
			plain_form_change(k, i, c->form, v.u);
		break;
	case ATW_T_ENUM:
	case ATW_T_FLAGS:
	case ATW_T_LETTERS:
		if (!cell_has(c, v.u))
			plain_form_text(k, i, c->form, cell_words(c, v.u));
		break;
	case ATW_T_TEXT:
		if (!cell_has_text(c, v.s))
			plain_form_text(k, i, c->form, v.s);
		break;
	}
	sink_check(k, &c->form->text);
	plain_line_text(l, c->form->text.data ? c->form->text.data : "",
			c->form->text.len);
}

static int plain_row(struct atw_sink *k, const struct atw_row *row,
		     struct atw_err *err)
{
	const size_t n = k->sc->ncols;
	const uint64_t have = row->have;
	struct plain_line l;

	(void)err;
	plain_line_begin(&l, k->w);
	for (size_t i = 0; i < n; i++) {
		struct cell *c = &k->cell[i];

		if (!(have >> i & 1) || (c->type == ATW_T_TEXT && !row->v[i].s))
			plain_line_text(&l, c->lead.data, c->lead.len);
		else
			plain_put_value(k, &l, i, c, row->v[i]);
	}
	plain_line_room(&l, 1);
	*l.p++ = '\n';
	plain_line_end(&l);
	return ATW_OK;
}

static int plain_sum(struct atw_sink *k, const struct atw_row *row, uint64_t blank,
		     struct atw_err *err)
{
	struct plain_line l;

	(void)err;
	plain_line_begin(&l, k->w);
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];

		if (blank >> i & 1)
			plain_line_blanks(&l, c->width + 2);
		else if (!row_has(row, i))
			plain_line_text(&l, c->lead.data, c->lead.len);
		else
			plain_put_value(k, &l, i, c, row->v[i]);
	}
	while (l.p > l.w->buf + l.w->len && l.p[-1] == ' ')
		l.p--;
	*l.p++ = '\n';
	plain_line_end(&l);
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
	.measure = width_measure,
	.sum = plain_sum,
};
