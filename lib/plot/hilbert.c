/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hilbert.c - map of physical memory along a Hilbert curve. */
#include "plot/chart.h"

#include <inttypes.h>

#include "base/num.h"

enum {
	SIDE = 768,                      /* points of the square */
	LABELS = 110,                    /* margin for addresses beside it */
	BLOCK = 4,                       /* order of the blocks that have tooltips */
};
#define MIXED UINT32_C(0xb59bd6)        /* no grey: greys are uses */
#define NONE  UINT32_MAX

/*
 * Each level of the curve consists of four copies of the level below: the first is
 * mirrored at the falling diagonal, the last at the other. Each level takes two bits of
 * the number, the lowest first, because a mirror applies to the levels below.
 */
void hilbert_place(unsigned order, uint64_t d, unsigned *x, unsigned *y)
{
	unsigned px = 0, py = 0;

	for (unsigned side = 1; side < 1u << order; side <<= 1, d >>= 2) {
		unsigned quarter = d & 3, was = px;

		switch (quarter) {
		case 0:
			px = py;
			py = was;
			break;
		case 1:
			py += side;
			break;
		case 2:
			px += side;
			py += side;
			break;
		default:
			px = 2 * side - 1 - py;
			py = side - 1 - was;
			break;
		}
	}
	*x = px;
	*y = py;
}

uint64_t hilbert_at(unsigned order, unsigned x, unsigned y)
{
	uint64_t d = 0;

	for (unsigned side = order ? 1u << (order - 1) : 0; side; side >>= 1) {
		bool right = x >= side, down = y >= side;
		unsigned was;

		d = d << 2 | (right ? down ? 2 : 3 : down ? 1 : 0);
		x -= right ? side : 0;
		y -= down ? side : 0;
		if (down)
			continue;
		was = x;
		x = right ? side - 1 - y : y;
		y = right ? side - 1 - was : was;
	}
	return d;
}

int hilbert_init(struct hilbert *h, uint64_t start, uint64_t last, uint64_t page,
		 unsigned nuses, struct atw_err *err)
{
	struct hilbert new = { .page = page, .nuses = nuses, .order = 3 };
	uint64_t all;

	if (!page || page & (page - 1) || page > UINT64_C(1) << 40 || last < start ||
	    nuses > HILBERT_USES)
		return atw_err_set(err, ATW_E_USAGE, "there is no memory to draw a map of");
	new.cell = page;
	for (;;) {
		all = new.cell << 2 * new.order;
		/* A map may reach to the top of 64 bits, but not beyond. */
		new.base = all ? start & ~(all - 1) : 0;
		if (!all || last - new.base < all)
			break;
		if (new.order < HILBERT_ORDER)
			new.order++;
		else
			new.cell <<= 1;
	}
	new.pages = calloc((size_t)nuses << 2 * new.order, sizeof(*new.pages));
	if (!new.pages)
		return atw_err_nomem(err);
	*h = new;
	return ATW_OK;
}

void hilbert_deinit(struct hilbert *h)
{
	free(h->pages);
	*h = (struct hilbert){ 0 };
}

void hilbert_add(struct hilbert *h, uint64_t pa, uint64_t pages, unsigned use)
{
	uint64_t cells = UINT64_C(1) << 2 * h->order;

	if (use >= h->nuses)
		return;
	while (pages && pa >= h->base) {
		uint64_t cell = (pa - h->base) / h->cell;
		uint64_t left = (h->cell - (pa - h->base) % h->cell + h->page - 1) / h->page;
		uint64_t n = pages < left ? pages : left;

		if (cell >= cells)
			break;
		h->pages[cell * h->nuses + use] += n;
		pages -= n;
		/* The end is at most the top of the address space. */
		if (__builtin_add_overflow(pa, n * h->page, &pa))
			break;
	}
}

