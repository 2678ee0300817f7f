/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - file segments: VMAs of one file, in all processes, that map the same part.
 *
 * Parts are equal if file, class, permissions and offset are. Their lengths may differ;
 * the maximum counts. If files are only known by name, sizes must be equal, too, because
 * names in the LPMA format are truncated.
 */
#ifndef REPORT_PARTS_H
#define REPORT_PARTS_H

#include "base/table.h"
#include "census/model.h"

struct part {
	uint32_t number;                 /* from 0, in order of appearance */
	const struct census_unit *unit;  /* at that time: it may have been joined later */
	enum census_class class;
	unsigned flags;                  /* census_flags() of all VMAs */
	uint64_t pos;
	uint64_t size;                   /* bytes, if they must agree, else 0 */
	uint64_t pages;                  /* of the longest VMA */
	uint64_t used;                   /* number of VMAs */
	uint64_t mapped;                 /* their pages, resident or not */
	bool guess;
	bool refused;                    /* its pages are too many to be counted */
	bool incomplete;                 /* some of its pages are not recorded */
	struct part *next;              /* parts_sort(): the same part of a copy */
};

struct parts {
	struct part **v;                /* pointers remain valid */
	size_t n, cap;
	struct table table;
	struct part *last;
};

/*
 * Limit of counted pages of a VMA of a program or library: a quarter of a TiB. It keeps a
 * hostile VMA from using up the total limit.
 */
#define PART_AREA_MOST ((uint64_t)1 << 26)

void parts_deinit(struct parts *g);
/* At CENSUS_ON_AREA. NULL: no memory. */
struct part *parts_of(struct parts *g, const struct census_area *a);
/* At CENSUS_ON_AREA_END, when its size is known. */
void part_add(struct part *g, const struct census_area *a, uint64_t page);
/*
 * At the end: v[] by unit and offset, copies linked to the first of their kind (->next).
 * Returns the number of remaining ones at the front of v[].
 */
size_t parts_sort(struct parts *g);

#endif
