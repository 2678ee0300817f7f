/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - how often each page frame is mapped, as far as one has looked.
 *
 * Frames are counted in chunks. A translation that covers a whole chunk, as a
 * huge page does, is one addition, and a chunk that only such ones map costs no
 * more than its head.
 */
#ifndef WALK_COUNTS_H
#define WALK_COUNTS_H

#include <atwalk/base.h>

/*
 * Small, for what hostile tables can make us keep: each entry of 8 bytes may be
 * of another chunk.
 */
#define COUNTS_CHUNK 64

struct counts_chunk {
	uint64_t nr;             /* 1 + frame / COUNTS_CHUNK; 0: unused */
	uint32_t *each;          /* on top of `whole`; NULL: none */
	uint32_t whole;          /* translations that cover all of it */
};

struct counts {
	struct counts_chunk *chunk;      /* a hash table, at most half full */
	size_t n, slots;                 /* slots: a power of two, or 0 */
	size_t last;                     /* the slot met last */
};

void counts_deinit(struct counts *c);
/* `pages` frames from pfn on are mapped once more. false: no memory. */
bool counts_add(struct counts *c, uint64_t pfn, uint64_t pages);
uint64_t counts_get(struct counts *c, uint64_t pfn);

#endif
