/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - areas of one file that are the same part of it, in all processes.
 *
 * What is the same: file, class, rights, and where in the file it begins. How long
 * it is may differ; the longest counts. Where files are known by name alone, sizes
 * must agree, too: the paper's names are cut off.
 */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "census/model.h"

struct part {
	uint32_t number;                 /* from 0, in the order they were met */
	const struct census_unit *unit;  /* as it was then: may have joined another */
	enum census_class class;
	unsigned flags;                  /* census_flags(), all that any has */
	uint64_t pos;
	uint64_t size;                   /* bytes, if they must agree, else 0 */
	uint64_t pages;                  /* of the longest */
	uint64_t used;                   /* areas */
	uint64_t mapped;                 /* their pages, resident or not */
	bool guess;
	bool refused;                    /* it claims more pages than are counted */
	bool incomplete;                 /* some of its pages are not recorded */
	struct part *next;              /* parts_sort(): the same part of a copy */
};

struct parts {
	struct part **v;                /* each stays where it is */
	size_t n, cap;
	struct part **slot;             /* a hash table, at most half full */
	size_t slots;
	struct part *last;
};

/*
 * Pages of an area of a program or library that are counted: a quarter of a TiB. One
 * that lies takes no more of what there is room for in all.
 */
#define PART_AREA_MOST ((uint64_t)1 << 26)

void parts_deinit(struct parts *g);
/* At CENSUS_ON_AREA. NULL: no memory. */
struct part *parts_of(struct parts *g, const struct census_area *a);
/* At CENSUS_ON_AREA_END, when its size is known. */
void part_add(struct part *g, const struct census_area *a, uint64_t page);
/*
 * At the end: v[] by unit and place, copies put to the first of their kind (->next).
 * Returns how many are left in front of v[].
 */
size_t parts_sort(struct parts *g);

#endif
