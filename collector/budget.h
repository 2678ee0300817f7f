/* SPDX-License-Identifier: GPL-2.0-or-later */
/* budget.h - memory limit of the collector, and its cost. */
#pragma once

#include "host/pace.h"

struct budget {
	uint64_t runs;           /* of pages, held at once */
	uint64_t counts;         /* bytes to count mappings in */
	uint64_t began;          /* ns of CLOCK_MONOTONIC */
};

/*
 * `mem`: the argument of --mem, or NULL. The limit is also set in the kernel, so that no
 * later allocation can exceed it, wherever it is made.
 */
int budget_begin(const char *mem, struct budget *ret, struct atw_err *err);
void budget_print(const struct budget *c, const struct pace *pace);
