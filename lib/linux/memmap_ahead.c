/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memmap_ahead.c - batched reads of struct pages. */
#include "linux/memmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "source/page_cache.h"

/*
 * Frames are grouped in blocks: the struct pages of a block are mostly one page of kernel
 * memory. A block is found by its number and has a bit for each frame that was added, and
 * for each that was read.
 */
enum {
	BLOCK_BITS = MEMMAP_BLOCK_BITS, BLOCK = MEMMAP_BLOCK,
	BLOCKS = 512,            /* one each if no two frames are close to each other */
	INDEX = 2 * BLOCKS,
	MOST = 4096,             /* frames: 64 full blocks */
	/* To copy so many struct pages costs as much as to begin another read. */
	GAP = 12,
};
/* 64 pages suffice for the heads of the folios of a listing. */
enum { PART = 4096, PARTS = 64 };

struct memmap_ahead_block {
	uint64_t nr;             /* number of its first frame >> BLOCK_BITS */
	uint64_t pa;             /* that the struct page of its first frame has or would have */
	uint64_t added, tried, there;    /* bits: that were added; read; and could be */
};

struct memmap_ahead {
	struct atw_source *mem;
	struct page_cache parts;
	uint32_t size;
	uint32_t n, read;        /* number of blocks; those before it were read */
	uint32_t pages;          /* that were added, up to MOST */
	uint32_t at;             /* block of the last lookup */
	uint32_t to;             /* that was added to last */
	uint64_t reads;
	uint64_t last;           /* frame that was added last */
	bool done;               /* it was looked up */
	uint16_t index[INDEX];   /* hash table: 1 + block; 0: none */
	struct memmap_ahead_block block[BLOCKS];
	struct atw_piece piece[BLOCK];
	uint16_t piece_block[BLOCK];     /* of each piece; its first frame */
	uint8_t piece_first[BLOCK];
	uint8_t bytes[];         /* BLOCK struct pages for each block */
};

struct memmap_ahead *memmap_ahead_create(struct atw_source *mem, uint32_t size)
{
	/* Not all of it is used mostly: memory that is not touched costs nothing. */
	struct memmap_ahead *a = calloc(1, sizeof(*a) + (size_t)size * BLOCK * BLOCKS);

	if (!a || !page_cache_init(&a->parts, PART, (size_t)PART * PARTS)) {
		free(a);
		return NULL;
	}
	a->mem = mem;
	a->size = size;
	return a;
}

void memmap_ahead_destroy(struct memmap_ahead *a)
{
	if (!a)
		return;
	page_cache_deinit(&a->parts);
	free(a);
}

void memmap_ahead_anew(struct memmap_ahead *a)
{
	if (a->n)
		memset(a->index, 0, sizeof(a->index));
	a->n = a->read = a->pages = a->at = a->to = 0;
	a->done = false;
}

uint64_t memmap_ahead_reads(const struct memmap_ahead *a)
{
	return a->reads;
}

/* ---- blocks ---- */

/* Its place in index[], or that which it would have. */
static inline uint32_t memmap_ahead_slot(const struct memmap_ahead *a, uint64_t nr)
{
	uint32_t i = (uint32_t)hash_u64(nr) % INDEX;

	while (a->index[i] && a->block[a->index[i] - 1].nr != nr)
		i = (i + 1) % INDEX;
	return i;
}

/* Bits of `n` frames of a block from `first` on. */
static inline uint64_t memmap_ahead_bits(unsigned first, uint64_t n)
{
	return (n < BLOCK ? ((uint64_t)1 << n) - 1 : UINT64_MAX) << first;
}

/* Makes it the block to add to; false: there is no such block yet. */
static inline bool memmap_ahead_at_block(struct memmap_ahead *a, uint64_t nr)
{
	uint32_t i;

	if (a->n && a->block[a->to].nr == nr)
		return true;
	i = a->index[memmap_ahead_slot(a, nr)];
	if (i)
		a->to = i - 1;
	return i;
}

/* false: there is no room. */
static bool memmap_ahead_add_block(struct memmap_ahead *a, uint64_t nr, uint64_t pa)
{
	if (a->n == BLOCKS)
		return false;
	a->block[a->n] = (struct memmap_ahead_block){ .nr = nr, .pa = pa };
	a->to = a->n++;
	a->index[memmap_ahead_slot(a, nr)] = (uint16_t)a->n;
	return true;
}

static inline void memmap_ahead_add_bits(struct memmap_ahead *a, uint64_t pfn, uint64_t n)
{
	struct memmap_ahead_block *b = &a->block[a->to];
	uint64_t bits = memmap_ahead_bits(pfn % BLOCK, n) & ~(b->added | b->there);

	a->last = pfn + n - 1;
	if (!bits)
		return;
	b->added |= bits;
	a->pages += (uint32_t)n;
	if (a->to < a->read)
		a->read = a->to;
}

/* Frames of one block. Returns how many were added. */
static inline uint64_t memmap_ahead_add_here(struct memmap_ahead *a, uint64_t pfn, uint64_t n,
					     uint64_t pa)
{
	const uint64_t start = pa - pfn % BLOCK * a->size;

	if (n > MOST - a->pages)
		n = MOST - a->pages;
	if (!memmap_ahead_at_block(a, pfn >> BLOCK_BITS) &&
	    !memmap_ahead_add_block(a, pfn >> BLOCK_BITS, start))
		return 0;
	/* A section may begin inside of a block. */
	if (a->block[a->to].pa != start)
		return 0;
	if (n)
		memmap_ahead_add_bits(a, pfn, n);
	return n;
}

