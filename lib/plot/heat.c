/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat.c - heat map with logarithmic colours: in most tables that are drawn, a few cells
 * have nearly all of the sum.
 */
#include "plot/chart.h"

enum {
	ROWS = 40, COLUMNS = 48,
	NAMES = 200,                     /* points for the names of rows */
	ROW = 17,                        /* height */
	COLUMN_MAX = 44,                 /* width */
	LIST = 3, LIST_PITCH = 15,       /* columns of the list of names below, and its
					  * line height */
};

/* One axis: things by weight; those that do not fit are merged into the last place. */
struct side {
	size_t *to;                      /* place of a thing */
	size_t *of;                      /* thing at a place */
	uint64_t *sum;
	size_t shown, rest;              /* rest: things in the last place; 1: not
					  * merged */
};

struct heat_plan {
	const struct chart_heat *c;
	struct scene *s;
	struct side row, col;
	uint64_t *value;                 /* row.shown times col.shown */
	uint64_t most;
	double x, y, cell;
};

static void heat_free_side(struct side *d)
{
	free(d->to);
	free(d->of);
	free(d->sum);
}

/* Things without any value are not shown. */
static bool heat_choose(struct side *d, const struct chart_heat *c, bool rows,
			size_t most)
{
	size_t n = rows ? c->rows : c->cols, used = 0;
	bool sort = rows || !c->in_order;
	_auto_free struct chart_order *o = calloc(n + 1, sizeof(*o));

	d->to = calloc(n + 1, sizeof(*d->to));
	d->of = calloc(n + 1, sizeof(*d->of));
	d->sum = calloc(n + 1, sizeof(*d->sum));
	if (!o || !d->to || !d->of || !d->sum)
		return false;
	for (size_t i = 0; i < n; i++)
		o[i].at = i;
	for (size_t i = 0; i < c->n; i++) {
		uint64_t *w = &o[rows ? c->spot[i].row : c->spot[i].col].weight;

		*w = chart_add(*w, c->spot[i].value);
	}
	if (sort)
		qsort(o, n, sizeof(*o), chart_heavier);
	while (used < n && (!sort || o[used].weight))
		used++;
	d->shown = used < most ? used : most;
	d->rest = used - d->shown + 1;
	for (size_t i = 0; i < used; i++) {
		size_t at = i < d->shown ? i : d->shown - 1;

		d->to[o[i].at] = at;
		d->sum[at] = chart_add(d->sum[at], o[i].weight);
		if (i < d->shown)
			d->of[at] = o[i].at;
	}
	return true;
}

static bool heat_is_rest(const struct side *d, size_t at)
{
	return d->rest > 1 && at + 1 == d->shown;
}

/* The maximum of one cell; merged places do not count. */
static void heat_add_up(struct heat_plan *p)
{
	for (size_t i = 0; i < p->c->n; i++) {
		const struct chart_spot *t = &p->c->spot[i];
		uint64_t *v = &p->value[p->row.to[t->row] * p->col.shown + p->col.to[t->col]];

		*v = chart_add(*v, t->value);
	}
	for (size_t i = 0; i < p->row.shown; i++)
		for (size_t k = 0; k < p->col.shown; k++) {
			uint64_t v = p->value[i * p->col.shown + k];

			if (v > p->most && !heat_is_rest(&p->row, i) &&
			    !heat_is_rest(&p->col, k))
				p->most = v;
		}
}

/* Binary logarithm, interpolated linearly between powers. */
static double heat_log_two(uint64_t v)
{
	unsigned bits = 63 - (unsigned)__builtin_clzll(v);

	return bits + ((double)v / (double)((uint64_t)1 << bits) - 1);
}

static uint32_t heat_color_of(const struct heat_plan *p, uint64_t v)
{
	if (!v)
		return SCENE_PALE;
	/* The palest shades are too close to the background. */
	return palette_shade(
		p->most < 2 ? 1 : 0.12 + 0.88 * heat_log_two(v) / heat_log_two(p->most));
}

static const char *heat_name_of(const struct side *d, const char *const *names, size_t at,
				char others[48])
{
	if (!heat_is_rest(d, at))
		return names[d->of[at]];
	snprintf(others, 48, "%zu others", d->rest);
	return others;
}

static void heat_put_cells(const struct heat_plan *p, size_t row, const char *name)
{
	char others[48], text[AXIS_TEXT];

	for (size_t k = 0; k < p->col.shown; k++) {
		uint64_t v = p->value[row * p->col.shown + k];
		struct buf tip = { 0 };

		if (v) {
			buf_printf(&tip, "%s, %s: %s %s", name,
				   heat_name_of(&p->col, p->c->col, k, others),
				   axis_number(p->c->head.unit, v, text), p->c->head.of);
			scene_group(p->s, tip.failed ? name : tip.data, NULL, 0);
		}
		scene_rect(p->s, p->x + (double)k * p->cell, p->y + (double)row * ROW,
			   p->cell - 1, ROW - 1, heat_color_of(p, v));
		if (v)
			scene_end(p->s);
		buf_deinit(&tip);
	}
}

static void heat_put_rows(const struct heat_plan *p)
{
	char others[48], text[AXIS_TEXT];

	for (size_t i = 0; i < p->row.shown; i++) {
		const char *name = heat_name_of(&p->row, p->c->row, i, others);
		double base = p->y + (double)i * ROW + 12;

		scene_fit(p->s, p->x - 8, base, SCENE_END, 11, 0, SCENE_INK,
			  NAMES - CHART_MARGIN - 8, name);
		heat_put_cells(p, i, name);
		scene_text(p->s, p->x + (double)p->col.shown * p->cell + 6, base, SCENE_START, 10,
			   0, SCENE_SOFT, axis_text(p->c->head.unit, p->row.sum[i], text));
	}
}

