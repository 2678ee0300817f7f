/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain.c - plain text sink: a head line, then aligned columns separated by two blanks,
 * without blanks at the end of a line.
 *
 * Rows are streamed, so widths are estimates: a wider value shifts the rest of its line
 * to the right and is never cut. If the first rows are buffered, they are measured, and
 * columns are as wide as these need.
 */
#include "base/cleanup.h"
#include "base/num.h"
#include "output/sink.h"

/* ---- widths of columns ---- */

/* Sufficient for most texts; their lengths vary. */
#define WIDTH_FLAGS 24
#define WIDTH_TEXT  16
/* If rows are measured, longer texts are shortened in their middle. */
#define TEXT_MOST   64

static size_t plain_longest(const struct atw_names *nm)
{
	size_t max = 0;

	for (size_t i = 0; nm && nm->name && i < nm->n; i++)
		if (nm->name[i] && strlen(nm->name[i]) > max)
			max = strlen(nm->name[i]);
	return max;
}

static size_t plain_type_width(const struct atw_sink *k, const struct atw_column *c)
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
	case ATW_T_TIME:
		return 27;
	case ATW_T_ENUM:
		return plain_longest(c->names);
	case ATW_T_FLAGS:
		return WIDTH_FLAGS;
	case ATW_T_LETTERS:
		return c->names && c->names->letters ? strlen(c->names->letters) : 0;
	case ATW_T_TEXT:
		return WIDTH_TEXT;
	}
	return 0;
}

/* At the start of the table: by type, head and measured rows. */
static void plain_choose_width(const struct atw_sink *k, struct cell *c)
{
	size_t head = strlen(c->col->key) + (c->col->rate ? 2 : 0);
	bool bytes = c->type == ATW_T_BYTES || c->type == ATW_T_CHANGE_BYTES;
	bool pages = c->type == ATW_T_PAGES && k->page_units && !k->ahead;

	c->right = sink_is_number(c->type);
	c->width = c->col->width;
	/* The width of a column is that of its usual format. */
	if (!c->width || pages || (bytes && k->units != ATW_UNITS_HUMAN))
		c->width = plain_type_width(k, c->col);
	c->width = MAX(c->width, head);
	c->width = MAX(c->width, c->widest);
}

/* The offset of character `n`. */
static size_t plain_char_at(const struct buf *b, size_t n)
{
	size_t i = 0;

	for (; i < b->len; i++)
		if ((b->data[i] & 0xc0) != 0x80 && !n--)
			break;
	return i;
}

static size_t plain_chars(const struct buf *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += (b->data[i] & 0xc0) != 0x80;
	return n;
}

/* Both ends of a path are significant, the last one more. */
static void plain_leave_middle_out(struct buf *b)
{
	size_t n = plain_chars(b), head = (TEXT_MOST - 3) / 3;
	size_t from = plain_char_at(b, head),
	       to = plain_char_at(b, n - (TEXT_MOST - 3 - head));

	memcpy(b->data + from, "...", 3);
	memmove(b->data + from + 3, b->data + to, b->len - to + 1);
	b->len -= to - from - 3;
}

/* A text as shown: escaped and, if rows are measured, shortened. */
static void plain_text(const struct atw_sink *k, const struct cell *c, const char *s,
		       struct buf *ret)
{
	union atw_value size;
	char digits[40] = "";

	if (c->col->sizes && num_dec(s, strlen(s), &size.u)) {
		*sink_plain_number(k, ATW_T_BYTES, digits, &size) = '\0';
		text_plain(ret, digits);
	} else {
		text_plain(ret, *s ? s : "-");
	}
	if (k->ahead && !c->last && c->type == ATW_T_TEXT && ret->data && !ret->failed &&
	    plain_chars(ret) > TEXT_MOST)
		plain_leave_middle_out(ret);
}

/* Measures a row before the table starts. */
static void plain_measure(struct atw_sink *k, const struct atw_row *row)
{
	for (size_t i = 0; i < k->sc->ncols; i++) {
		struct cell *c = &k->cell[i];
		struct buf clean = { 0 };
		char digits[40];
		size_t n = 3;

		if (!row_has(row, i) || (c->last && !sink_is_number(c->type)))
			continue;
		if (sink_is_number(c->type)) {
			n = (size_t)(sink_plain_number(k, c->type, digits, &row->v[i]) - digits);
		} else if (c->type == ATW_T_TEXT) {
			plain_text(k, c, row->v[i].s ? row->v[i].s : "n/a", &clean);
			n = clean.data ? text_width(clean.data, clean.len) : 0;
			writer_check(k->w, &clean);
			buf_deinit(&clean);
		} else {
			const char *words = cell_words(c, row->v[i].u);

			n = text_width(words, strlen(words));
		}
		c->widest = MAX(c->widest, n);
	}
}

/* ---- lines ---- */

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

		plain_choose_width(k, &k->cell[i]);
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

static void plain_form_number(struct atw_sink *k, size_t i, struct form *f, union atw_value v)
{
	char digits[40], *end = sink_plain_number(k, k->cell[i].type, digits, &v);

	plain_pad(k, i, &f->text, digits, (size_t)(end - digits), (size_t)(end - digits));
}

static void plain_form_text(struct atw_sink *k, size_t i, struct form *f, const char *s)
{
	struct buf clean = { 0 };
	const char *text;

	plain_text(k, &k->cell[i], s, &clean);
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
	case ATW_T_PAGES:
		if (!k->page_units) {
			plain_put_count(l, c, v.u);
			return;
		}
		/* fall through */
	case ATW_T_BYTES:
	case ATW_T_SECONDS:
	case ATW_T_TIME:
	case ATW_T_CHANGE:
	case ATW_T_CHANGE_BYTES:
		if (!cell_has(c, v.u))
			plain_form_number(k, i, c->form, v);
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
	writer_check(k->w, &c->form->text);
	plain_line_text(l, c->form->text.data ? c->form->text.data : "",
			c->form->text.len);
}

static int plain_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	const size_t n = k->sc->ncols;
	const uint64_t have = row->have;
	struct plain_line l;

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

const struct atw_sink_ops sink_plain = {
	.name = "plain",
	.help = "an aligned table with a head line",
	.apart = true,
	.begin = plain_begin,
	.row = plain_row,
	.measure = plain_measure,
	.sum = plain_sum,
};