/* The use of at least half of the cell; nuses: mixed; NONE: it contains no RAM. */
static unsigned hilbert_use_of(const struct hilbert *h, uint64_t cell)
{
	const uint64_t *n = &h->pages[cell * h->nuses];
	uint64_t all = chart_sum(n, h->nuses);
	unsigned most = 0;

	if (!all)
		return NONE;
	for (unsigned u = 1; u < h->nuses; u++)
		if (n[u] > n[most])
			most = u;
	return 2 * n[most] >= all ? most : h->nuses;
}

struct hilbert_map {
	const struct hilbert *h;
	const struct chart_key *use;
	struct scene *s;
	double x, y, size;               /* of the square; of a cell */
	unsigned block;                  /* order */
	bool half;                       /* the right half would be empty and is left
					  * out */
};

/* "0x40000000 to 0x40ffffff: free 61%, file 30%, anon 9%", in descending order. */
static void hilbert_emit(const struct hilbert_map *m, uint64_t first, uint64_t cells,
			 struct buf *b)
{
	uint64_t sum[HILBERT_USES] = { 0 }, all;

	for (uint64_t c = first; c < first + cells; c++)
		for (unsigned u = 0; u < m->h->nuses; u++)
			sum[u] += m->h->pages[c * m->h->nuses + u];
	all = chart_sum(sum, m->h->nuses);
	buf_printf(b, "0x%" PRIx64 " to 0x%" PRIx64 ":", m->h->base + first * m->h->cell,
		   m->h->base + (first + cells) * m->h->cell - 1);
	if (!all)
		buf_str(b, " no RAM");
	for (bool comma = false; all; comma = true) {
		unsigned most = 0;

		for (unsigned u = 1; u < m->h->nuses; u++)
			if (sum[u] > sum[most])
				most = u;
		if (!sum[most])
			break;
		buf_printf(b, "%s %s %.1f%%", comma ? "," : "", m->use[most].name,
			   100.0 * (double)sum[most] / (double)all);
		sum[most] = 0;
	}
}

/* Adjacent cells of a row with the same colour are one rectangle. */
static void hilbert_put_cells(const struct hilbert_map *m, unsigned left, unsigned top,
			      unsigned side)
{
	for (unsigned y = top; y < top + side; y++) {
		for (unsigned x = left, to; x < left + side; x = to) {
			unsigned use =
				hilbert_use_of(m->h, hilbert_at(m->h->order, x, y));

			for (to = x + 1; to < left + side; to++)
				if (hilbert_use_of(m->h,
						   hilbert_at(m->h->order, to, y)) != use)
					break;
			if (use != NONE)
				scene_rect(m->s, m->x + x * m->size, m->y + y * m->size,
					   (to - x) * m->size, m->size,
					   use < m->h->nuses ? m->use[use].color : MIXED);
		}
	}
}

static void hilbert_put_blocks(const struct hilbert_map *m)
{
	unsigned side = 1u << m->block, rows = 1u << (m->h->order - m->block);
	uint64_t cells = UINT64_C(1) << 2 * m->block;

	for (uint64_t d = 0; d < (uint64_t)rows * rows; d++) {
		struct buf tip = { 0 };
		unsigned x, y;

		hilbert_place(m->h->order - m->block, d, &x, &y);
		if (m->half && x >= rows / 2)
			break;
		hilbert_emit(m, d * cells, cells, &tip);
		chart_group(m->s, &tip, NULL, SCENE_ZOOM);
		/* Blocks without RAM have tooltips, too. */
		scene_rect(m->s, m->x + x * side * m->size, m->y + y * side * m->size,
			   side * m->size, side * m->size, SCENE_PAPER);
		hilbert_put_cells(m, x * side, y * side, side);
		scene_end(m->s);
	}
}

