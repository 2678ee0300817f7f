/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rmap.h - reverse map: entries of one address space that lead to given memory.
 *
 * One walk over the space serves any number of requests, because the mappings of a page
 * may be anywhere. Repeated tables are walked once, and their results are multiplied.
 */
#pragma once

#include "walk/walk.h"

/* Requested physical range; inclusive. */
struct rmap_range {
	uint64_t first, last;
	bool byte;               /* only the byte `at` of first..last, a page, is
				  * requested */
	uint64_t at;
	uint64_t max_last;       /* maximum of this one and all before it */
};

/*
 * Where to begin a search, by regions of memory: a table of the first request that reaches
 * into each. Most leaves of a walk lead to memory that no request names, and one load shows
 * that. Regions are pages if they are few enough.
 */
struct rmap_index {
	uint64_t low;            /* the first byte of the first region */
	unsigned shift;          /* log2 of the size of a region */
	size_t n;                /* regions */
	uint32_t *first;         /* of each of them, and of the one behind; NULL: no table */
};

struct rmap_ranges {
	struct rmap_range *v;    /* the caller's, sorted by rmap_sort() */
	size_t n;
	struct rmap_index index; /* made by rmap_sort() if there is memory for it */
};
/* Once for all walks; again after requests were added. */
void rmap_sort(struct rmap_ranges *w);
/* Frees what rmap_sort() made. */
void rmap_ranges_deinit(struct rmap_ranges *w);

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
	uint8_t kind;            /* LEAF, TABLE; ABSENT: non-present, and keeps a page */
	uint8_t what;            /* then: of what kind, as rmap_kept_fn returns it */
	uint8_t properties;      /* common to all entries */
	bool byte;               /* a single byte was requested, `va` is its address */
	bool flagless;           /* `flags` are not known */
	bool opaque;             /* nor are `properties` */
};

/*
 * What an absent word is that keeps a page, and the page; 0: it keeps none. Below 0x80:
 * the highest bit is the reverse map's own.
 */
typedef uint8_t rmap_kept_fn(const void *arg, const struct mmu_space *sp,
			     const struct mmu_seen *s, uint64_t *ret_pa);

struct rmap {
	const struct rmap_ranges *want;
	rmap_kept_fn *kept;      /* NULL: no such words are looked for */
	const void *kept_arg;
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
int rmap_walk(struct rmap *f, const struct mmu_space *sp, uint64_t first, uint64_t last,
		unsigned depth, struct atw_err *err);
/*
 * Adds the results for `slot` bytes of memory that are mapped at like->va and begin at
 * like->pa. For mappings from any source: all other fields are copied from `like`.
 */
int rmap_add(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
	       struct atw_err *err);
/* Merge adjacent results; to be called after all walks of a space. */
void rmap_merge(struct rmap *f);
/* Is the table at `pa` inside of a request? */
bool rmap_wants(const struct rmap *f, uint64_t pa, uint64_t len);
/* Where the entry of a result leads now. */
enum rmap_now {
	RMAP_HOLDS,              /* to the same table */
	RMAP_MOVED,              /* to another table, which is the one of the result now */
	RMAP_GONE,               /* to no table */
	RMAP_UNREAD,             /* unknown */
};
/*
 * Reads the word of the first entry of a result again if the source is live. The kernel
 * clears an entry before it frees the table, so what was read about the frame of the
 * table before a call that returns RMAP_HOLDS was about a table.
 */
enum rmap_now rmap_look(const struct mmu_space *sp, struct rmap_entry *h);
