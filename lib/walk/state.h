/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.h - how far an iterator over an address space has come. */
#ifndef WALK_STATE_H
#define WALK_STATE_H

#include "walk/walk.h"

struct frame {
	const void *words;
	uint64_t va;             /* of slot 0, without the half's upper bits */
	uint32_t next, end;      /* slots still to look at */
	uint32_t avail;          /* slots with words that were read */
	uint32_t fold;           /* slots from `next` on that repeat the last */
	uint32_t unfold;         /* slots below this are walked one by one */
	uint8_t rights;
	enum mmu_loss loss;      /* of slots at and past avail */
	atw_pa table;
};

/* A half of the address space, clipped to what was asked for. */
struct half {
	struct mmu_root root;
	uint64_t lo, hi;         /* translated bits, inclusive */
	uint64_t upper;          /* what those bits lack to be canonical */
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
	/* Those of them that are address all the same in a leaf of one slot. */
	uint64_t address[ATW_MAX_LEVELS];
	void *scratch[ATW_MAX_LEVELS];
	struct live_walk *live;  /* NULL: these tables do not change */
	uint64_t resume;         /* where it was set back to go on: see live.h */
	struct mmu_seen seen;
	struct mmu_walk_stats stats;
	struct atw_err damage;   /* of the last table that could not be read */
	struct atw_err stop;     /* why the walk ended early; it stays ended */
};

static inline unsigned level_of(const struct mmu_walk *w, int depth)
{
	return w->sp.paging.nlevels - 1u - (unsigned)depth;
}

#endif
