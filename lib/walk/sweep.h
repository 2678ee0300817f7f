/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sweep.h - breadth-first read of the page tables of many address spaces of a running
 * machine.
 *
 * walk.c reads the tables of one space from the root down, a few at a time, because each
 * read depends on the previous one. Here the tables of one level of many spaces are read
 * together, so a listing of all processes takes few large reads.
 *
 * The entries that led to a lowest table, and the guards of the space, are re-read after
 * it, as walk/walk_live.h explains. A space for which one of them changed is reported as
 * moved: the caller discards its tables and walks it.
 */
#pragma once

#include "walk/walk.h"

/* A table of any level; entries that lead to other tables are included. */
struct sweep_seen {
	size_t space;            /* index */
	unsigned level;
	uint64_t va;             /* of the first entry */
	const void *words;       /* valid until the function returns */
	uint32_t n;
};

struct sweep_to {
	/*
	 * In any order, but all tables of a space, then its done(), then those of the
	 * next.
	 */
	int (*table)(void *arg, const struct sweep_seen *s, struct atw_err *err);
	/*
	 * All tables of the space have been passed to table(). `moved`: some were not in
	 * use all the time, or could not be read.
	 */
	int (*done)(void *arg, size_t space, bool moved, struct atw_err *err);
	void *arg;
};

/*
 * The lower halves (user space) of `n` spaces of one source and one paging mode. A space
 * without a lower root is skipped. A result of a function of `to` other than ATW_OK ends
 * the sweep and is returned.
 */
int sweep_spaces(const struct mmu_space *const *sp, size_t n, const struct sweep_to *to,
		 struct atw_err *err);
