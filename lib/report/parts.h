/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parts.h - file segments: VMAs of one file, in all processes, that map the same part.
 *
 * Parts are equal if file, class, permissions and offset are. Their lengths may differ;
 * the maximum counts. If files are only known by name, sizes must be equal, too, because
 * names in the LPMA format are truncated.
 */
#pragma once

#include "base/table.h"
#include "report/page_map.h"

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

/* ---- pieces ---- */

/*
 * Number of users of each page of each part, half a byte per page.
 *
 * Only pieces with a resident page are allocated: a process that maps much memory usually
 * has little of it resident.
 */

#define PIECE 1024               /* pages */

struct piece;

/* Begins zeroed. */
struct pieces {
	struct table table;              /* by part and place */
	struct piece *last;
	struct piece **first;            /* of each part, set by sorting */
};

/*
 * Adds a user of `pages` pages of the part, by its number, from `at` on. ATW_E_LIMIT: too
 * many.
 */
int pieces_count(struct pieces *t, uint32_t part, uint64_t at, uint64_t pages,
		 struct atw_err *err);
/* Ends counting: there are `parts` parts. */
int pieces_sort(struct pieces *t, size_t parts, struct atw_err *err);
void pieces_deinit(struct pieces *t);

/* Pieces of a part and its copies in order, with those of the same offset added up. */
struct part_pieces {
	struct piece **v;                /* array owned by the caller, without the
					  * elements */
	size_t n, cap;
	uint64_t resident;               /* pages with at least one user */
};

/* Once for each part, because counts are added up in place. */
int pieces_gather(const struct pieces *t, const struct part *g, struct part_pieces *ret,
		  struct atw_err *err);
/*
 * Each of its `pages` pages as a mark, to one of two; the other is NULL. `incomplete`:
 * pages without users need not be absent.
 */
void pieces_marks(const struct part_pieces *p, uint64_t pages, bool incomplete,
		  struct map *map, struct map_text *text);
