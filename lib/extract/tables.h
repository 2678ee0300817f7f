/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tables.h - the page tables of address spaces, each table once. */
#ifndef EXTRACT_TABLES_H
#define EXTRACT_TABLES_H

#include "walk/walk.h"

#include "base/table.h"
#include "extract/marks.h"

struct tables {
	struct byte_marks *marks;
	/*
	 * Tables are read without marking: for a running machine. Each space is walked
	 * again then, because a table of a process that ended may be another's by now;
	 * but tables visited while `shared` is set are visited once.
	 */
	bool reading, shared;
	struct table seen;       /* by address and level */
	uint64_t bytes, lost;
	void *scratch;           /* room for the largest table */
	bool failed;             /* an allocation failed */
};

void tables_deinit(struct tables *t);
/* All tables that both roots of the space lead to. ATW_E_LIMIT: those visited so far. */
int tables_add(struct tables *t, const struct mmu_space *sp, struct atw_err *err);

#endif
