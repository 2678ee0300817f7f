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
#pragma once

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

/* ---- state.c: internal state of the walk iterator ---- */

struct frame {
	const void *words;
	uint64_t va;             /* of slot 0, without the upper bits of the half */
	uint32_t next, end;      /* remaining slots */
	uint32_t avail;          /* slots whose words were read */
	uint32_t fold;           /* slots from `next` on that repeat the previous one */
	uint32_t unfold;         /* slots below this one are not folded */
	uint32_t ahead;          /* tables of slots below this one were announced */
	uint8_t rights;
	enum mmu_loss loss;      /* of slots from avail on */
	atw_pa table;
};

/* A half of the address space, clipped to the requested range. */
struct half {
	struct mmu_root root;
	uint64_t lo, hi;         /* translated bits, inclusive */
	uint64_t upper;          /* the bits to add to make addresses canonical */
};

struct mmu_walk {
	struct mmu_space sp;
	struct mmu_walk_opts o;
	unsigned bottom;         /* the lowest level to descend to */
	struct half half[2];
	unsigned nhalves, at_half;

	struct frame stack[ATW_MAX_LEVELS];
	int top;                 /* index into stack, -1: before a half's root */
	bool descend;            /* the entry at stack[top].next - 1 is a table */
	atw_pa child;

	uint64_t attrs[ATW_MAX_LEVELS];
	/* The bits of these that are address bits in a leaf of a single slot. */
	uint64_t address[ATW_MAX_LEVELS];
	void *scratch[ATW_MAX_LEVELS];
	struct live_walk *live;  /* NULL: the tables do not change */
	bool unpacks;            /* the source unpacks tables that are announced */
	uint64_t resume;         /* address to resume at after a reset: see walk_live.h */
	struct mmu_seen seen;
	struct mmu_walk_stats stats;
	struct atw_err damage;   /* of the last table that could not be read */
	struct atw_err stop;     /* reason of a premature end, which is final */
};

static inline unsigned level_of(const struct mmu_walk *w, int depth)
{
	return w->sp.paging.nlevels - 1u - (unsigned)depth;
}
