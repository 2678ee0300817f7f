/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_overlap.h - physical memory that rows of two kinds have in common. */
#pragma once

#include "base/buf.h"
#include "record/record.h"

struct check_range {
	uint64_t first, size; /* physical */
	uint64_t address, pid;
	bool has_address, has_pid;
};

struct check_ranges {
	struct check_range *v;
	size_t n, cap;
};

/* The columns that are needed: -1 where the schema has none. */
struct check_overlap_columns {
	int physical, size, address, pid;
};

/* false: the schema has no physical addresses or no sizes. */
bool check_overlap_columns(const struct atw_schema *sc,
			   struct check_overlap_columns *ret);
/* Without a size: one byte. 1: added; 0: it has no physical address; or ATW_E_NOMEM. */
int check_overlap_add(struct check_ranges *r, const struct check_overlap_columns *c,
		      const struct atw_row *row);
/*
 * How many bytes are in both; the first `shown` places go to `what`. Sorts the ranges.
 * *more: places that are not shown.
 */
uint64_t check_overlap(struct check_ranges side[2], unsigned shown, struct buf *what,
		       uint64_t *more);