/* The borders of the sixteen parts, and the first addresses of the outer ones. */
static void hilbert_put_parts(const struct hilbert_map *m)
{
	double part = SIDE / 4.0, width = m->half ? SIDE / 2.0 : SIDE;
	unsigned right = m->half ? 1 : 3;
	uint64_t bytes = m->h->cell << (2 * m->h->order - 4);

	for (unsigned i = 1; i < 4; i++) {
		if (i <= right)
			scene_line(m->s, m->x + i * part, m->y, m->x + i * part,
				   m->y + SIDE, 1.5, SCENE_PAPER);
		scene_line(m->s, m->x, m->y + i * part, m->x + width, m->y + i * part, 1.5,
			   SCENE_PAPER);
	}
	scene_frame(m->s, m->x - 0.5, m->y - 0.5, width + 1, SIDE + 1, 1, SCENE_REST);
	for (unsigned d = 0; d < 16; d++) {
		unsigned x, y;
		char text[24];

		hilbert_place(2, d, &x, &y);
		snprintf(text, sizeof(text), "0x%" PRIx64, m->h->base + d * bytes);
		if (x > right)
			break;
		if (x == 0 || x == right)
			scene_text(m->s, x ? m->x + width + 8 : m->x - 8,
				   m->y + (y + 0.5) * part + 4, x ? SCENE_START : SCENE_END,
				   10, SCENE_MONO, SCENE_SOFT, text);
		else if (y == 0 || y == 3)
			scene_text(m->s, m->x + (x + 0.5) * part,
				   y ? m->y + SIDE + 16 : m->y - 8, SCENE_MIDDLE, 10,
				   SCENE_MONO, SCENE_SOFT, text);
	}
}

/* A small drawing of the curve through the parts, with a dot at its start. */
static void hilbert_put_way(const struct hilbert_map *m, double left, double top,
			    double size)
{
	double step = size / 4, x0 = 0, y0 = 0;

	for (unsigned d = 0; d < 16; d++) {
		unsigned x, y;
		double x1, y1;

		hilbert_place(2, d, &x, &y);
		if (m->half && x > 1)
			break;
		x1 = left + (x + 0.5) * step;
		y1 = top + (y + 0.5) * step;
		if (d)
			scene_line(m->s, x0, y0, x1, y1, 1.5, SCENE_SOFT);
		else
			scene_rect(m->s, x1 - 3, y1 - 3, 6, 6, SCENE_INK);
		x0 = x1;
		y0 = y1;
	}
}

int hilbert_draw(const struct hilbert *h, const char *title, const struct chart_key *use,
		 struct scene *s, struct atw_err *err)
{
	struct hilbert_map m = {.h = h, .use = use, .s = s};
	struct chart_key key[HILBERT_USES + 2];
	bool seen[HILBERT_USES + 1] = { false };
	uint64_t cells = UINT64_C(1) << 2 * h->order;
	char below[160], cell[16];
	size_t n = 0;

	m.half = true;
	for (uint64_t c = 0; c < cells; c++) {
		unsigned u = hilbert_use_of(h, c);

		if (u == NONE)
			continue;
		seen[u] = true;
		/* The second half of the curve is the right half of the square. */
		if (c >= cells / 2)
			m.half = false;
	}
	for (unsigned u = 0; u < h->nuses; u++)
		if (seen[u])
			key[n++] = use[u];
	if (seen[h->nuses])
		key[n++] = (struct chart_key){ "mixed: no use has half of it", MIXED };
	key[n++] = (struct chart_key){ "no RAM", SCENE_PAPER };

	scene_size(s, SIDE + 2 * (CHART_MARGIN + LABELS), 100);
	snprintf(below, sizeof(below), "%s a cell; addresses follow the curve on the right, and "
		 "each one beside the map is where that sixteenth begins",
		 num_human(h->cell, cell));
	m.x = (s->width - (m.half ? SIDE / 2.0 : SIDE)) / 2;
	m.y = chart_legend(s, CHART_MARGIN, chart_title(s, title, below),
			   s->width - 2 * CHART_MARGIN - 80, key, n) + 24;
	m.size = SIDE / (double)(1u << h->order);
	m.block = h->order > BLOCK ? h->order - BLOCK : 0;
	hilbert_put_way(&m, s->width - CHART_MARGIN - 64, 24, 64);
	hilbert_put_blocks(&m);
	hilbert_put_parts(&m);
	scene_size(s, s->width, m.y + SIDE + 24 + CHART_MARGIN);
	return scene_done(s, err);
}
