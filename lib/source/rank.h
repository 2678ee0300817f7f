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

struct file_holes;

/* Whole blocks of 512 bits that lie in a hole of a sparse file: all clear. */
struct rank_gap {
	uint64_t start, end;     /* bits, multiples of 512 */
	uint64_t skipped;        /* blocks in the gaps before this one */
	uint64_t rank;           /* set bits before it, by rank_init() */
};

struct rank_gaps {
	struct rank_gap *v;      /* ascending, disjoint */
	size_t n;
};

/* Those of a bitmap that lies at `at` of the file. false: no memory. */
bool rank_gaps_init(struct rank_gaps *g, const struct file_holes *holes, uint64_t at,
		    uint64_t nbits);
void rank_gaps_deinit(struct rank_gaps *g);
/* The end of the gap that holds bit n, or n itself. */
uint64_t rank_gaps_end(const struct rank_gaps *g, uint64_t n);

struct rank {
	const uint8_t *bits;     /* borrowed; bit n is bits[n / 8] >> n % 8 */
	uint64_t nbits;          /* bits past this are ignored */
	uint64_t *sums;          /* set bits before each block of 512, without gaps */
	uint64_t total;
	const struct rank_gaps *gaps;
};

/*
 * false: no memory. `bits` must stay and hold (nbits + 7) / 8 bytes, and so must the
 * gaps, which are not read and cost no memory; NULL: there are none.
 */
bool rank_init(struct rank *r, const void *bits, uint64_t nbits, struct rank_gaps *gaps);
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
