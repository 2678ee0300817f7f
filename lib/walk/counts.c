/* SPDX-License-Identifier: GPL-2.0-or-later */
/* counts.c - table of mapcounts by page frame. */
#include "walk/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge.h"

_Static_assert(sizeof(struct counts_chunk) == 64, "a line of the cache");

/*
 * Limit of the pages that are counted for a translation that is not aligned to its size.
 */
#define PAGES_MAX ((uint64_t)1 << 22)

void counts_deinit(struct counts *c)
{
	free(c->chunk);
	free(c->large);
	huge_free(c->flat, c->dense * sizeof(*c->flat));
	free(c->crowd);
	*c = (struct counts){ 0 };
}

enum {
	LINE = 64,               /* cache line */
	HUGE_MOST = 64 << 20,    /* bytes in huge pages at most: counts of 128 GiB */
	PIECE = 16,              /* overhead of malloc(3) per allocation */
};

/* `n` times `size` is a multiple of the cache line. */
static void *counts_take(struct counts *c, size_t n, size_t size)
{
	uint64_t bytes = (uint64_t)n * size + PIECE;
	void *p = c->most && c->most - c->bytes < bytes ? NULL : aligned_alloc(LINE, n * size);

	if (!p)
		return NULL;
	memset(p, 0, n * size);
	c->bytes += bytes;
	return p;
}

static void counts_give_back(struct counts *c, void *p, size_t n, size_t size)
{
	c->bytes -= p ? (uint64_t)n * size + PIECE : 0;
	free(p);
}

/* The slot of the chunk in the hash table, or the free one where it belongs. */
static size_t counts_lookup(const struct counts *c, uint64_t nr)
{
	size_t mask = c->slots - 1, s = counts_slot(c, nr);

	if (c->chunk[c->last].nr == nr)
		return c->last;
	while (c->chunk[s].nr && c->chunk[s].nr != nr)
		s = (s + 1) & mask;
	return s;
}

static bool counts_grow(struct counts *c)
{
	struct counts old = *c;
	size_t slots = c->slots ? c->slots * 2 : 512;
	struct counts_chunk *v = counts_take(c, slots, sizeof(*v));

	if (!v)
		return false;
	c->chunk = v;
	c->slots = slots;
	c->last = 0;
	for (size_t i = 0; i < old.slots; i++)
		if (old.chunk[i].nr)
			c->chunk[counts_lookup(c, old.chunk[i].nr)] = old.chunk[i];
	counts_give_back(c, old.chunk, old.slots, sizeof(*v));
	return true;
}

static struct counts_chunk *counts_find_or_add(struct counts *c, uint64_t nr)
{
	if (!c->slots && !counts_grow(c))
		return NULL;
	c->last = counts_lookup(c, nr);
	if (!c->chunk[c->last].nr) {
		if (3 * (c->n + 1) > 2 * c->slots) {
			if (!counts_grow(c))
				return NULL;
			c->last = counts_lookup(c, nr);
		}
		c->chunk[c->last].nr = nr;
		c->n++;
	}
	return &c->chunk[c->last];
}

/* ---- large translations ---- */

static uint64_t counts_large_key(uint64_t pfn, unsigned order)
{
	return (pfn >> order << order << 6 | order) + 1;
}

static struct counts_large *counts_find_large(const struct counts *c, uint64_t key)
{
	size_t mask = c->large_slots - 1;
	size_t s = (size_t)hash_u64(key) & mask;

	while (c->large[s].key && c->large[s].key != key)
		s = (s + 1) & mask;
	return &c->large[s];
}

static bool counts_grow_large(struct counts *c)
{
	struct counts old = *c;
	size_t slots = c->large_slots ? c->large_slots * 2 : 512;

	c->large = counts_take(c, slots, sizeof(*c->large));
	if (!c->large) {
		c->large = old.large;
		return false;
	}
	c->large_slots = slots;
	for (size_t i = 0; i < old.large_slots; i++)
		if (old.large[i].key)
			*counts_find_large(c, old.large[i].key) = old.large[i];
	counts_give_back(c, old.large, old.large_slots, sizeof(*old.large));
	return true;
}

static bool counts_add_large(struct counts *c, uint64_t pfn, unsigned order,
			     uint64_t times)
{
	struct counts_large *l;

	if (2 * c->nlarge >= c->large_slots && !counts_grow_large(c))
		return false;
	l = counts_find_large(c, counts_large_key(pfn, order));
	if (!l->key) {
		l->key = counts_large_key(pfn, order);
		c->nlarge++;
	}
	l->times += times;
	c->orders |= (uint64_t)1 << order;
	c->met[order].key = 0;
	if (order && pfn < c->dense) {
		uint64_t end = (c->dense - pfn) >> order ? pfn + ((uint64_t)1 << order) : c->dense;

		memset(c->crowd + pfn / COUNTS_CROWD, 1,
		       (end - 1) / COUNTS_CROWD - pfn / COUNTS_CROWD + 1);
	}
	return true;
}

/*
 * Entries of order 0 hold the overflow of chunks, so they are only searched if the count
 * in the chunk is at its maximum.
 */
static uint64_t counts_get_large(struct counts *c, uint64_t pfn, bool full)
{
	uint64_t n = 0;

	for (uint64_t left = full ? c->orders : c->orders & ~(uint64_t)1; left; left &= left - 1) {
		unsigned order = (unsigned)__builtin_ctzll(left);
		uint64_t key = counts_large_key(pfn, order);
		struct counts_large *met = &c->met[order];

		/* Adjacent frames are mostly looked up in sequence. */
		if (met->key != key)
			*met = (struct counts_large){key,
						     counts_find_large(c, key)->times};
		n += met->times;
	}
	return n;
}

