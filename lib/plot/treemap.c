/* SPDX-License-Identifier: GPL-2.0-or-later */
/* treemap.c - squarified treemap. */
#include "plot/chart.h"

enum {
	HEIGHT = 640,
	HEAD = 17,                       /* points for the name of a cell with children */
	DEPTH = 8,                       /* nesting depth; deeper cells are not drawn */
};
#define SEEN  1.5                        /* points: narrower cells are not drawn */
#define INNER 14                         /* smaller cells are drawn without their
					  * children */

/* The worst side ratio of the boxes of a strip; `sum` of them, `most` the largest. */
static double treemap_worst(double sum, double most, double least, double side)
{
	double a = side * side * most / (sum * sum), b = sum * sum / (side * side * least);

	return a > b ? a : b;
}

/* Place `n` values in a strip along the shorter side; returns the remaining box. */
static struct chart_box treemap_put_strip(const uint64_t *value, size_t n, double sum,
					  double scale, struct chart_box in,
					  struct chart_box *ret)
{
	bool tall = in.w >= in.h;        /* the strip is vertical */
	double side = tall ? in.h : in.w, wide = side > 0 ? sum * scale / side : 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		double part = sum > 0 ? (double)value[i] / sum * side : 0;

		ret[i] = tall ? (struct chart_box){ in.x, in.y + at, wide, part }
			      : (struct chart_box){ in.x + at, in.y, part, wide };
		at += part;
	}
	if (tall)
		return (struct chart_box){ in.x + wide, in.y, in.w - wide, in.h };
	return (struct chart_box){ in.x, in.y + wide, in.w, in.h - wide };
}

void treemap_layout(const uint64_t *value, size_t n, struct chart_box in,
		    struct chart_box *ret)
{
	double total = 0, scale;

	for (size_t i = 0; i < n; i++) {
		total += (double)value[i];
		ret[i] = (struct chart_box){ in.x, in.y, 0, 0 };
	}
	if (!(total > 0) || in.w <= 0 || in.h <= 0)
		return;
	scale = in.w * in.h / total;
	for (size_t from = 0; from < n && value[from];) {
		double side = in.w < in.h ? in.w : in.h;
		double sum = (double)value[from], bad;
		size_t to = from + 1;

		bad = treemap_worst(sum * scale, sum * scale, sum * scale, side);
		while (to < n && value[to]) {
			double more = sum + (double)value[to];
			double next =
				treemap_worst(more * scale, (double)value[from] * scale,
					      (double)value[to] * scale, side);

			if (next > bad)
				break;
			bad = next;
			sum = more;
			to++;
		}
		in = treemap_put_strip(value + from, to - from, sum, scale, in,
				       ret + from);
		from = to;
	}
}

struct tree {
	const struct chart_treemap *c;
	struct scene *s;
	uint64_t *sum;                   /* of each cell and its descendants */
	uint32_t *child;                 /* grouped by parent, the largest first */
	size_t *first;                   /* index in child[] of parent i; [n]: of the
					  * top */
	size_t *count;
	uint64_t total;
	size_t hidden;
};

static int treemap_larger(const void *a, const void *b, void *arg)
{
	const struct tree *t = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(t->sum[y], t->sum[x]) ?: ORDER(x, y);
}

static size_t treemap_parent_of(const struct chart_treemap *c, size_t i)
{
	return c->cell[i].parent < i ? c->cell[i].parent : c->n;
}

/*
 * Sums are computed backwards, because a parent precedes its children; then the lists of
 * children.
 */
static void treemap_make_tree(struct tree *t)
{
	const struct chart_treemap *c = t->c;
	size_t at = 0;

	for (size_t i = 0; i < c->n; i++)
		t->sum[i] = c->cell[i].value;
	for (size_t i = c->n; i-- > 0;) {
		size_t p = treemap_parent_of(c, i);

		t->count[p]++;
		if (p < c->n)
			t->sum[p] = chart_add(t->sum[p], t->sum[i]);
		else
			t->total = chart_add(t->total, t->sum[i]);
	}
	for (size_t p = 0; p <= c->n; p++) {
		t->first[p] = at;
		at += t->count[p];
		t->count[p] = 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		size_t p = treemap_parent_of(c, i);

		t->child[t->first[p] + t->count[p]++] = (uint32_t)i;
	}
	for (size_t p = 0; p <= c->n; p++)
		qsort_r(t->child + t->first[p], t->count[p], sizeof(*t->child),
			treemap_larger, t);
}

static void treemap_emit(const struct tree *t, size_t i, struct buf *b)
{
	char text[AXIS_TEXT];
	double part = t->total ? 100.0 * (double)t->sum[i] / (double)t->total : 0;
	size_t p = treemap_parent_of(t->c, i);

	b->len = 0;
	if (p < t->c->n)
		buf_printf(b, "%s / ", t->c->cell[p].name);
	buf_printf(b, "%s: %s %s, %.1f%%", t->c->cell[i].name,
		   axis_number(t->c->head.unit, t->sum[i], text), t->c->head.of, part);
}

