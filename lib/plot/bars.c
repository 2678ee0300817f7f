/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bars.c - stacked horizontal bars, one per thing, the largest on top. */
#include "base/text.h"
#include "plot/chart.h"

enum {
	MOST = 50,
	NAMES_MAX = 260, NAMES_MIN = 60, /* points for the names */
	NUMBERS = 132,                   /* for the sums on the right */
	FAR = 4,                         /* wide bars are drawn up to so many times as
					  * long as the others */
};

struct bars_row {
	size_t from, n;                  /* in the order; more than one: the rest,
					  * merged */
	uint64_t value[CHART_KEYS], wide[CHART_KEYS];
	uint64_t sum, wide_sum;
	const char *name, *link;
	char others[48];
};

struct bars_plan {
	const struct chart_bars *c;
	struct scene *s;
	struct axis axis;
	double x, width;                 /* of the bars */
	double y, pitch;                 /* of the first row; distance between rows */
	bool pairs;
};

struct bars_order {
	uint64_t sum, wide;
	size_t at;
};

static int bars_larger(const void *a, const void *b)
{
	const struct bars_order *x = a, *y = b;

	return ORDER(y->sum, x->sum) ?: ORDER(y->wide, x->wide) ?: ORDER(x->at, y->at);
}

/* The rows that are drawn. `ret` has room for c->most. */
static size_t bars_make_rows(const struct chart_bars *c, const struct bars_order *order,
			     size_t most, struct bars_row *row)
{
	size_t n = c->n > most ? most : c->n;

	for (size_t i = 0; i < n; i++) {
		struct bars_row *r = &row[i];

		r->from = i;
		r->n = i + 1 == n ? c->n - i : 1;
		for (size_t j = i; j < i + r->n; j++) {
			const struct chart_bar *b = &c->bar[order[j].at];

			for (size_t k = 0; k < c->nkeys; k++) {
				r->value[k] = chart_add(r->value[k], b->value[k]);
				if (b->wide)
					r->wide[k] = chart_add(r->wide[k], b->wide[k]);
			}
		}
		r->sum = chart_sum(r->value, c->nkeys);
		r->wide_sum = chart_sum(r->wide, c->nkeys);
		r->name = c->bar[order[i].at].name;
		r->link = c->bar[order[i].at].link;
		if (r->n > 1) {
			snprintf(r->others, sizeof(r->others), "%zu others", r->n);
			r->name = r->others;
			r->link = NULL;
		}
	}
	return n;
}

/*
 * The value that the axis must include; the merged rest and bars that are far wider than
 * the others may be cut.
 */
static uint64_t bars_reach(const struct bars_row *row, size_t n)
{
	uint64_t most = 0, wide = 0, far;

	for (size_t i = 0; i < n; i++) {
		if (row[i].n > 1 && n > 1)
			continue;
		most = MAX(most, row[i].sum);
		wide = MAX(wide, row[i].wide_sum);
	}
	if (!most)
		return wide;
	if (__builtin_mul_overflow(most, (uint64_t)FAR, &far))
		far = UINT64_MAX;
	return wide > far ? far : wide > most ? wide : most;
}

static double bars_scaled(const struct bars_plan *p, uint64_t v)
{
	return (double)v / (double)p->axis.top * p->width;
}

/* Two cuts through the end of a bar that exceeds the picture. */
static void bars_put_break(const struct bars_plan *p, double y, double h)
{
	for (unsigned i = 0; i < 2; i++) {
		double x = p->x + p->width - 14 + 6 * i;

		scene_line(p->s, x, y + h + 1, x + 4, y - 1, 2, SCENE_PAPER);
	}
}

/* Returns the right end. A bar that is cut keeps the proportions of its parts. */
static double bars_put(const struct bars_plan *p, const uint64_t *v, double y, double h,
		       bool pale)
{
	uint64_t sum = 0, total = chart_sum(v, p->c->nkeys);
	uint64_t whole = total > p->axis.top ? total : p->axis.top;

	for (size_t k = 0; k < p->c->nkeys; k++) {
		double from = (double)sum / (double)whole * p->width, to;

		sum = chart_add(sum, v[k]);
		to = (double)sum / (double)whole * p->width;
		/* A thin gap, so that similar adjacent colours can be distinguished. */
		if (to - from > 2 && sum < total)
			to -= 0.5;
		scene_rect(p->s, p->x + from, y, to - from, h,
			   pale ? palette_pale(p->c->key[k].color, 0.55)
				: p->c->key[k].color);
	}
	if (total <= p->axis.top)
		return p->x + bars_scaled(p, total);
	bars_put_break(p, y, h);
	return p->x + p->width;
}

/* "nginx: 283 pages of 4 KiB; stack 2, text 241" */
static void bars_emit(const struct chart_bars *c, const struct bars_row *r, struct buf *b)
{
	char text[AXIS_TEXT];

	for (unsigned w = 0; w < (r->wide_sum ? 2 : 1); w++) {
		const uint64_t *v = w ? r->wide : r->value;
		bool first = true;

		if (w)
			buf_str(b, " | ");
		else
			buf_printf(b, "%s: ", r->name);
		if (c->names[w])
			buf_printf(b, "%s ", c->names[w]);
		buf_printf(b, "%s %s", axis_number(c->head.unit, w ? r->wide_sum : r->sum, text),
			   c->head.of);
		for (size_t k = 0; k < c->nkeys; k++) {
			if (!v[k])
				continue;
			buf_printf(b, "%s%s %s", first ? " (" : ", ", c->key[k].name,
				   axis_number(c->head.unit, v[k], text));
			first = false;
		}
		if (!first)
			buf_char(b, ')');
	}
}

