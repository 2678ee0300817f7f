/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.h - internal state of the walk iterator. */
#ifndef WALK_STATE_H
#define WALK_STATE_H

#include "walk/walk.h"

struct frame {
	const void *words;
	uint64_t va;             /* of slot 0, without the upper bits of the half */
	uint32_t next, end;      /* remaining slots */
	uint32_t avail;          /* slots whose words were read */
	uint32_t fold;           /* slots from `next` on that repeat the previous one */
	uint32_t unfold;         /* slots below this one are not folded */
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

#endif