static void treemap_put_leaf(const struct tree *t, size_t i, struct chart_box box)
{
	const struct chart_cell *c = &t->c->cell[i];
	double size = box.w > 110 && box.h > 40 ? 13 : 11;
	char text[AXIS_TEXT];

	scene_rect(t->s, box.x, box.y, box.w, box.h, c->color);
	if (box.h < size + 5 ||
	    !scene_fit(t->s, box.x + 4, box.y + size + 2, SCENE_START, size, 0,
		       palette_on(c->color), box.w - 8, c->name))
		return;
	if (box.h > 2 * size + 8)
		scene_fit(t->s, box.x + 4, box.y + 2 * size + 5, SCENE_START, size - 2, 0,
			  palette_on(c->color), box.w - 8,
			  axis_number(t->c->head.unit, t->sum[i], text));
}

static void treemap_put_inside(struct tree *t, size_t parent, struct chart_box in,
			       unsigned depth);

static void treemap_put_cell(struct tree *t, size_t i, struct chart_box box,
			     unsigned depth)
{
	const struct chart_cell *c = &t->c->cell[i];
	double gap = box.w > 6 && box.h > 6 ? 0.75 : 0.25;
	struct buf tip = { 0 };

	if (box.w < SEEN || box.h < SEEN) {
		t->hidden++;
		return;
	}
	box = (struct chart_box){ box.x + gap, box.y + gap, box.w - 2 * gap, box.h - 2 * gap };
	treemap_emit(t, i, &tip);
	chart_group(t->s, &tip, c->link, SCENE_ZOOM);
	if (!t->count[i]) {
		treemap_put_leaf(t, i, box);
	} else if (depth >= DEPTH || box.w < INNER || box.h < INNER) {
		scene_rect(t->s, box.x, box.y, box.w, box.h, palette_pale(c->color, 0.5));
		t->hidden += t->count[i];
	} else {
		double head = box.h > 3 * HEAD && box.w > 70 ? HEAD : 1;

		scene_rect(t->s, box.x, box.y, box.w, box.h, palette_pale(c->color, 0.72));
		if (head > 1)
			scene_fit(t->s, box.x + 4, box.y + 12.5, SCENE_START, 11, SCENE_BOLD,
				  SCENE_INK, box.w - 8, c->name);
		treemap_put_inside(t, i,
				   (struct chart_box){box.x + 1, box.y + head, box.w - 2,
						      box.h - head - 1},
				   depth + 1);
	}
	scene_end(t->s);
}

static void treemap_put_inside(struct tree *t, size_t parent, struct chart_box in,
			       unsigned depth)
{
	size_t n = t->count[parent];
	_auto_free uint64_t *value = calloc(n + 1, sizeof(*value));
	_auto_free struct chart_box *box = calloc(n + 1, sizeof(*box));
	const uint32_t *child = t->child + t->first[parent];

	if (!value || !box) {
		t->s->status = ATW_E_NOMEM;
		return;
	}
	for (size_t i = 0; i < n; i++)
		value[i] = t->sum[child[i]];
	/* The remainder is the parent's own value and shows its colour. */
	if (parent < t->c->n && t->c->cell[parent].value && t->sum[parent]) {
		double part = 1 - (double)t->c->cell[parent].value / (double)t->sum[parent];

		if (in.w > in.h)
			in.w *= part;
		else
			in.h *= part;
	}
	treemap_layout(value, n, in, box);
	for (size_t i = 0; i < n; i++)
		treemap_put_cell(t, child[i], box[i], depth);
}

int chart_treemap(const struct chart_treemap *c, struct scene *s, struct atw_err *err)
{
	_auto_free uint64_t *sum = calloc(c->n + 1, sizeof(*sum));
	_auto_free uint32_t *child = calloc(c->n + 1, sizeof(*child));
	_auto_free size_t *first = calloc(c->n + 1, sizeof(*first));
	_auto_free size_t *count = calloc(c->n + 1, sizeof(*count));
	struct tree t = { .c = c, .s = s, .sum = sum, .child = child, .first = first,
			  .count = count };
	struct buf below = { 0 };
	char text[AXIS_TEXT];
	double y;

	if (!sum || !child || !first || !count)
		return atw_err_nomem(err);
	treemap_make_tree(&t);
	scene_size(s, CHART_WIDTH, 100);
	/* The legend ends where the drawing begins, so it is placed after layout. */
	y = chart_legend(s, CHART_MARGIN, 72, CHART_WIDTH - 2 * CHART_MARGIN, c->key, c->nkeys);
	treemap_put_inside(&t, c->n,
			   (struct chart_box){CHART_MARGIN, y,
					      CHART_WIDTH - 2 * CHART_MARGIN, HEIGHT},
			   0);
	buf_printf(&below, "%s %s; %zu %s", axis_number(c->head.unit, t.total, text),
		   c->head.of, t.count[c->n], c->head.things);
	if (t.hidden)
		buf_printf(&below, "; %zu parts are too small to be seen", t.hidden);
	chart_head(s, c->head.title, &below);
	scene_size(s, CHART_WIDTH, y + HEIGHT + CHART_MARGIN);
	return scene_done(s, err);
}
