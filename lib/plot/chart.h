/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chart.h - layouts on top of a scene. Each takes a scene that was initialised,
 * sets its size and its title, and draws; numbers come in, nothing is looked up.
 *
 * Whatever is too much to be legible is put together and counted in the picture.
 */
#ifndef PLOT_CHART_H
#define PLOT_CHART_H

#include "plot/axis.h"
#include "plot/scene.h"

/* What a colour stands for. */
struct chart_key {
	const char *name;
	uint32_t color;
};

struct chart_head {
	const char *title;
	const char *of;                  /* what is measured: "pages of 4 KiB" */
	const char *things;              /* what is compared: "processes" */
	enum axis_unit unit;
};

/* ---- bars.c: a row a thing; the paper's Figures 3 and 6 ---- */

struct chart_bar {
	const char *name, *link;         /* link: NULL, or "#..." */
	const uint64_t *value;           /* one of each key */
	const uint64_t *wide;            /* likewise, for the pale bar below; NULL: none */
};
struct chart_bars {
	struct chart_head head;
	const char *names[2];            /* of the two bars: "resident", "virtual" */
	const struct chart_key *key;
	size_t nkeys;                    /* at most CHART_KEYS */
	const struct chart_bar *bar;
	size_t n;
	size_t most;                     /* rows; the smallest share the last. 0: 50 */
};
enum { CHART_KEYS = 24 };
/* Largest first. */
int chart_bars(const struct chart_bars *c, struct scene *s, struct atw_err *err);

/* ---- treemap.c: areas in areas ---- */

#define CHART_TOP UINT32_MAX
struct chart_cell {
	const char *name, *link;
	uint64_t value;                  /* of one with others inside: what is in no other */
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
 * Squarified, after Bruls, Huizing and van Wijk (2000): boxes that fill `in`, each
 * as large as its value, as near to squares as they can be. Largest value first.
 */
void treemap_layout(const uint64_t *value, size_t n, struct chart_box in,
		    struct chart_box *ret);

/* ---- lines.c: over time ---- */

struct chart_point {
	uint64_t x, y;                   /* x: seconds, or a number of a capture */
};
struct chart_line {
	const char *name;
	const struct chart_point *point; /* by x */
	size_t n;
	uint64_t weight;                 /* the heaviest have names and colours */
};
struct chart_lines {
	struct chart_head head;
	enum axis_unit unit_x;
	const struct chart_line *line;
	size_t n;
	size_t most;                     /* that have a colour. 0: 7 */
};
int chart_lines(const struct chart_lines *c, struct scene *s, struct atw_err *err);

/* ---- strips.c: areas page by page; the paper's Figure 4 in colours ---- */

struct chart_run {
	uint64_t pages;
	uint8_t key;                     /* CHART_NONE: nothing is there */
};
enum { CHART_NONE = 255 };
struct chart_strip {
	const char *head;                /* above it, where it changes; NULL: as before */
	const char *name, *tag, *note;   /* beside it; the note is its tooltip */
	const struct chart_run *run;     /* from its first page on */
	size_t n;
	uint64_t weight;                 /* the heaviest are shown */
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
	uint64_t value;                  /* more than 0; of one place all add up */
};
struct chart_heat {
	struct chart_head head;          /* things: what the rows are */
	const char *columns;             /* what the columns are */
	const char *const *row, *const *col;
	size_t rows, cols;
	const struct chart_spot *spot;
	size_t n;
	/*
	 * Columns are steps of a scale: all are shown as they come, with short names
	 * above them. Else they have numbers and, below, their names.
	 */
	bool in_order;
	size_t most;                     /* rows; 0: 40. Columns, not in order: 48 */
	const struct chart_heat *below;  /* another one in the same picture; NULL: none */
};
enum { CHART_STEPS = 80 };               /* columns in order */
/* Colours are by logarithm. Rows and columns with most first; the rest is put together. */
int chart_heat(const struct chart_heat *c, struct scene *s, struct atw_err *err);

/* ---- shared by them: chart.c ---- */

enum { CHART_WIDTH = 960, CHART_MARGIN = 24 };

/* Things by weight, equal ones as they came: for qsort(3). */
struct chart_order {
	uint64_t weight;
	size_t at;
};
static inline int chart_heavier(const void *a, const void *b)
{
	const struct chart_order *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Title and a line below it; where the drawing may begin. */
double chart_title(struct scene *s, const char *title, const char *below);
/* The same of a part of a picture that begins at `y`, and has its title already. */
double chart_subtitle(struct scene *s, double y, const char *title, const char *below);
/* Squares with names, as many lines as they need; where the drawing goes on. */
double chart_legend(struct scene *s, double x, double y, double width,
		    const struct chart_key *key, size_t n);
/* No more than UINT64_MAX. */
uint64_t chart_sum(const uint64_t *v, size_t n);
static inline uint64_t chart_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif
