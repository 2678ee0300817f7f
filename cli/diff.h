/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.h - the parts of `atwalk diff`: its options and its rows. */
#pragma once

#include "atwalk.h"
#include "target/snapshot.h"

enum diff_by { DIFF_ROWS, DIFF_BY_PROCESS, DIFF_BY_UNIT };

struct diff_opts {
	struct space_opts space;
	bool areas_only, all, kernel_map;
	enum diff_by by;
	const char *interval;
};

struct diff_sum;

struct diff_rows {
	const struct diff_opts *o;
	struct changes_unknown *unknown;
	struct atw_output *out;
	uint64_t page; /* bytes of the smallest page */
	uint64_t changes;
	const struct snapshot *now; /* the process, as it is on the later side */
	bool one_sided;             /* only one side has it */
	bool kernel;                /* it is the kernel, and no process */
	/* --by. */
	struct diff_sum *sum;
	size_t nsums, sums_cap, at;
};

int diff_rows_open(struct diff_rows *d, const struct atw_output_opts *oo,
		   struct atw_err *err);
/*
 * What changed in a process. `what`: CHANGES_STARTED or CHANGES_ENDED, and the other side
 * is empty; CHANGES_KINDS: both have it.
 */
int diff_rows_process(struct diff_rows *d, struct snapshot s[2], enum changes_what what,
		      struct atw_err *err);
/* The same of the kernel, of which only pages are compared. */
int diff_rows_kernel(struct diff_rows *d, struct snapshot s[2], struct atw_err *err);
/* After the last process. */
int diff_rows_end(struct diff_rows *d, struct atw_err *err);
void diff_rows_close(struct diff_rows *d);
