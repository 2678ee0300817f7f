/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.c - line charts: values over time, with names at the ends of the lines. A line
 * that ends before the others has the time of its end in its name.
 */
#include "plot/chart.h"

enum {
	MOST = 7, HEIGHT = 380,
	LEFT = 56,                       /* for the numbers of the axis */
	NAMES = 190,                     /* for the names */
	NAME_PITCH = 15,
	END = 7,                         /* the square where a line ends early */
};

/* Darker than the grid lines, because it marks data. */
#define OTHERS UINT32_C(0x949494)

struct lines_plan {
	const struct chart_lines *c;
	struct scene *s;
	struct axis x, y;
	uint64_t from, to;               /* of x */
	double left, top, width;
};

struct label {
	double y;
	size_t line;
	uint32_t color;
};

/* Without yellow: a thin yellow line is invisible on white. */
static uint32_t lines_color(size_t i)
{
	static const uint8_t dark[] = { 0, 1, 2, 4, 6, 7, 5 };

	return palette_color(dark[i % ARRAY_SIZE(dark)] +
			     PALETTE_COLORS * (unsigned)(i / ARRAY_SIZE(dark)));
}

static int lines_higher(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return ORDER(x->y, y->y);
}

static double lines_at_x(const struct lines_plan *p, uint64_t x)
{
	return p->left + (double)(x - p->from) / (double)p->x.top * p->width;
}

static double lines_at_y(const struct lines_plan *p, uint64_t y)
{
	return p->top + HEIGHT - (double)y / (double)p->y.top * HEIGHT;
}

static void lines_measure(struct lines_plan *p)
{
	uint64_t first = UINT64_MAX, last = 0, most = 0;

	for (size_t i = 0; i < p->c->n; i++) {
		const struct chart_line *l = &p->c->line[i];

		for (size_t k = 0; k < l->n; k++) {
			first = MIN(first, l->point[k].x);
			last = MAX(last, l->point[k].x);
			most = MAX(most, l->point[k].y);
		}
	}
	p->from = first == UINT64_MAX ? 0 : first;
	p->to = last;
	axis_choose(p->c->unit_x, last > p->from ? last - p->from : 1, 8, &p->x);
	/* The x axis ends at the last value and not at the next round one. */
	p->x.top = last > p->from ? last - p->from : 1;
	axis_choose(p->c->head.unit, most, 6, &p->y);
}

static void lines_put_axes(const struct lines_plan *p)
{
	char text[AXIS_TEXT];

	for (uint64_t v = 0;; v += p->y.step) {
		double y = lines_at_y(p, v);

		scene_line(p->s, p->left, y, p->left + p->width, y, v ? 0.75 : 1.25,
			   v ? SCENE_RULE : SCENE_SOFT);
		scene_text(p->s, p->left - 8, y + 4, SCENE_END, 11, 0, SCENE_SOFT,
			   axis_text(p->y.unit, v, text));
		if (p->y.top - v < p->y.step)
			break;
	}
	for (uint64_t v = 0;; v += p->x.step) {
		double x = lines_at_x(p, p->from + v);

		scene_line(p->s, x, p->top + HEIGHT, x, p->top + HEIGHT + 4, 1, SCENE_SOFT);
		scene_text(p->s, x, p->top + HEIGHT + 18, SCENE_MIDDLE, 11, 0, SCENE_SOFT,
			   axis_text(p->x.unit, v, text));
		if (p->x.top - v < p->x.step)
			break;
	}
}

/*
 * Several points in one pixel column would be painted over each other, so only the first,
 * the minimum, the maximum and the last of a column are drawn.
 */
static void lines_put(const struct lines_plan *p, const struct chart_line *l,
		      uint32_t color, double wide)
{
	const struct chart_point *pt = l->point;
	double x = 0, y = 0;

	for (size_t i = 0; i < l->n;) {
		double column = lines_at_x(p, pt[i].x), low, high, last;
		size_t from = i;

		low = high = last = lines_at_y(p, pt[i].y);
		for (i++; i < l->n && lines_at_x(p, pt[i].x) < column + 0.5; i++) {
			last = lines_at_y(p, pt[i].y);
			low = MIN(low, last);
			high = MAX(high, last);
		}
		if (from)
			scene_line(p->s, x, y, column, lines_at_y(p, pt[from].y), wide,
				   color);
		else if (l->n <= 1)
			scene_line(p->s, column, last, column, last, 3 * wide, color);
		if (high > low)
			scene_line(p->s, column, low, column, high, wide, color);
		x = column;
		y = last;
	}
}