/* Above the columns: numbers, or names where they do not overlap. */
static void heat_put_heads(const struct heat_plan *p)
{
	double free_from = 0;

	for (size_t k = 0; k < p->col.shown; k++) {
		char number[24];
		const char *text = number;
		double x = p->x + ((double)k + 0.5) * p->cell, half;

		if (p->c->in_order)
			text = p->c->col[p->col.of[k]];
		else
			snprintf(number, sizeof(number), "%zu", k + 1);
		half = font_width(text, strlen(text), 9.5, 0) / 2 + 2;
		if (x - half < free_from)
			continue;
		scene_text(p->s, x, p->y - 5, SCENE_MIDDLE, 9.5, 0, SCENE_SOFT, text);
		free_from = x + half;
	}
}

/* The names of the numbered columns, in columns of text. */
static double heat_put_list(const struct heat_plan *p, double y)
{
	size_t lines = (p->col.shown + LIST - 1) / LIST;
	double width = (CHART_WIDTH - 2.0 * CHART_MARGIN) / LIST;

	for (size_t k = 0; k < p->col.shown; k++) {
		char others[48], number[24], sum[AXIS_TEXT];
		size_t column = k / lines;
		double x = CHART_MARGIN + (double)column * width;
		double base = y + (double)(k % lines) * LIST_PITCH;
		const char *v = axis_text(p->c->head.unit, p->col.sum[k], sum);
		double taken = font_width(v, strlen(v), 10, 0) + 24;

		snprintf(number, sizeof(number), "%zu", k + 1);
		scene_text(p->s, x + 20, base, SCENE_END, 10, 0, SCENE_SOFT, number);
		scene_fit(p->s, x + 26, base, SCENE_START, 10.5, 0, SCENE_INK,
			  width - 26 - taken,
			  heat_name_of(&p->col, p->c->col, k, others));
		scene_text(p->s, x + width - 16, base, SCENE_END, 10, 0, SCENE_SOFT, v);
	}
	return y + (double)lines * LIST_PITCH;
}

static double heat_put_scale(const struct heat_plan *p, double y)
{
	enum { PARTS = 24, WIDE = 7 };
	double x = p->x;
	char text[AXIS_TEXT];

	scene_text(p->s, x - 8, y + 10, SCENE_END, 10, 0, SCENE_SOFT, "1");
	for (unsigned i = 0; i < PARTS; i++)
		scene_rect(p->s, x + i * WIDE, y, WIDE, 11,
			   palette_shade(0.12 + 0.88 * i / (PARTS - 1)));
	scene_text(p->s, x + PARTS * WIDE + 6, y + 10, SCENE_START, 10, 0, SCENE_SOFT,
		   axis_text(p->c->head.unit, p->most, text));
	return y + 24;
}

/* Draws from p->y on, and moves it to the end. */
static void heat_put_all(struct heat_plan *p, const char *below)
{
	const struct chart_heat *c = p->c;
	double room = CHART_WIDTH - NAMES - CHART_MARGIN - 44;

	p->x = NAMES;
	p->cell = p->col.shown ? room / (double)p->col.shown : room;
	p->cell = MIN(p->cell, COLUMN_MAX);
	p->y = (p->y > 0 ? chart_subtitle(p->s, p->y, c->head.title, below)
			 : chart_title(p->s, c->head.title, below)) + 12;
	p->y = heat_put_scale(p, p->y) + 6;
	scene_fit(p->s, p->x, p->y + 10, SCENE_START, 10.5, 0, SCENE_SOFT, room, c->columns);
	p->y += 30;
	heat_put_heads(p);
	heat_put_rows(p);
	p->y += (double)p->row.shown * ROW + 22;
	if (!c->in_order)
		p->y = heat_put_list(p, p->y);
}

/* false: no memory. */
static bool heat_put(const struct chart_heat *c, struct scene *s, double *y)
{
	struct heat_plan p = {.c = c, .s = s, .y = *y};
	struct buf below = { 0 };
	char text[AXIS_TEXT];
	uint64_t sum = 0;
	bool ok;

	ok = heat_choose(&p.row, c, true, c->most ? c->most : ROWS) &&
	     heat_choose(&p.col, c, false, c->in_order ? CHART_STEPS : COLUMNS);
	p.value = ok ? calloc(p.row.shown * p.col.shown + 1, sizeof(*p.value)) : NULL;
	if (p.value) {
		heat_add_up(&p);
		for (size_t i = 0; i < c->n; i++)
			sum = chart_add(sum, c->spot[i].value);
		buf_printf(&below, "%s %s; %zu %s, most first; colours by logarithm",
			   axis_number(c->head.unit, sum, text), c->head.of,
			   p.row.shown + p.row.rest - 1, c->head.things);
		if (!below.failed)
			heat_put_all(&p, below.data);
	}
	ok = p.value && !below.failed;
	*y = p.y;
	buf_deinit(&below);
	free(p.value);
	heat_free_side(&p.row);
	heat_free_side(&p.col);
	return ok;
}

int chart_heat(const struct chart_heat *c, struct scene *s, struct atw_err *err)
{
	double y = 0;

	scene_size(s, CHART_WIDTH, SCENE_LENGTH);
	for (; c; c = c->below)
		if (!heat_put(c, s, &y))
			return atw_err_nomem(err);
	scene_size(s, CHART_WIDTH, y + CHART_MARGIN);
	return ATW_OK;
}
