/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/rank.h"

#include <stdlib.h>

#include "base/bytes.h"

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

bool rank_init(struct rank *r, const void *bits, uint64_t nbits)
{
	uint64_t nblocks = nbits / BLOCK + 1, sum = 0, n = 0;
	uint64_t *sums;

	if (nblocks > SIZE_MAX / sizeof(*sums))
		return false;
	sums = malloc((size_t)nblocks * sizeof(*sums));
	if (!sums)
		return false;
	for (uint64_t b = 0; b < nblocks; b++) {
		sums[b] = sum;
		for (int i = 0; i < BLOCK / 64; i++, n += 64)
			sum += (unsigned)__builtin_popcountll(bitmap_word(bits, nbits, n));
	}
	*r = (struct rank){ bits, nbits, sums, sum };
	return true;
}

void rank_deinit(struct rank *r)
{
	free(r->sums);
	*r = (struct rank){ 0 };
}

uint64_t rank_before(const struct rank *r, uint64_t n)
{
	uint64_t sum, at, w;

	if (n >= r->nbits)
		return r->total;
	sum = r->sums[n / BLOCK];
	for (at = n / BLOCK * BLOCK; at + 64 <= n; at += 64)
		sum += (unsigned)__builtin_popcountll(bitmap_word(r->bits, r->nbits, at));
	if (n % 64) {
		w = bitmap_word(r->bits, r->nbits, at);
		sum += (unsigned)__builtin_popcountll(w & ((UINT64_C(1) << n % 64) - 1));
	}
	return sum;
}
