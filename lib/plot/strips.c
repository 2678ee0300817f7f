/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strips.c - VMAs as rows of cells, 64 per line. A cell is a page, or several pages if
 * the VMA would need too many lines otherwise; then it has the colour of most of its
 * present pages, and is pale if more than half of them are absent.
 */
#include "plot/chart.h"

enum {
	LINE = 64, LINES = 6,            /* cells per line; lines per VMA */
	NAMES = 300, TAGS = 60,          /* points for names, with tags; for tags */
};
#define CELL 9.25                        /* points: width of a cell, and height of a
					  * line */
#define NOTHING UINT32_C(0xe9e9e9)

struct strips_plan {
	const struct chart_strips *c;
	struct scene *s;
	double x, y;
};

static int strips_earlier(const void *a, const void *b)
{
	const struct chart_order *x = a, *y = b;

	return ORDER(x->at, y->at);
}

static uint64_t strips_pages_of(const struct chart_strip *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum = chart_add(sum, p->run[i].pages);
	return sum;
}

/* A position in the runs. */
struct strips_place {
	const struct chart_strip *strip;
	size_t run;
	uint64_t page;                   /* pages of the run that are consumed */
};

/* The colour of the next pages; advances the position. */
static uint32_t strips_next_cell(const struct chart_strips *c, struct strips_place *at,
				 uint64_t pages)
{
	uint64_t n[CHART_KEYS] = { 0 }, there = 0, all = 0;
	unsigned most = 0;

	while (all < pages && at->run < at->strip->n) {
		const struct chart_run *r = &at->strip->run[at->run];
		uint64_t left = r->pages - at->page;
		uint64_t part = left < pages - all ? left : pages - all;

		if (r->key < c->nkeys) {
			n[r->key] += part;
			there += part;
		}
		all += part;
		at->page += part;
		if (at->page >= r->pages) {
			at->run++;
			at->page = 0;
		}
	}
	for (unsigned k = 1; k < c->nkeys; k++)
		if (n[k] > n[most])
			most = k;
	if (!there)
		return NOTHING;
	return 2 * there < all ? palette_pale(c->key[most].color, 0.5) : c->key[most].color;
}

static void strips_put_cells(const struct strips_plan *p, const struct chart_strip *strip,
			     uint64_t cells, uint64_t pages)
{
	struct strips_place at = {.strip = strip};
	uint32_t color = strips_next_cell(p->c, &at, pages);

	for (uint64_t i = 0, to; i < cells; i = to) {
		uint64_t line = i / LINE;
		uint32_t next = color;

		/* Adjacent cells of a line that look alike are one rectangle. */
		for (to = i + 1; to < cells; to++) {
			next = strips_next_cell(p->c, &at, pages);
			if (next != color || to % LINE == 0)
				break;
		}
		scene_rect(p->s, p->x + (double)(i % LINE) * CELL,
			   p->y + (double)line * CELL, (double)(to - i) * CELL - 0.5,
			   CELL - 1, color);
		color = next;
	}
}

static void strips_put(struct strips_plan *p, const struct chart_strip *strip)
{
	uint64_t all = strips_pages_of(strip), pages = 1, cells, lines;
	struct buf tip = { 0 };
	char text[AXIS_TEXT];

	while (all / pages > (uint64_t)LINE * LINES - 1)
		pages <<= 1;
	cells = all / pages + (all % pages != 0);
	lines = (cells + LINE - 1) / LINE;
	buf_printf(&tip, "%s %s, %s: %s %s", strip->name, strip->tag, strip->note,
		   axis_number(AXIS_COUNT, all, text), p->c->head.of);
	chart_group(p->s, &tip, NULL, 0);
	scene_fit(p->s, p->x - TAGS, p->y + 8, SCENE_END, 10.5, 0, SCENE_INK,
		  NAMES - CHART_MARGIN - TAGS, strip->name);
	scene_fit(p->s, p->x - 10, p->y + 8, SCENE_END, 9.5, SCENE_MONO, SCENE_SOFT, TAGS - 12,
		  strip->tag);
	if (pages > 1) {
		char cell[48];

		snprintf(cell, sizeof(cell), "%s a cell", axis_text(AXIS_COUNT, pages, text));
		scene_text(p->s, p->x + LINE * CELL + 6, p->y + 8, SCENE_START, 9, 0,
			   SCENE_SOFT, cell);
	}
	if (cells)
		strips_put_cells(p, strip, cells, pages);
	scene_end(p->s);
	p->y += (double)(lines > 1 ? lines : 1) * CELL + 4.75;
}

static int strips_draw(const struct chart_strips *c, struct scene *s, struct atw_err *err)
{
	size_t most = c->most ? c->most : CHART_STRIPS;
	_auto_free struct chart_order *order = calloc(c->n + 1, sizeof(*order));
	struct strips_plan p = {.c = c, .s = s, .x = NAMES};
	const char *head = NULL, *shown = NULL;
	struct buf below = { 0 };
	struct chart_key key[CHART_KEYS + 1];
	size_t next = 0;

	if (!order)
		return atw_err_nomem(err);
	for (size_t i = 0; i < c->n; i++)
		order[i] = (struct chart_order){ c->strip[i].weight, i };
	qsort(order, c->n, sizeof(*order), chart_heavier);
	most = MIN(most, c->n);
	/* The strips that are shown keep their order. */
	qsort(order, most, sizeof(*order), strips_earlier);
	scene_size(s, NAMES + LINE * CELL + 90, 100);
	buf_printf(&below, "%s, %d a line; %zu %s", c->head.of, LINE, c->n, c->head.things);
	if (c->n > most)
		buf_printf(&below, ", the %zu that have most in memory; %zu others are not shown",
			   most, c->n - most);
	for (size_t i = 0; i < c->nkeys; i++)
		key[i] = c->key[i];
	key[c->nkeys] = (struct chart_key){ "not there", NOTHING };
	p.y = chart_legend(s, CHART_MARGIN, chart_head(s, c->head.title, &below),
			   s->width - 2 * CHART_MARGIN, key, c->nkeys + 1);
	for (size_t i = 0; i < most; i++) {
		for (; next <= order[i].at; next++)
			if (c->strip[next].head)
				head = c->strip[next].head;
		if (head != shown) {
			p.y += 18;
			scene_fit(s, CHART_MARGIN, p.y, SCENE_START, 13, SCENE_BOLD, SCENE_INK,
				  s->width - 2 * CHART_MARGIN, head);
			p.y += 8;
			shown = head;
		}
		strips_put(&p, &c->strip[order[i].at]);
	}
	scene_size(s, s->width, p.y + CHART_MARGIN);
	return scene_done(s, err);
}

int chart_strips(const struct chart_strips *c, struct scene *s, struct atw_err *err)
{
	if (c->nkeys > CHART_KEYS)
		return atw_err_set(err, ATW_E_LIMIT, "a cell has one of at most %d colours",
				   CHART_KEYS);
	return strips_draw(c, s, err);
}