static void bars_put_row(const struct bars_plan *p, const struct bars_row *r, size_t i)
{
	double y = p->y + p->pitch * (double)i, h = p->pitch * (p->pairs ? 0.42 : 0.68);
	double end, base = y + p->pitch / 2 + 4;
	char sum[2 * AXIS_TEXT + 8], a[AXIS_TEXT], b[AXIS_TEXT];
	struct buf tip = { 0 };

	bars_emit(p->c, r, &tip);
	chart_group(p->s, &tip, r->link, 0);
	scene_fit(p->s, p->x - 8, base, SCENE_END, 11, 0,
		  r->n > 1 ? SCENE_SOFT : SCENE_INK, p->x - 8 - CHART_MARGIN, r->name);
	y += (p->pitch - h * (p->pairs ? 1.7 : 1)) / 2;
	end = bars_put(p, r->value, y, h, false);
	axis_number(p->axis.unit, r->sum, a);
	if (p->pairs) {
		double other = bars_put(p, r->wide, y + h + 1, h * 0.6, true);

		end = MAX(end, other);
		snprintf(sum, sizeof(sum), "%s of %s", a,
			 axis_number(p->axis.unit, r->wide_sum, b));
	} else {
		snprintf(sum, sizeof(sum), "%s", a);
	}
	/* Numbers that are too wide are shortened rather than cut. */
	if (font_width(sum, strlen(sum), 11, 0) > NUMBERS + CHART_MARGIN - 8)
		snprintf(sum, sizeof(sum), "%s", axis_text(p->axis.unit, r->sum, a));
	scene_text(p->s, end + 6, base, SCENE_START, 11, 0, SCENE_SOFT, sum);
	scene_end(p->s);
}

static void bars_put_axis(const struct bars_plan *p, size_t rows)
{
	double bottom = p->y + p->pitch * (double)rows;
	char text[AXIS_TEXT];

	for (uint64_t v = 0;; v += p->axis.step) {
		double x = p->x + bars_scaled(p, v);

		scene_line(p->s, x, p->y - 4, x, bottom, v ? 0.75 : 1.25,
			   v ? SCENE_RULE : SCENE_SOFT);
		scene_text(p->s, x, p->y - 9, SCENE_MIDDLE, 11, 0, SCENE_SOFT,
			   axis_text(p->axis.unit, v, text));
		if (p->axis.top - v < p->axis.step)
			break;
	}
}

static double bars_put_head(const struct chart_bars *c, struct scene *s, bool pairs,
			    size_t rows, size_t folded)
{
	struct buf below = { 0 };
	double y;

	buf_str(&below, c->head.of);
	if (pairs)
		buf_printf(&below, "; %s above, %s below and paler", c->names[0], c->names[1]);
	if (folded)
		buf_printf(&below, "; the %zu largest of %zu %s, %zu others in the last row",
			   rows - 1, c->n, c->head.things, folded);
	else
		buf_printf(&below, "; %zu %s, largest first", c->n, c->head.things);
	y = chart_head(s, c->head.title, &below);
	return chart_legend(s, CHART_MARGIN, y, CHART_WIDTH - 2 * CHART_MARGIN, c->key,
			    c->nkeys);
}

static double bars_names_width(const struct bars_row *row, size_t n)
{
	double most = NAMES_MIN;

	for (size_t i = 0; i < n; i++) {
		struct buf shown = { 0 };
		double w;

		/* An escaped byte is as wide as four letters. */
		text_plain(&shown, row[i].name);
		w = font_width(shown.data ? shown.data : "", shown.len, 11, 0);
		most = MAX(most, w);
		buf_deinit(&shown);
	}
	return most > NAMES_MAX ? NAMES_MAX : most;
}

static int bars_draw(const struct chart_bars *c, struct scene *s, struct atw_err *err)
{
	size_t most = c->most ? c->most : MOST, n;
	_auto_free struct bars_order *order = calloc(c->n + 1, sizeof(*order));
	_auto_free struct bars_row *row = calloc(most, sizeof(*row));
	struct bars_plan p = {.c = c, .s = s};

	if (!order || !row)
		return atw_err_nomem(err);
	for (size_t i = 0; i < c->n; i++) {
		order[i] = (struct bars_order){chart_sum(c->bar[i].value, c->nkeys),
					       chart_sum(c->bar[i].wide, c->nkeys), i};
		p.pairs |= c->bar[i].wide != NULL;
	}
	qsort(order, c->n, sizeof(*order), bars_larger);
	n = bars_make_rows(c, order, most, row);
	scene_size(s, CHART_WIDTH, 100);
	p.y = bars_put_head(c, s, p.pairs, n, c->n > n ? row[n - 1].n : 0) + 20;
	p.pitch = p.pairs ? 26 : n > 20 ? 17 : 22;
	p.x = CHART_MARGIN + bars_names_width(row, n) + 10;
	p.width = CHART_WIDTH - CHART_MARGIN - NUMBERS - p.x;
	axis_choose(c->head.unit, bars_reach(row, n), 6, &p.axis);
	bars_put_axis(&p, n);
	for (size_t i = 0; i < n; i++)
		bars_put_row(&p, &row[i], i);
	scene_size(s, CHART_WIDTH, p.y + p.pitch * (double)n + CHART_MARGIN);
	return scene_done(s, err);
}

int chart_bars(const struct chart_bars *c, struct scene *s, struct atw_err *err)
{
	if (c->nkeys > CHART_KEYS)
		return atw_err_set(err, ATW_E_LIMIT, "a bar has at most %d parts", CHART_KEYS);
	return bars_draw(c, s, err);
}
