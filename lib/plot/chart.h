/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chart.h - chart layouts on top of a scene. Each takes an initialised scene, sets its
 * size and title, and draws the numbers that are passed in.
 *
 * Elements that would be too small to be legible are merged, and the picture states how
 * many.
 */
#pragma once

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sorted.h"
#include "plot/scene.h"

/* ---- axis ---- */

/* Scales of axes, and numbers as they are shown in pictures. Pure. */

enum axis_unit {
	AXIS_COUNT,              /* steps of 1, 2 or 5 times a power of ten; 1,200  20k
				  * 1.5M */
	AXIS_BYTES,              /* powers of two; 64K  1.5G */
	AXIS_SECONDS,            /* steps of clocks; 30s  5min  2h */
};

struct axis {
	enum axis_unit unit;
	uint64_t step, top;      /* top: a multiple of step, at least `largest` */
};

enum { AXIS_TEXT = 32 };

/* At most `steps` steps; `largest` 0 counts as 1. */
void axis_choose(enum axis_unit unit, uint64_t largest, unsigned steps, struct axis *ret);
/* The text of a mark: short, without decimals if exact. Returns buf. */
char *axis_text(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT]);
/* All digits in groups of three; bytes as num_human() formats them. Returns buf. */
char *axis_number(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT]);

/* ---- parts of charts ---- */

/* An entry of the legend: a colour and its meaning. */
struct chart_key {
	const char *name;
	uint32_t color;
};

struct chart_head {
	const char *title;
	const char *of;                  /* unit of the values: "pages of 4 KiB" */
	const char *things;              /* what is compared: "processes" */
	enum axis_unit unit;
};

/* ---- bars.c: a row per thing; Figures 3 and 6 of Movall et al. ---- */

struct chart_bar {
	const char *name, *link;         /* link: NULL, or "#..." */
	const uint64_t *value;           /* one per key */
	const uint64_t *wide;            /* the same, for the pale bar below; NULL:
					  * none */
};
struct chart_bars {
	struct chart_head head;
	const char *names[2];            /* of the two bars: "resident", "virtual" */
	const struct chart_key *key;
	size_t nkeys;                    /* at most CHART_KEYS */
	const struct chart_bar *bar;
	size_t n;
	size_t most;                     /* rows; the last one merges the smallest. 0:
					  * 50 */
};
enum { CHART_KEYS = 24 };
/* Rows are sorted by value, the largest first. */
int chart_bars(const struct chart_bars *c, struct scene *s, struct atw_err *err);

/* ---- treemap.c: nested rectangles ---- */

#define CHART_TOP UINT32_MAX
struct chart_cell {
	const char *name, *link;
	uint64_t value;                  /* of a cell with children: the part that is
					  * in none of them */
	uint32_t parent;                 /* an earlier one, or CHART_TOP */
	uint32_t color;
};
struct chart_treemap {
	struct chart_head head;
	const struct chart_cell *cell;
	size_t n;
	const struct chart_key *key;     /* NULL: no legend */
	size_t nkeys;
};
int chart_treemap(const struct chart_treemap *c, struct scene *s, struct atw_err *err);

struct chart_box {
	double x, y, w, h;
};
/*
 * Squarified treemap, after Bruls, Huizing and van Wijk (2000): boxes that fill `in`,
 * with areas proportional to the values and side ratios near 1. Values in descending
 * order.
 */
void treemap_layout(const uint64_t *value, size_t n, struct chart_box in,
		    struct chart_box *ret);

/* ---- lines.c: values over time ---- */

struct chart_point {
	uint64_t x, y;                   /* x: seconds, or the number of a capture */
};
struct chart_line {
	const char *name;
	const struct chart_point *point; /* in order of x */
	size_t n;
	uint64_t weight;                 /* the heaviest ones have names and colours */
};
struct chart_lines {
	struct chart_head head;
	enum axis_unit unit_x;
	const struct chart_line *line;
	size_t n;
	size_t most;                     /* lines with a colour. 0: 7 */
};
int chart_lines(const struct chart_lines *c, struct scene *s, struct atw_err *err);

/* ---- strips.c: VMAs page by page; Figure 4 of Movall et al. in colours ---- */

struct chart_run {
	uint64_t pages;
	uint8_t key;                     /* CHART_NONE: not present */
};
enum { CHART_NONE = 255 };
struct chart_strip {
	const char *head;                /* heading above it if it changes; NULL: none */
	const char *name, *tag, *note;   /* beside it; the note is its tooltip */
	const struct chart_run *run;     /* in ascending order, from the first page on */
	size_t n;
	uint64_t weight;                 /* the heaviest ones are shown */
};
struct chart_strips {
	struct chart_head head;
	const struct chart_key *key;
	size_t nkeys;                    /* at most CHART_KEYS */
	const struct chart_strip *strip;
	size_t n;
	size_t most;                     /* 0: CHART_STRIPS */
};
enum { CHART_STRIPS = 80 };
int chart_strips(const struct chart_strips *c, struct scene *s, struct atw_err *err);

