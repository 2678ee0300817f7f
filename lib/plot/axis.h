/* SPDX-License-Identifier: GPL-2.0-or-later */
/* axis.h - scales of axes, and numbers as they are shown in pictures. Pure. */
#ifndef PLOT_AXIS_H
#define PLOT_AXIS_H

#include <atwalk/base.h>

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

#endif
