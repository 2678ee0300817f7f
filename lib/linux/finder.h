/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * finder.h - reverse map of one address space: entries that lead to given memory.
 *
 * One walk over the space serves any number of requests, because the mappings of a page
 * may be anywhere. Repeated tables are walked once, and their results are multiplied.
 */
#ifndef LINUX_FINDER_H
#define LINUX_FINDER_H

#include "linux/linux.h"

/* Requested physical range; inclusive. */
struct rmap_range {
	uint64_t first, last;
	bool byte;               /* only the byte `at` of first..last, a page, is
				  * requested */
	uint64_t at;
	uint64_t max_last;       /* maximum of this one and all before it */
};

struct rmap_ranges {
	struct rmap_range *v; /* sorted by wanted_sort() */
	size_t n;
};
void wanted_sort(struct rmap_ranges *w);

/* An entry that leads there, or adjacent ones of one table that all do. */
struct rmap_entry {
	uint64_t va, pa, bytes;  /* clipped to the request */
	uint64_t times, stride;  /* number of addresses, at intervals of `stride` bytes */
	uint64_t word, entry_at;
	uint64_t flags;          /* common to all entries */
	uint64_t end;            /* end of the address space of the last entry */
	uint32_t count;          /* entries */
	uint16_t index;
	uint8_t level, rights, span;
	uint8_t kind;            /* LEAF, TABLE; ABSENT: a non-present entry that keeps
				  * a page */
	uint8_t what;            /* for ABSENT: enum atw_soft */
	bool byte;               /* a single byte was requested, `va` is its address */
	bool flagless;           /* `flags` are not known */
};

struct rmap {
	const struct rmap_ranges *want;
	const struct atw_soft_abi *soft;
	bool all;                /* neither merge nor fold */
	struct rmap_entry *hit;  /* of one space, in order of addresses */
	size_t n, cap;
	uint64_t leaves;         /* examined */
	uint64_t lost, excluded, damaged, unstable;     /* tables that are missing */
	struct atw_err damage;   /* the first failure */
};

/*
 * Adds the results of addresses first..last, `depth` levels deep (0: all). ATW_E_LIMIT:
 * the results so far are included.
 */
int finder_walk(struct rmap *f, const struct mmu_space *sp, uint64_t first, uint64_t last,
		unsigned depth, struct atw_err *err);
/*
 * Adds the results for `slot` bytes of memory that are mapped at like->va and begin at
 * like->pa. For mappings from any source: all other fields are copied from `like`.
 */
int finder_add(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
	       struct atw_err *err);
/* Merge adjacent results; to be called after all walks of a space. */
void finder_merge(struct rmap *f);
/* Is the table at `pa` inside of a request? */
bool finder_wants(const struct rmap *f, uint64_t pa, uint64_t len);

#endif
