/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.c - length of a run of equal entries of a table.
 *
 * This loop takes most of the time of a listing. It is written with vector types, because
 * compilers do not vectorise the plain loop at -O2, and compiled twice: current CPUs
 * compare four words at once.
 */

#include <stdbool.h>

#include "walk/memory.h"

/* Tables of a mapped dump may be unaligned. */
typedef uint64_t quad __attribute__((vector_size(32), aligned(1), may_alias));

/* The first slot of the stride in which some slot differs, or of an incomplete stride. */
static inline __attribute__((always_inline)) uint32_t
run_strides(const char *words, uint32_t i, uint64_t want, uint64_t mask, uint32_t end,
	    const uint32_t stride)
{
	for (; i + stride <= end; i += stride) {
		const quad *p = (const void *)(words + 8 * (size_t)i);
		quad a = { 0 }, b = { 0 };

#pragma GCC unroll 8
		for (unsigned k = 0; k < stride / 4; k += 2) {
			a |= p[k] ^ want;
			b |= p[k + 1] ^ want;
		}
		a |= b;
		if ((a[0] | a[1] | a[2] | a[3]) & mask)
			break;
	}
	return i;
}

/* The exact end is searched in small strides. */
static inline __attribute__((always_inline)) uint32_t
run_agreeing(const char *words, uint32_t i, uint64_t want, uint64_t mask, uint32_t end)
{
	i = run_strides(words, i, want, mask, end, 64);
	return run_strides(words, i, want, mask, end, 8);
}

static uint32_t run_agreeing_anywhere(const char *words, uint32_t i, uint64_t want,
				      uint64_t mask, uint32_t end)
{
	return run_agreeing(words, i, want, mask, end);
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) uint32_t
run_agreeing_avx2(const char *words, uint32_t i, uint64_t want, uint64_t mask,
		  uint32_t end)
{
	return run_agreeing(words, i, want, mask, end);
}

static bool run_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
#define run_agreeing_avx2 run_agreeing_anywhere

static bool run_has_avx2(void)
{
	return false;
}
#endif

uint32_t run_end(const void *words, unsigned word_size, uint32_t i, uint64_t mask,
		 uint32_t end)
{
	uint64_t want = load_word(words, word_size, i);

	/* Runs of one entry are as frequent as long runs. */
	if (i + 1 < end && (load_word(words, word_size, i + 1) ^ want) & mask)
		return i + 1;
	if (word_size == 8)
		i = (run_has_avx2() ? run_agreeing_avx2
				    : run_agreeing_anywhere)(words, i, want, mask, end);
	while (i < end && !((load_word(words, word_size, i) ^ want) & mask))
		i++;
	return i;
}
