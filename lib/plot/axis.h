/* SPDX-License-Identifier: GPL-2.0-or-later */
/* axis.h - round numbers for an axis, and numbers as a picture shows them. Pure. */
#ifndef PLOT_AXIS_H
#define PLOT_AXIS_H

#include <atwalk/base.h>

enum axis_unit {
	AXIS_COUNT,              /* steps of 1, 2, 5 and tens of them; 1,200  20k  1.5M */
	AXIS_BYTES,              /* powers of two; 64K  1.5G */
	AXIS_SECONDS,            /* as clocks are divided; 30s  5min  2h */
};

struct axis {
	enum axis_unit unit;
	uint64_t step, top;      /* top: a multiple of step, at least what was asked for */
};

enum { AXIS_TEXT = 32 };

/* With at most `steps` of them; `largest` 0 counts as 1. */
void axis_choose(enum axis_unit unit, uint64_t largest, unsigned steps, struct axis *ret);
/* Of a mark: short, exact where it is round. Returns buf. */
char *axis_text(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT]);
/* All its digits, in threes; bytes as num_human() has them. Returns buf. */
char *axis_number(enum axis_unit unit, uint64_t v, char buf[AXIS_TEXT]);

#endif
