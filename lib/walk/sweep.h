/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep.h - the page tables of many address spaces of a running machine, breadth first.
 *
 * walk.c reads the tables of one space from the root down, a few at a time, because what
 * it reads next depends on what it just read. Here the tables of one level of many spaces
 * are read together, so a listing of all processes takes few large reads.
 *
 * The entries that led to a lowest table, and the guards of the space, are read again
 * after it, as walk/walk_live.h explains. A space for which one of them changed is reported as
 * moved: the caller forgets its tables and walks it.
 */
#ifndef WALK_SWEEP_H
#define WALK_SWEEP_H

#include "walk/walk.h"

/* A table, of any level: entries that lead to other tables are among its words. */
struct sweep_seen {
	size_t space;            /* index */
	unsigned level;
	uint64_t va;             /* of the first entry */
	const void *words;       /* good until the function returns */
	uint32_t n;
};

struct sweep_to {
	/* In no order, but all of one space, then its done(), then those of the next. */
	int (*table)(void *arg, const struct sweep_seen *s, struct atw_err *err);
	/*
	 * All tables of the space were passed to table(). `moved`: not all of them were in
	 * use all the time, or one could not be read.
	 */
	int (*done)(void *arg, size_t space, bool moved, struct atw_err *err);
	void *arg;
};

/*
 * The lower halves (user space) of `n` spaces of one source and one paging mode. A space
 * without a lower root is passed over. What a function of `to` returns, if not ATW_OK,
 * ends the sweep.
 */
int sweep_spaces(const struct mmu_space *const *sp, size_t n, const struct sweep_to *to,
		 struct atw_err *err);

#endif
