/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hilbert.h - memory as a square, in which neighbours stay neighbours.
 *
 * Physical addresses follow Hilbert's curve (1891) through 2^n by 2^n cells, so
 * what is one run in memory is one patch of the picture. Runs are added as they
 * come and not kept; the space is that of the cells.
 */
#ifndef PLOT_HILBERT_H
#define PLOT_HILBERT_H

#include "plot/chart.h"

enum { HILBERT_ORDER = 8, HILBERT_USES = 31 };   /* at most 256 by 256 cells */

struct hilbert {
	uint64_t base, cell;             /* bytes: of the first cell, of each */
	uint64_t page;                   /* bytes */
	unsigned order, nuses;
	uint64_t *pages;                 /* of cell c and use u: [c * nuses + u] */
};

/* For addresses from `start` to `last`. */
int hilbert_init(struct hilbert *h, uint64_t start, uint64_t last, uint64_t page,
		 unsigned nuses, struct atw_err *err);
void hilbert_deinit(struct hilbert *h);
/* What lies outside of it, or has a use that is none, is passed over. */
void hilbert_add(struct hilbert *h, uint64_t pa, uint64_t pages, unsigned use);

/* Where cell `d` of the curve lies, and which one lies there. */
void hilbert_place(unsigned order, uint64_t d, unsigned *x, unsigned *y);
uint64_t hilbert_at(unsigned order, unsigned x, unsigned y);

/* One key a use; a cell has the colour of the use that at least half of it has. */
int hilbert_draw(const struct hilbert *h, const char *title, const struct chart_key *use,
		 struct scene *s, struct atw_err *err);

#endif