/* Names are placed at the ends of their lines, pushed apart downwards, then back up. */
static void lines_push_apart(struct label *label, size_t n, double top, double bottom)
{
	qsort(label, n, sizeof(*label), lines_higher);
	for (size_t i = 0; i < n; i++) {
		double least = i ? label[i - 1].y + NAME_PITCH : top;

		label[i].y = MAX(label[i].y, least);
	}
	for (size_t i = n; i-- > 0;) {
		double most = i + 1 < n ? label[i + 1].y - NAME_PITCH : bottom;

		label[i].y = MIN(label[i].y, most);
	}
}

/* ", until 5min"; "" of a line that reaches the end. */
static const char *lines_until(const struct lines_plan *p, const struct chart_line *l,
			       char buf[AXIS_TEXT + 8])
{
	uint64_t last = l->point[l->n - 1].x;
	char text[AXIS_TEXT];

	buf[0] = '\0';
	if (last < p->to)
		snprintf(buf, AXIS_TEXT + 8, ", until %s",
			 axis_text(p->x.unit, last - p->from, text));
	return buf;
}

static void lines_put_name(const struct lines_plan *p, const struct label *label)
{
	const struct chart_line *l = &p->c->line[label->line];
	const struct chart_point *end = &l->point[l->n - 1];
	double x = p->left + p->width;
	char when[AXIS_TEXT + 8];
	struct buf name = { 0 };

	/* The connection from the line to its name must not look like data. */
	buf_printf(&name, "%s%s", l->name, lines_until(p, l, when));
	if (*when)
		scene_rect(p->s, lines_at_x(p, end->x) - END / 2.0,
			   lines_at_y(p, end->y) - END / 2.0, END, END, label->color);
	else
		scene_line(p->s, x + 2, lines_at_y(p, end->y), x + 12, label->y, 1,
			   label->color);
	scene_rect(p->s, x + 14, label->y - 4, 8, 8, label->color);
	if (name.failed)
		p->s->status = ATW_E_NOMEM;
	else
		scene_fit(p->s, x + 27, label->y + 4, SCENE_START, 11, 0, SCENE_INK, NAMES - 27,
			  name.data);
	buf_deinit(&name);
}

static void lines_put_names(const struct lines_plan *p, struct label *label, size_t n)
{
	lines_push_apart(label, n, p->top, p->top + HEIGHT);
	for (size_t i = 0; i < n; i++)
		lines_put_name(p, &label[i]);
}

static void lines_put_lines(const struct lines_plan *p, const struct chart_order *order,
			    size_t most, struct label *label)
{
	size_t named = 0;

	for (size_t i = p->c->n; i-- > 0;) {
		const struct chart_line *l = &p->c->line[order[i].at];
		uint32_t color = i < most ? lines_color(i) : OTHERS;
		struct buf tip = { 0 };
		char text[AXIS_TEXT], when[AXIS_TEXT + 8];

		if (!l->n)
			continue;
		buf_printf(&tip, "%s: from %s", l->name,
			   axis_number(p->y.unit, l->point[0].y, text));
		buf_printf(&tip, " to %s %s%s",
			   axis_number(p->y.unit, l->point[l->n - 1].y, text),
			   p->c->head.of, lines_until(p, l, when));
		chart_group(p->s, &tip, NULL, 0);
		lines_put(p, l, color, i < most ? 2 : 1);
		scene_end(p->s);
		if (i < most)
			label[named++] = (struct label){
				lines_at_y(p, l->point[l->n - 1].y), order[i].at, color};
	}
	lines_put_names(p, label, named);
}

int chart_lines(const struct chart_lines *c, struct scene *s, struct atw_err *err)
{
	size_t most = c->most ? c->most : MOST;
	_auto_free struct chart_order *order = calloc(c->n + 1, sizeof(*order));
	_auto_free struct label *label = calloc(c->n + 1, sizeof(*label));
	struct lines_plan p = {.c = c, .s = s};
	struct buf below = { 0 };

	if (!order || !label)
		return atw_err_nomem(err);
	most = MIN(most, c->n);
	for (size_t i = 0; i < c->n; i++)
		order[i] = (struct chart_order){ c->line[i].weight, i };
	qsort(order, c->n, sizeof(*order), chart_heavier);
	scene_size(s, CHART_WIDTH, 100);
	buf_printf(&below, "%s; %zu %s", c->head.of, c->n, c->head.things);
	if (c->n > most)
		buf_printf(&below, ", %zu of them named, %zu others grey", most, c->n - most);
	p.left = CHART_MARGIN + LEFT;
	p.top = chart_head(s, c->head.title, &below) + 8;
	p.width = CHART_WIDTH - CHART_MARGIN - NAMES - p.left;
	lines_measure(&p);
	lines_put_axes(&p);
	lines_put_lines(&p, order, most, label);
	scene_size(s, CHART_WIDTH, p.top + HEIGHT + 30 + CHART_MARGIN);
	return scene_done(s, err);
}
