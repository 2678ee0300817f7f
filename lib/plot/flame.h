/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame.h - flame graph of folded stacks ("nginx;libc.so.6;text" and a number): stacks
 * with a common prefix share frames, which are as wide as their sum.
 */
#ifndef PLOT_FLAME_H
#define PLOT_FLAME_H

#include "plot/chart.h"

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

#endif