/* Start over once the last of them was looked up, or if there is no more room. */
static inline void memmap_ahead_make_room(struct memmap_ahead *a)
{
	if (a->read == a->n && (a->done || a->pages == MOST || a->n == BLOCKS))
		memmap_ahead_anew(a);
}

void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, uint64_t n, atw_pa pa)
{
	uint64_t here;

	memmap_ahead_make_room(a);
	for (; n; n -= here, pfn += here, pa.u += here * a->size) {
		uint64_t left = BLOCK - pfn % BLOCK;

		here = memmap_ahead_add_here(a, pfn, n < left ? n : left, pa.u);
		if (!here)
			return;
	}
}

uint32_t memmap_ahead_add_frames(struct memmap_ahead *a, const uint64_t *pa, uint32_t n,
				 unsigned shift, memmap_ahead_place *place, void *arg)
{
	uint32_t i;

	memmap_ahead_make_room(a);
	for (i = 0; i < n && a->pages < MOST; i++) {
		uint64_t pfn = pa[i] >> shift;
		atw_pa at;

		if (!memmap_ahead_at_block(a, pfn >> BLOCK_BITS)) {
			if (!place(arg, pfn & ~(uint64_t)(BLOCK - 1), &at))
				continue;
			if (!memmap_ahead_add_block(a, pfn >> BLOCK_BITS, at.u))
				break;
		}
		memmap_ahead_add_bits(a, pfn, 1);
	}
	return i;
}

/* ---- reads ---- */

static void memmap_ahead_read_pieces(struct memmap_ahead *a, struct kmem *m, unsigned n)
{
	atw_read_many(a->mem, a->piece, n, NULL);
	for (unsigned i = 0; i < n; i++) {
		const struct atw_piece *p = &a->piece[i];
		uint64_t got = p->got > 0 ? (uint64_t)p->got / a->size : 0;

		if (p->got > 0)
			kmem_touch(m, p->pa, (size_t)p->got);
		if (got)
			a->block[a->piece_block[i]].there |=
				memmap_ahead_bits(a->piece_first[i], got);
	}
}

/* How many frames from `first` on are read together: small gaps are. */
static unsigned memmap_ahead_together(uint64_t added, unsigned first)
{
	unsigned end = first;

	for (;;) {
		uint64_t rest = ~(added >> end), gap;

		end += rest ? (unsigned)__builtin_ctzll(rest) : BLOCK;
		if (end >= BLOCK)
			return BLOCK - first;
		gap = added >> end;
		if (!gap || __builtin_ctzll(gap) > GAP)
			return end - first;
		end += (unsigned)__builtin_ctzll(gap);
	}
}

/* Reads all that were added and not read. */
static void memmap_ahead_read_added(struct memmap_ahead *a, struct kmem *m)
{
	unsigned pieces = 0;

	page_cache_forget(&a->parts);
	for (uint32_t i = a->read; i < a->n; i++) {
		struct memmap_ahead_block *b = &a->block[i];
		uint64_t left = b->added & ~b->tried;
		unsigned first, n;

		for (b->tried = b->added; left; left &= ~memmap_ahead_bits(first, n)) {
			first = (unsigned)__builtin_ctzll(left);
			n = memmap_ahead_together(left, first);
			if (pieces == BLOCK) {
				memmap_ahead_read_pieces(a, m, pieces);
				pieces = 0;
			}
			a->piece_block[pieces] = (uint16_t)i;
			a->piece_first[pieces] = (uint8_t)first;
			a->piece[pieces++] = (struct atw_piece){
				ATW_PA(b->pa + (uint64_t)first * a->size),
				a->bytes + ((size_t)i * BLOCK + first) * a->size,
				(size_t)n * a->size, 0,
			};
		}
	}
	memmap_ahead_read_pieces(a, m, pieces);
	a->read = a->n;
	a->reads++;
}

const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn,
				 uint64_t *ret_n)
{
	const uint64_t nr = pfn >> BLOCK_BITS;
	const unsigned i = pfn % BLOCK;
	const struct memmap_ahead_block *b = &a->block[a->at];
	uint64_t there;

	if (!a->n)
		return NULL;
	/* Mostly they are looked up in the order in which they were added. */
	if (b->nr != nr && a->at + 1 < a->n && b[1].nr == nr) {
		a->at++;
		b++;
	} else if (b->nr != nr) {
		uint32_t slot = memmap_ahead_slot(a, nr);

		if (!a->index[slot])
			return NULL;
		a->at = a->index[slot] - 1u;
		b = &a->block[a->at];
	}
	if ((b->added & ~b->tried) >> i & 1)
		memmap_ahead_read_added(a, m);
	there = b->there >> i;
	if (!(there & 1))
		return NULL;
	a->done |= pfn == a->last;
	*ret_n = ~there ? (uint64_t)__builtin_ctzll(~there) : BLOCK;
	return a->bytes + ((size_t)a->at * BLOCK + i) * a->size;
}

const uint8_t *memmap_ahead_page(struct memmap_ahead *a, struct kmem *m, uint64_t address,
				 struct atw_err *err)
{
	const void *p = page_cache_find(&a->parts, address);
	void *room;

	if (p)
		return p;
	room = page_cache_claim(&a->parts, address);
	if (kmem_read(m, address, room, PART, err) < 0)
		return NULL;
	page_cache_commit(&a->parts, address);
	return room;
}
