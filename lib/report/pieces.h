/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pieces.h - number of users of each page of each part, half a byte per page.
 *
 * Only pieces with a resident page are allocated: a process that maps much memory usually
 * has little of it resident.
 */
#ifndef REPORT_PIECES_H
#define REPORT_PIECES_H

#include "base/table.h"
#include "report/page_map.h"
#include "report/parts.h"

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

#endif
