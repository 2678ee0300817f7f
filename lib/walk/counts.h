/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - how often each page frame is mapped, as far as one has looked.
 *
 * Frames are counted in chunks, and translations that cover whole chunks, as
 * huge pages do, by themselves: what one of a GiB costs is what one of 4 KiB does.
 */
#ifndef WALK_COUNTS_H
#define WALK_COUNTS_H

#include "base/hash.h"

/*
 * A chunk is a line of the cache, for frames come in any order, and small, for what
 * hostile tables can make us keep: each entry of 8 bytes may be of another one.
 */
#define COUNTS_CHUNK 56

/* Frames with one byte to say whether larger translations lie among them. */
#define COUNTS_CROWD 512

struct counts_chunk {
	uint64_t nr;             /* 1 + frame / COUNTS_CHUNK; 0: unused */
	uint8_t each[COUNTS_CHUNK];      /* of its frames, up to 255; the rest is in `large` */
};

/* What goes from a count that is full to `large`: a count that gave some stays that high. */
enum {
	COUNTS_CARRY = 127, COUNTS_FULL = UINT8_MAX - COUNTS_CARRY,
	COUNTS_FLAT_CARRY = 32767, COUNTS_FLAT_FULL = UINT16_MAX - COUNTS_FLAT_CARRY,
};

/*
 * Translations of 1 << order frames from a multiple of that on; of order 0, what a
 * chunk had no room for.
 */
struct counts_large {
	uint64_t key;            /* 1 + (first frame << 6 | order); 0: unused */
	uint64_t times;
};

struct counts {
	/*
	 * Of the frames below `dense` a count each, up to 65535; the rest is in `large`
	 * as that of chunks is. Counts of unmapped frames are never touched, and take no
	 * memory.
	 */
	uint16_t *flat;
	uint64_t dense;
	uint8_t *crowd;          /* a byte for COUNTS_CROWD of them: any in `large`, as a whole? */
	struct counts_chunk *chunk;      /* a hash table, two thirds full at most */
	size_t n, slots;                 /* slots: a power of two, or 0 */
	size_t last;                     /* the slot met last */
	struct counts_large *large;      /* another one */
	size_t nlarge, large_slots;
	uint64_t orders;                 /* that there are, a bit each */
	struct counts_large met[64];     /* found last, of each order */
	uint64_t bytes;                  /* that all of this takes, about */
	uint64_t most;                   /* that it may take; 0: as many as there are */
};

void counts_deinit(struct counts *c);
/* `pages` frames from pfn on are mapped once more. false: no memory, or no more. */
bool counts_add(struct counts *c, uint64_t pfn, uint64_t pages);
/*
 * Count the frames below `end` in one array, in huge pages where most of them are mapped.
 * For memory that is there: false, and nothing is changed, if something was counted
 * before, or there is no room for it.
 */
bool counts_make_dense(struct counts *c, uint64_t end, bool huge);
/* The same, each of them mapped by itself. */
bool counts_add_each(struct counts *c, uint64_t pfn, uint64_t pages);
/* The same of one frame. */
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
/* Translations that are counted by themselves: of as many frames as a chunk, or more. */
static inline bool counts_is_large(uint64_t pfn, uint64_t pages)
{
	return pages >= 64 && !(pages & (pages - 1)) && !(pfn & (pages - 1));
}

/* May one of those cover the frame? */
static inline bool counts_may_be_large(const struct counts *c, uint64_t pfn)
{
	return c->orders & ~(uint64_t)1 && (pfn >= c->dense || c->crowd[pfn / COUNTS_CROWD]);
}

/* What counts_get() has not at hand. */
uint64_t counts_find(struct counts *c, uint64_t pfn);

/* Neighbours follow each other, as a rule. */
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

/* The same, and of how many frames from pfn on, `most` at most, it is so. */
uint64_t counts_run(struct counts *c, uint64_t pfn, uint64_t most, uint64_t *ret_same);

/* Where a chunk belongs, or one before it that has its place. */
static inline size_t counts_slot(const struct counts *c, uint64_t nr)
{
	return (size_t)hash_u64(nr) & (c->slots - 1);
}

/* That frame will be asked for, or counted, after a few others: only a hint. */
static inline void counts_soon(const struct counts *c, uint64_t pfn)
{
	if (pfn < c->dense)
		__builtin_prefetch(&c->flat[pfn]);
	else if (c->slots)
		__builtin_prefetch(&c->chunk[counts_slot(c, pfn / COUNTS_CHUNK + 1)]);
}

/* Frames in random order are prefetched so many in advance. */
enum { COUNTS_SOON = 12 };

#endif
