/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finder.h - reverse lookup: entries of one address space that lead to given memory.
 *
 * One walk over the space, for any number of requests: a page's mappings may be
 * anywhere. Tables that recur are walked once, and what they map is multiplied.
 */
#ifndef LINUX_FINDER_H
#define LINUX_FINDER_H

#include "linux/linux.h"

/* Requested physical memory; inclusive. */
struct rmap_range {
	uint64_t first, last;
	bool byte;               /* of first..last, a page, `at` is meant */
	uint64_t at;
	uint64_t max_last;       /* of this one and all before it */
};

struct rmap_ranges {
	struct rmap_range *v; /* sorted by wanted_sort() */
	size_t n;
};
void wanted_sort(struct rmap_ranges *w);

/* An entry that leads there, or neighbours of one table that all do. */
struct rmap_entry {
	uint64_t va, pa, bytes;  /* clipped to what was asked */
	uint64_t times, stride;  /* addresses that have it: every `stride` bytes */
	uint64_t word, entry_at;
	uint64_t flags;          /* those all have */
	uint64_t end;            /* of the address space of the last entry */
	uint32_t count;          /* entries */
	uint16_t index;
	uint8_t level, rights, span;
	uint8_t kind;            /* LEAF, TABLE; ABSENT: a word that keeps a page */
	uint8_t what;            /* then: enum atw_soft */
	bool byte;               /* the one byte is meant, `va` is its address */
	bool flagless;           /* `flags` are not known */
};

struct rmap {
	const struct rmap_ranges *want;
	const struct atw_soft_abi *soft;
	bool all;                /* neither merge nor fold */
	struct rmap_entry *hit;  /* of one space, in order of address */
	size_t n, cap;
	uint64_t leaves;         /* looked at */
	uint64_t lost, excluded, damaged, unstable;     /* tables that are not to be had */
	struct atw_err damage;   /* the first one */
};

/*
 * Adds the hits of addresses first..last, `depth` levels deep (0: all).
 * ATW_E_LIMIT: what was seen until then is in it.
 */
int finder_walk(struct rmap *f, const struct mmu_space *sp, uint64_t first, uint64_t last,
		unsigned depth, struct atw_err *err);
/*
 * Adds the hits of `slot` bytes of memory that are mapped at like->va and begin at
 * like->pa. The mapping may come from any source: all other fields are those of `like`.
 */
int finder_add(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
	       struct atw_err *err);
/* Merge what is one run; after all walks of a space. */
void finder_merge(struct rmap *f);
/* Does a table at `pa` lie in what is asked for? */
bool finder_wants(const struct rmap *f, uint64_t pa, uint64_t len);

#endif
