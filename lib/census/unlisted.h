/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unlisted.h - sink that adds L: records for pages that a capture counts but does not
 * describe.
 *
 * A V: line has the number of resident pages of a VMA. If runs list fewer, or no line
 * describes the pages, an L: record is added behind the VMA, as for pages that the
 * collector could not read: consumers need not distinguish the two.
 */
#ifndef CENSUS_UNLISTED_H
#define CENSUS_UNLISTED_H

#include "census/census.h"

struct unlisted {
	const struct census_sink *to;
	const struct capture_reader *rd; /* its format and page size */
	uint64_t pid;
	uint64_t lost[2];                /* range of the last L: line, already reported */
	/* The current VMA. */
	bool open, any;                  /* any: it has a P: or an M: line */
	uint64_t start, last;
	uint64_t resident, listed;       /* pages */
};

/* Passes all records on to `u->to`. */
struct census_sink unlisted_sink(struct unlisted *u);
/* To be called after the last record. */
int unlisted_end(struct unlisted *u, struct atw_err *err);

#endif