/* ---- lookup ---- */

bool counts_add(struct counts *c, uint64_t pfn, uint64_t pages)
{
	if (counts_is_large(pfn, pages))
		return counts_add_large(c, pfn, (unsigned)__builtin_ctzll(pages), 1);
	return counts_add_each(c, pfn, pages < PAGES_MAX ? pages : PAGES_MAX);
}

bool counts_make_dense(struct counts *c, uint64_t end, bool huge)
{
	size_t bytes;

	if (c->dense || c->n || c->nlarge || c->most || !end || end > SIZE_MAX / 2)
		return false;
	bytes = end * sizeof(*c->flat);
	c->crowd = calloc(end / COUNTS_CROWD + 1, sizeof(*c->crowd));
	c->flat = c->crowd ? huge_alloc(bytes, huge && bytes <= HUGE_MOST) : NULL;
	if (c->flat) {
		c->dense = end;
		return true;
	}
	free(c->crowd);
	c->crowd = NULL;
	return false;
}

/* Four counts at a time, as long as none of them is at its maximum. */
static bool counts_add_dense(struct counts *c, uint64_t pfn, uint64_t pages)
{
	const uint64_t ones = UINT64_C(0x0001000100010001), tops = ones << 15;
	uint16_t *p = c->flat + pfn, *end = p + pages;

	while (p < end) {
		uint64_t word;

		if (end - p >= 4) {
			memcpy(&word, p, 8);
			if (!((~word - ones) & word & tops)) {
				word += ones;
				memcpy(p, &word, 8);
				p += 4;
				continue;
			}
		}
		if (*p == UINT16_MAX) {
			if (!counts_add_large(c, (uint64_t)(p - c->flat), 0,
					      COUNTS_FLAT_CARRY))
				return false;
			*p -= COUNTS_FLAT_CARRY;
		}
		++*p++;
	}
	return true;
}

bool counts_add_each(struct counts *c, uint64_t pfn, uint64_t pages)
{
	if (pfn < c->dense && pages <= c->dense - pfn)
		return counts_add_dense(c, pfn, pages);
	if (pfn < c->dense) {
		uint64_t n = c->dense - pfn;

		if (!counts_add_dense(c, pfn, n))
			return false;
		pfn += n;
		pages -= n;
	}
	while (pages) {
		struct counts_chunk *k = counts_find_or_add(c, pfn / COUNTS_CHUNK + 1);
		uint64_t at = pfn % COUNTS_CHUNK;
		uint64_t n = COUNTS_CHUNK - at < pages ? COUNTS_CHUNK - at : pages;

		if (!k)
			return false;
		for (uint64_t i = 0; i < n; i++) {
			if (k->each[at + i] == UINT8_MAX) {
				if (!counts_add_large(c, pfn + i, 0, COUNTS_CARRY))
					return false;
				k->each[at + i] -= COUNTS_CARRY;
			}
			k->each[at + i]++;
		}
		pfn += n;
		pages -= n;
	}
	return true;
}

uint64_t counts_find(struct counts *c, uint64_t pfn)
{
	const struct counts_chunk *k;
	bool full = false;
	uint64_t n = 0;

	if (pfn < c->dense) {
		n = c->flat[pfn];
		full = n >= COUNTS_FLAT_FULL;
	} else if (c->chunk) {
		c->last = counts_lookup(c, pfn / COUNTS_CHUNK + 1);
		k = &c->chunk[c->last];
		n = k->nr ? k->each[pfn % COUNTS_CHUNK] : 0;
		full = n >= COUNTS_FULL;
	}
	return n + (c->orders ? counts_get_large(c, pfn, full) : 0);
}

/* The number of leading counts, at most `most`, that equal the first. */
static uint64_t counts_equal_flat(const uint16_t *p, uint64_t most)
{
	const uint64_t first = *p * UINT64_C(0x0001000100010001);
	uint64_t i = 0, word;

	for (; i + 4 <= most; i += 4) {
		memcpy(&word, p + i, 8);
		if (word != first)
			break;
	}
	while (i < most && p[i] == *p)
		i++;
	return i;
}

static uint64_t counts_equal_chunk(const uint8_t *p, uint64_t most)
{
	uint64_t i = 1;

	while (i < most && p[i] == *p)
		i++;
	return i;
}

uint64_t counts_run(struct counts *c, uint64_t pfn, uint64_t most, uint64_t *ret_same)
{
	uint64_t n = counts_get(c, pfn), at = pfn % COUNTS_CHUNK, end = most;
	uint64_t orders = c->orders & ~(uint64_t)1;
	const struct counts_chunk *k;

	/* A range ends where the smallest large translation that covers it does. */
	if (orders) {
		uint64_t size = (uint64_t)1 << __builtin_ctzll(orders);
		uint64_t left = size - (pfn & (size - 1));

		end = left < end ? left : end;
	}
	if (pfn < c->dense) {
		end = c->dense - pfn < end ? c->dense - pfn : end;
		*ret_same = c->flat[pfn] >= COUNTS_FLAT_FULL
				    ? 1
				    : counts_equal_flat(&c->flat[pfn], end);
		return n;
	}
	*ret_same = end;
	if (!c->chunk)
		return n;
	k = &c->chunk[counts_lookup(c, pfn / COUNTS_CHUNK + 1)];
	if (end > COUNTS_CHUNK - at)
		*ret_same = end = COUNTS_CHUNK - at;
	if (k->nr)
		*ret_same = k->each[at] >= COUNTS_FULL
				    ? 1
				    : counts_equal_chunk(&k->each[at], end);
	return n;
}
