/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame.h - folded stacks, "nginx;libc.so.6;text" and a number, as a flame graph:
 * what begins alike stands on one frame, as wide as all of it.
 */
#ifndef PLOT_FLAME_H
#define PLOT_FLAME_H

#include "plot/chart.h"

enum { FLAME_FRAMES = 1 << 20, FLAME_DEPTH = 48 };

struct flame;

int flame_open(struct flame **ret, struct atw_err *err);
/* Deeper than FLAME_DEPTH counts for the frame at that depth. */
int flame_add(struct flame *f, const char *stack, uint64_t value, struct atw_err *err);
/* `head->things` is not shown. */
int flame_draw(struct flame *f, const struct chart_head *head, struct scene *s,
	       struct atw_err *err);
/* NULL is fine. */
void flame_close(struct flame *f);

#endif
