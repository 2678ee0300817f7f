/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk_live.h - reads of page tables that change meanwhile.
 *
 * Reads of a running machine are only as valid as the path to them: a table that was
 * freed may be a page of another process by now. So tables are read together with the
 * entries that led to them; these are read last, from the lowest up to the root and to
 * the guards of the root. If all of them still point to the same tables, the tables were
 * in use when they were read.
 *
 * If an entry has changed, the walk is set back to it. What was returned before is not
 * returned again: `resume` is the address to continue at, and if it is inside of what is
 * now a single entry, the remainder of that entry is the next piece.
 */
#ifndef WALK_WALK_LIVE_H
#define WALK_WALK_LIVE_H

#include "walk/walk.h"

struct mmu_walk;
struct frame;

enum { LIVE_TRIES = 8 };         /* attempts at one place before it is reported as
				  * unstable */

/* No operation for sources that do not change. */
int live_walk_init(struct mmu_walk *w, struct atw_err *err);
void live_walk_deinit(struct mmu_walk *w);

/*
 * Fill in the words of the table that the entry before stack[top].next leads to, or of
 * the root. false: it is not available; the walk was set back to an entry above, or
 * stopped.
 */
bool live_table(struct mmu_walk *w, unsigned level, atw_pa table, struct frame *f);

/* Do both words lead to the same table? */
bool live_same(const struct atw_paging *pg, unsigned level, uint64_t a, uint64_t b);
/* false: the tables are no longer in use. */
bool live_guarded(const struct mmu_guard *g, const void *word, ssize_t got);

#endif
