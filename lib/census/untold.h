/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * untold.h - what a capture does not tell, told.
 *
 * Its V: lines say how much of an area is in memory. Where runs bring less of it, or
 * nothing says what is there, an L: record behind the area says so, as it does of
 * what the collector could not read: to whoever listens the two are one.
 */
#ifndef CENSUS_UNTOLD_H
#define CENSUS_UNTOLD_H

#include "census/census.h"

struct untold {
	const struct census_sink *to;
	const struct capture_reader *rd; /* its form and its pages */
	uint64_t pid;
	uint64_t lost[2];                /* what the last L: line was about: that is told */
	/* The area under way. */
	bool open, any;                  /* any: a P: or an M: line was there */
	uint64_t start, last;
	uint64_t resident, listed;       /* pages */
};

/* Passes all on to `u->to`. */
struct census_sink untold_sink(struct untold *u);
/* Behind the last record. */
int untold_end(struct untold *u, struct atw_err *err);

#endif
