/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hilbert.h - map of physical memory as a square that keeps adjacent addresses together.
 *
 * Addresses follow Hilbert's curve (1891) through 2^n by 2^n cells, so a contiguous range
 * of memory is one patch of the picture. Ranges are added to the cells one by one and not
 * kept.
 */
#ifndef PLOT_HILBERT_H
#define PLOT_HILBERT_H

#include "plot/chart.h"

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

#endif