/* ---- heat.c: a table of numbers as colours ---- */

struct chart_spot {
	size_t row, col;
	uint64_t value;                  /* more than 0; values of the same cell are
					  * added up */
};
struct chart_heat {
	struct chart_head head;          /* things: unit of the rows */
	const char *columns;             /* unit of the columns */
	const char *const *row, *const *col;
	size_t rows, cols;
	const struct chart_spot *spot;
	size_t n;
	/*
	 * Columns are steps of a scale: all are shown, in their order, with short names
	 * above them. Otherwise columns are numbered, with a list of their names below.
	 */
	bool in_order;
	size_t most;                     /* rows; 0: 40. Columns, if they are no scale:
					  * 48 */
	const struct chart_heat *below;  /* a second heat map in the same picture;
					  * NULL: none */
};
enum { CHART_STEPS = 80 };               /* columns of a scale */
/*
 * Logarithmic colours. Rows and columns are sorted by sum; those that do not fit are
 * merged.
 */
int chart_heat(const struct chart_heat *c, struct scene *s, struct atw_err *err);

/* ---- shared by the layouts: chart.c ---- */

enum { CHART_WIDTH = 960, CHART_MARGIN = 24 };

/* Order by weight, stable: for qsort(3). */
struct chart_order {
	uint64_t weight;
	size_t at;
};
static inline int chart_heavier(const void *a, const void *b)
{
	const struct chart_order *x = a, *y = b;

	return ORDER(y->weight, x->weight) ?: ORDER(x->at, y->at);
}

/* Draws the title and the line below it; returns where the drawing begins. */
double chart_title(struct scene *s, const char *title, const char *below);
/* The same of a part of a picture that begins at `y` and has a title already. */
double chart_subtitle(struct scene *s, double y, const char *title, const char *below);
/*
 * Title and line, and a group with its tooltip: the text is freed, and its lack of memory
 * is a failure of the scene.
 */
double chart_head(struct scene *s, const char *title, struct buf *below);
void chart_group(struct scene *s, struct buf *tip, const char *link, unsigned style);
/* Draws the legend in as many lines as it needs; returns where the drawing continues. */
double chart_legend(struct scene *s, double x, double y, double width,
		    const struct chart_key *key, size_t n);
/* Saturating addition. */
uint64_t chart_sum(const uint64_t *v, size_t n);
static inline uint64_t chart_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* ---- flame ---- */

/*
 * Flame graph of folded stacks ("nginx;libc.so.6;text" and a number): stacks
 * with a common prefix share frames, which are as wide as their sum.
 */

enum { FLAME_FRAMES = 1 << 20, FLAME_DEPTH = 48 };

struct flame;

int flame_open(struct flame **ret, struct atw_err *err);
/* Stacks deeper than FLAME_DEPTH are cut at that depth. */
int flame_add(struct flame *f, const char *stack, uint64_t value, struct atw_err *err);
/* `head->things` is not used. */
int flame_draw(struct flame *f, const struct chart_head *head, struct scene *s,
	       struct atw_err *err);
/* NULL is accepted. */
void flame_close(struct flame *f);

/* ---- hilbert ---- */

/*
 * Map of physical memory as a square that keeps adjacent addresses together.
 *
 * Addresses follow Hilbert's curve (1891) through 2^n by 2^n cells, so a contiguous range
 * of memory is one patch of the picture. Ranges are added to the cells one by one and not
 * kept.
 */

enum { HILBERT_ORDER = 8, HILBERT_USES = 31 };   /* at most 256 by 256 cells */

struct hilbert {
	uint64_t base, cell;             /* base: first address; cell: bytes per cell */
	uint64_t page;                   /* bytes */
	unsigned order, nuses;
	uint64_t *pages;                 /* pages by cell c and use u: [c * nuses + u] */
};

/* For the addresses from `start` to `last`. */
int hilbert_init(struct hilbert *h, uint64_t start, uint64_t last, uint64_t page,
		 unsigned nuses, struct atw_err *err);
void hilbert_deinit(struct hilbert *h);
/* Ranges outside of the map and invalid uses are ignored. */
void hilbert_add(struct hilbert *h, uint64_t pa, uint64_t pages, unsigned use);

/* Conversion between the number of a cell on the curve and its place. */
void hilbert_place(unsigned order, uint64_t d, unsigned *x, unsigned *y);
uint64_t hilbert_at(unsigned order, unsigned x, unsigned y);

/* One key per use; a cell has the colour of the use that at least half of it has. */
int hilbert_draw(const struct hilbert *h, const char *title, const struct chart_key *use,
		 struct scene *s, struct atw_err *err);
