/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memmap_ahead.c - batched reads of struct pages. */
#include "linux/memmap.h"

#include <stdlib.h>

#include "base/sorted.h"
#include "source/page_cache.h"

/* As many as a page table has entries; lookups mostly are close to the previous one. */
enum { MOST_BITS = 9, MOST = 1 << MOST_BITS, NEAR = 8 };
/* 64 pages suffice for the heads of the folios of a listing. */
enum { PART = 4096, PARTS = 64 };

/* Contiguous struct pages of adjacent frames. */
struct memmap_ahead_stretch {
	uint64_t pfn, pa;
	uint16_t n;
	uint16_t slot, there;    /* index of their bytes; number of them that were read */
};

struct memmap_ahead {
	struct atw_source *mem;
	struct page_cache parts;
	uint32_t size;
	uint32_t n, read;        /* number of stretches; number of those that are read */
	uint32_t pages, read_pages;      /* struct pages in them: up to MOST */
	uint64_t reads;
	uint32_t at;             /* index of the last lookup */
	uint64_t off;            /* and the highest page in that stretch */
	struct memmap_ahead_stretch stretch[MOST];
	uint64_t key[2][MOST];   /* sort key: address << MOST_BITS | index */
	struct atw_piece piece[MOST];
	uint8_t bytes[];         /* MOST struct pages */
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

void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, uint64_t n, atw_pa pa)
{
	struct memmap_ahead_stretch *s;

	/* Start over once the last of them was looked up, or if there is no more room. */
	if (a->read == a->n && (a->pages == MOST || a->at + 1 > a->n ||
				(a->at + 1 == a->n && a->off + 1 >= a->stretch[a->at].n)))
		memmap_ahead_anew(a);
	n = n < MOST - a->pages ? n : MOST - a->pages;
	s = a->n > a->read ? &a->stretch[a->n - 1] : NULL;
	if (!n || (s && pfn + n == s->pfn + s->n && n <= s->n))
		return;
	a->pages += (uint32_t)n;
	if (s && pfn == s->pfn + s->n && pa.u == s->pa + (uint64_t)s->n * a->size) {
		s->n = (uint16_t)(s->n + n);
		return;
	}
	a->stretch[a->n++] =
		(struct memmap_ahead_stretch){.pfn = pfn, .pa = pa.u, .n = (uint16_t)n};
}

void memmap_ahead_anew(struct memmap_ahead *a)
{
	a->n = a->read = a->pages = a->read_pages = a->at = 0;
	a->off = 0;
}

uint64_t memmap_ahead_reads(const struct memmap_ahead *a)
{
	return a->reads;
}

/* Assigns the parts that were read to stretches, which follow each other in key[]. */
static void memmap_ahead_share_out(struct memmap_ahead *a, const uint64_t *key,
				   uint32_t pieces)
{
	for (uint32_t p = 0; p < pieces; p++) {
		const struct atw_piece *q = &a->piece[p];
		size_t got = q->got > 0 ? (size_t)q->got / a->size : 0;

		for (size_t left = q->len / a->size; left;) {
			struct memmap_ahead_stretch *s = &a->stretch[*key++ & (MOST - 1)];

			s->there = (uint16_t)(got < s->n ? got : s->n);
			got -= s->there;
			left -= s->n;
		}
	}
}

/*
 * Reads all that were added and not read, in order of their addresses: frames that were
 * allocated in sequence are often adjacent, but rarely in ascending order.
 */
static void memmap_ahead_read_added(struct memmap_ahead *a, struct kmem *m)
{
	uint32_t base = a->read, n = a->n - base, pieces = 0;
	uint64_t end = 0;
	const uint64_t *key;

	for (uint32_t i = 0; i < n; i++)
		a->key[0][i] = a->stretch[base + i].pa << MOST_BITS | (base + i);
	key = n > 1 ? radix_sort(a->key[0], a->key[1], n, MOST_BITS) : a->key[0];
	for (uint32_t i = 0; i < n; i++) {
		struct memmap_ahead_stretch *s = &a->stretch[key[i] & (MOST - 1)];
		size_t len = (size_t)s->n * a->size;

		s->slot = (uint16_t)a->read_pages;
		if (pieces && s->pa == end)
			a->piece[pieces - 1].len += len;
		else
			a->piece[pieces++] = (struct atw_piece){
				ATW_PA(s->pa), a->bytes + (size_t)s->slot * a->size, len, 0,
			};
		a->read_pages += s->n;
		end = s->pa + len;
	}
	a->read = a->n;
	a->reads++;
	page_cache_forget(&a->parts);
	atw_read_many(a->mem, a->piece, pieces, NULL);
	for (uint32_t p = 0; p < pieces; p++)
		if (a->piece[p].got > 0)
			kmem_touch(m, a->piece[p].pa, (size_t)a->piece[p].got);
	memmap_ahead_share_out(a, key, pieces);
}

static bool memmap_ahead_is_at(const struct memmap_ahead *a, uint32_t at, uint64_t pfn)
{
	return at < a->n && pfn - a->stretch[at].pfn < a->stretch[at].n;
}

const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn,
				 uint64_t *ret_n)
{
	uint32_t at = a->at;
	const struct memmap_ahead_stretch *s;
	uint64_t off;

	/*
	 * The same stretch again, the next one, or one further on if some were skipped or
	 * could not be read.
	 */
	if (!memmap_ahead_is_at(a, at, pfn) && !memmap_ahead_is_at(a, ++at, pfn)) {
		at = a->read;
		for (uint32_t i = a->at + 2;
		     !memmap_ahead_is_at(a, at, pfn) && i < a->at + NEAR; i++)
			at = i;
		for (uint32_t i = a->at;
		     !memmap_ahead_is_at(a, at, pfn) && i && i + NEAR > a->at; i--)
			at = i - 1;
		if (!memmap_ahead_is_at(a, at, pfn))
			return NULL;
	}
	if (at >= a->read)
		memmap_ahead_read_added(a, m);
	s = &a->stretch[at];
	off = pfn - s->pfn;
	if (off >= s->there)
		return NULL;
	/* The head of a folio precedes it, and is no progress. */
	if (at > a->at || (at == a->at && off > a->off)) {
		a->at = at;
		a->off = off;
	}
	*ret_n = s->there - off;
	return a->bytes + (s->slot + (size_t)off) * a->size;
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
