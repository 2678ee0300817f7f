/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel/memmap_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "source/page_cache.h"

/* As many as a page table has entries, and a look at what is close to the last. */
enum { MOST_BITS = 9, MOST = 1 << MOST_BITS, NEAR = 8 };
/* 64 pages are enough for the heads of the folios that a listing goes through. */
enum { PART = 4096, PARTS = 64 };

struct memmap_ahead {
	struct atw_source *mem;
	struct page_cache parts;
	uint32_t size;
	uint32_t n, read;        /* added; and of these, read */
	uint32_t at;             /* found last */
	uint64_t pfn[MOST], pa[MOST];
	uint16_t slot[MOST];     /* where its bytes are; MOST: not there */
	uint64_t key[2][MOST];   /* address << MOST_BITS | which */
	struct atw_piece piece[MOST];
	uint8_t bytes[];         /* MOST struct pages, by slots */
};

struct memmap_ahead *memmap_ahead_create(struct atw_source *mem, uint32_t size)
{
	struct memmap_ahead *a = calloc(1, sizeof(*a) + (size_t)size * MOST);

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

void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, atw_pa pa)
{
	/* All over again, once the last of them was asked for or there is no more room. */
	if (a->read == a->n && (a->at + 1 >= a->n || a->n == MOST))
		a->n = a->read = a->at = 0;
	if (a->n == MOST || (a->n && a->pfn[a->n - 1] == pfn))
		return;
	a->pfn[a->n] = pfn;
	a->pa[a->n++] = pa.u;
}

void memmap_ahead_anew(struct memmap_ahead *a)
{
	a->n = a->read = a->at = 0;
}

/*
 * All that were added and not read, in the order of their addresses: pages that one
 * after the other was given are neighbours more often than they are in order.
 */
static void read_added(struct memmap_ahead *a, struct kmem *m)
{
	uint32_t base = a->read, n = a->n - base, pieces = 0;
	const uint64_t *key;

	for (uint32_t i = 0; i < n; i++)
		a->key[0][i] = a->pa[base + i] << MOST_BITS | (base + i);
	key = radix_sort(a->key[0], a->key[1], n, MOST_BITS);
	for (uint32_t i = 0, len; i < n; i += len) {
		for (len = 1; i + len < n && (key[i + len] >> MOST_BITS) - (key[i] >> MOST_BITS) ==
					     (uint64_t)len * a->size; len++)
			;
		a->piece[pieces++] = (struct atw_piece){
			ATW_PA(key[i] >> MOST_BITS), a->bytes + (size_t)(base + i) * a->size,
			(size_t)len * a->size, 0,
		};
	}
	a->read = a->n;
	page_cache_forget(&a->parts);
	atw_read_many(a->mem, a->piece, pieces, NULL);
	for (uint32_t p = 0, i = 0; p < pieces; p++) {
		const struct atw_piece *q = &a->piece[p];

		if (q->got > 0)
			kmem_touch(m, q->pa, (size_t)q->got);
		for (size_t end = a->size; end <= q->len; end += a->size, i++)
			a->slot[key[i] & (MOST - 1)] =
				q->got >= (ssize_t)end ? (uint16_t)(base + i) : MOST;
	}
}

static bool is_at(const struct memmap_ahead *a, uint64_t at, uint64_t pfn)
{
	return at < a->n && a->pfn[at] == pfn;
}

const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn)
{
	uint64_t at = a->at;

	if (!a->n)
		return NULL;
	/* It itself again, the next one, a neighbour, or what follows some left out. */
	if (!is_at(a, at, pfn) && !is_at(a, ++at, pfn)) {
		at = a->at + (pfn - a->pfn[a->at]);
		if (!is_at(a, at, pfn))
			at = a->read;
		for (uint64_t i = a->at + 2; !is_at(a, at, pfn) && i < a->at + NEAR; i++)
			at = i;
		if (!is_at(a, at, pfn))
			return NULL;
	}
	if (at >= a->read)
		read_added(a, m);
	if (a->slot[at] == MOST)
		return NULL;
	/* A folio's head lies behind, and is no progress. */
	if (at > a->at)
		a->at = (uint32_t)at;
	return a->bytes + (size_t)a->slot[at] * a->size;
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
