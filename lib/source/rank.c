/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rank.c - number of set bits before a position of a bitmap. */
#include "source/kdump_set.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/sorted.h"

#define BLOCK 512               /* bits: a cache line of bitmap */

uint64_t bitmap_word(const void *bits, uint64_t nbits, uint64_t n)
{
	const uint8_t *p = (const uint8_t *)bits + n / 8;
	uint64_t w = 0, left;

	if (n >= nbits)
		return 0;
	left = nbits - n;
	if (left >= 64)
		return get_le64(p);
	memcpy(&w, p, (left + 7) / 8);
	return w & ((UINT64_C(1) << left) - 1);
}

bool rank_gaps_init(struct rank_gaps *g, const struct file_holes *holes, uint64_t at,
		    uint64_t nbits)
{
	uint64_t skipped = 0, len = nbits / 8 + (nbits % 8 != 0), stop = at + len;
	struct rank_gap *v = malloc((holes->n + 1) * sizeof(*v));
	size_t n = 0;

	if (!v)
		return false;
	for (size_t i = file_holes_from(holes, at);
	     i < holes->n && holes->v[i].start < stop; i++) {
		uint64_t start = holes->v[i].start > at ? holes->v[i].start - at : 0;
		uint64_t end = holes->v[i].end < stop ? holes->v[i].end - at : len;

		/* In blocks. The last one, which may be cut off, is left out. */
		start = (start + BLOCK / 8 - 1) / (BLOCK / 8);
		end /= BLOCK / 8;
		if (start >= end)
			continue;
		v[n++] = (struct rank_gap){ start * BLOCK, end * BLOCK, skipped, 0 };
		skipped += end - start;
	}
	*g = (struct rank_gaps){ v, n };
	return true;
}

void rank_gaps_deinit(struct rank_gaps *g)
{
	free(g->v);
	*g = (struct rank_gaps){ 0 };
}

/* The first gap that ends behind bit n, or g->n. */
static size_t rank_gap_from(const struct rank_gaps *g, uint64_t n)
{
	return SORTED_UP_TO(g->v, g->n, end, n);
}

uint64_t rank_gaps_end(const struct rank_gaps *g, uint64_t n)
{
	size_t i = rank_gap_from(g, n);

	return i < g->n && g->v[i].start <= n ? g->v[i].end : n;
}

/* How many blocks lie in the gaps before gap i. */
static uint64_t rank_skipped_before(const struct rank_gaps *g, size_t i)
{
	const struct rank_gap *last;

	if (i < g->n)
		return g->v[i].skipped;
	if (!g->n)
		return 0;
	last = &g->v[g->n - 1];
	return last->skipped + (last->end - last->start) / BLOCK;
}

bool rank_init(struct rank *r, const void *bits, uint64_t nbits, struct rank_gaps *gaps)
{
	uint64_t nblocks = nbits / BLOCK + 1, sum = 0, n = 0, *sums;
	size_t gap = 0;

	nblocks -= gaps ? rank_skipped_before(gaps, gaps->n) : 0;
	if (nblocks > SIZE_MAX / sizeof(*sums))
		return false;
	sums = malloc((size_t)nblocks * sizeof(*sums));
	if (!sums)
		return false;
	for (uint64_t b = 0; b < nblocks; b++) {
		for (; gaps && gap < gaps->n && gaps->v[gap].start == n; gap++) {
			gaps->v[gap].rank = sum;
			n = gaps->v[gap].end;
		}
		sums[b] = sum;
		for (int i = 0; i < BLOCK / 64; i++, n += 64)
			sum += (unsigned)__builtin_popcountll(bitmap_word(bits, nbits, n));
	}
	*r = (struct rank){ bits, nbits, sums, sum, gaps && gaps->n ? gaps : NULL };
	return true;
}

void rank_deinit(struct rank *r)
{
	free(r->sums);
	*r = (struct rank){ 0 };
}

uint64_t rank_before(const struct rank *r, uint64_t n)
{
	uint64_t sum, at, w, block = n / BLOCK;

	if (n >= r->nbits)
		return r->total;
	if (r->gaps) {
		size_t i = rank_gap_from(r->gaps, n);

		if (i < r->gaps->n && r->gaps->v[i].start <= n)
			return r->gaps->v[i].rank;
		block -= rank_skipped_before(r->gaps, i);
	}
	sum = r->sums[block];
	for (at = n / BLOCK * BLOCK; at + 64 <= n; at += 64)
		sum += (unsigned)__builtin_popcountll(bitmap_word(r->bits, r->nbits, at));
	if (n % 64) {
		w = bitmap_word(r->bits, r->nbits, at);
		sum += (unsigned)__builtin_popcountll(w & ((UINT64_C(1) << n % 64) - 1));
	}
	return sum;
}
