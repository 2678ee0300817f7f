/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.h - how much memory may be taken, for what; and what it all came to. */
#ifndef COLLECTOR_BUDGET_H
#define COLLECTOR_BUDGET_H

#include "source/pace.h"

struct budget {
	uint64_t runs;           /* of pages, held at once */
	uint64_t counts;         /* bytes to count mappings in */
	uint64_t began;          /* ns of CLOCK_MONOTONIC */
};

/*
 * `mem`: what was given as --mem, or NULL. The system is told as well: more cannot be
 * had then, whoever asks.
 */
int budget_begin(const char *mem, struct budget *ret, struct atw_err *err);
void budget_tell(const struct budget *c, const struct pace *pace);

#endif
