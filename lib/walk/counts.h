/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - table of mapcounts: how often each page frame is mapped by the page tables
 * that were walked.
 *
 * Frames are counted in chunks; translations that cover whole chunks, as huge pages do,
 * have one entry each, so 1 GiB costs as much as 4 KiB.
 */
#pragma once

#include "base/hash.h"

/*
 * A chunk is one cache line, because frames come in random order. It is small to limit
 * the memory that hostile tables can consume: each 8-byte entry may refer to another
 * chunk.
 *
 * The table has the chunks themselves: base/table.h would have pointers to them, which
 * is a second cache miss for each frame.
 */
#define COUNTS_CHUNK 56

/* Frames per byte that states whether larger translations cover some of them. */
#define COUNTS_CROWD 512

struct counts_chunk {
	uint64_t nr;             /* 1 + frame / COUNTS_CHUNK; 0: unused */
	uint8_t each[COUNTS_CHUNK];      /* counts up to 255; the excess is in `large` */
};

/*
 * A count at its maximum moves ..._CARRY mappings to `large` and keeps ..._FULL: from
 * there on, a count may have an excess.
 */
enum {
	COUNTS_CARRY = 127, COUNTS_FULL = UINT8_MAX - COUNTS_CARRY,
	COUNTS_FLAT_CARRY = 32767, COUNTS_FLAT_FULL = UINT16_MAX - COUNTS_FLAT_CARRY,
};

/*
 * Translations of 1 << order aligned frames; entries of order 0 hold the excess of counts
 * in chunks.
 */
struct counts_large {
	uint64_t key;            /* 1 + (first frame << 6 | order); 0: unused */
	uint64_t times;
};

struct counts {
	/*
	 * Frames below `dense` have a count each, up to 65535; the excess is in `large`
	 * as for chunks. Counts of unmapped frames are never touched and take no memory.
	 */
	uint16_t *flat;
	uint64_t dense;
	uint8_t *crowd;          /* per COUNTS_CROWD frames: is any of them, or all, in
				  * `large`? */
	struct counts_chunk *chunk;      /* a hash table, at most two thirds full */
	size_t n, slots;                 /* slots: a power of two, or 0 */
	size_t last;                     /* slot of the last lookup */
	struct counts_large *large;      /* a second hash table */
	size_t nlarge, large_slots;
	uint64_t orders;                 /* bit set of orders in `large` */
	struct counts_large met[64];     /* last lookup of each order */
	uint64_t bytes;                  /* approximate memory use */
	uint64_t most;                   /* limit of it; 0: unlimited */
};

void counts_deinit(struct counts *c);
/*
 * Count one more mapping of `pages` frames from pfn on. false: no memory, or the limit is
 * reached.
 */
bool counts_add(struct counts *c, uint64_t pfn, uint64_t pages);
/*
 * Use one array for the frames below `end`, in huge pages where most of them are mapped.
 * Only for memory that exists. false, without any change: something was counted before,
 * or the array does not fit into the limit.
 */
bool counts_make_dense(struct counts *c, uint64_t end, bool huge);
/* The same, for frames that are mapped one by one. */
bool counts_add_each(struct counts *c, uint64_t pfn, uint64_t pages);
/* The same for one frame. */
static inline bool counts_add_one(struct counts *c, uint64_t pfn)
{
	struct counts_chunk *k = c->slots ? &c->chunk[c->last] : NULL;

	if (pfn < c->dense && c->flat[pfn] < UINT16_MAX) {
		c->flat[pfn]++;
		return true;
	}
	if (!k || k->nr != pfn / COUNTS_CHUNK + 1 || k->each[pfn % COUNTS_CHUNK] == UINT8_MAX)
		return counts_add(c, pfn, 1);
	k->each[pfn % COUNTS_CHUNK]++;
	return true;
}
/* Orders of translations that have entries of their own: at least a chunk. */
static inline bool counts_is_large(uint64_t pfn, uint64_t pages)
{
	return pages >= 64 && !(pages & (pages - 1)) && !(pfn & (pages - 1));
}

/* May such a translation cover the frame? */
static inline bool counts_may_be_large(const struct counts *c, uint64_t pfn)
{
	return c->orders & ~(uint64_t)1 && (pfn >= c->dense || c->crowd[pfn / COUNTS_CROWD]);
}

/* The slow path of counts_get(). */
uint64_t counts_find(struct counts *c, uint64_t pfn);

/* Consecutive frames are mostly in the same chunk. */
static inline uint64_t counts_get(struct counts *c, uint64_t pfn)
{
	const struct counts_chunk *k = c->slots ? &c->chunk[c->last] : NULL;

	if (pfn < c->dense && !c->crowd[pfn / COUNTS_CROWD] && c->flat[pfn] < COUNTS_FLAT_FULL)
		return c->flat[pfn];
	if (k && k->nr == pfn / COUNTS_CHUNK + 1 && !(c->orders & ~(uint64_t)1) &&
	    k->each[pfn % COUNTS_CHUNK] < COUNTS_FULL)
		return k->each[pfn % COUNTS_CHUNK];
	return counts_find(c, pfn);
}

/* The same, and the number of frames from pfn on, at most `most`, with that count. */
uint64_t counts_run(struct counts *c, uint64_t pfn, uint64_t most, uint64_t *ret_same);

/* The first slot of the hash table to probe for a chunk. */
static inline size_t counts_slot(const struct counts *c, uint64_t nr)
{
	return (size_t)hash_u64(nr) & (c->slots - 1);
}

/* Prefetch: the frame will be looked up or counted after a few others. */
static inline void counts_soon(const struct counts *c, uint64_t pfn)
{
	if (pfn < c->dense)
		__builtin_prefetch(&c->flat[pfn]);
	else if (c->slots)
		__builtin_prefetch(&c->chunk[counts_slot(c, pfn / COUNTS_CHUNK + 1)]);
}

/* Frames in random order are prefetched so many ahead. */
enum { COUNTS_SOON = 12 };
