/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank.h - a bitmap that can be asked "how many are set before bit n?".
 *
 * Dumps that store only some pages say which in a bitmap and store those in
 * order: the number of a page in the file is the rank of its frame number.
 * One sum per 512 bits answers that with a few popcounts and costs an eighth
 * of the bitmap in memory.
 */
#ifndef SOURCE_RANK_H
#define SOURCE_RANK_H

#include <atwalk/base.h>

struct rank {
	const uint8_t *bits;     /* borrowed; bit n is bits[n / 8] >> n % 8 */
	uint64_t nbits;          /* bits past this are ignored */
	uint64_t *sums;          /* set bits before each block of 512 */
	uint64_t total;
};

/* false: no memory. `bits` must stay and hold (nbits + 7) / 8 bytes. */
bool rank_init(struct rank *r, const void *bits, uint64_t nbits);
void rank_deinit(struct rank *r);

/* How many of bits [0, n) are set; n may be past the end. */
uint64_t rank_before(const struct rank *r, uint64_t n);

/* Past the end every bit is clear. */
static inline bool bitmap_test(const void *bits, uint64_t nbits, uint64_t n)
{
	return n < nbits && (((const uint8_t *)bits)[n / 8] >> n % 8 & 1);
}

/* Bits n to n + 63 for n a multiple of 64, clear past the end. */
uint64_t bitmap_word(const void *bits, uint64_t nbits, uint64_t n);

#endif
