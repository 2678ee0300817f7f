/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables.h - the page tables of address spaces, each table once. */
#ifndef EXTRACT_TABLES_H
#define EXTRACT_TABLES_H

#include "walk/walk.h"

#include "extract/marks.h"

struct tables {
	struct byte_marks *marks;
	/*
	 * They are read, and nothing is marked: of a running machine. Each space is
	 * then walked anew, for a table of one that ended may be another's by now;
	 * but those met while `shared` is set are met once.
	 */
	bool reading, shared;
	uint64_t *seen;          /* address and level, 0: an empty place */
	size_t n, places;
	uint64_t bytes, lost;
	void *scratch;           /* of the largest table there is */
	bool failed;             /* no memory */
};

void tables_deinit(struct tables *t);
/*
 * Everything that both roots of the space lead to. ATW_E_LIMIT: what was met
 * until then.
 */
int tables_add(struct tables *t, const struct mmu_space *sp, struct atw_err *err);

#endif
