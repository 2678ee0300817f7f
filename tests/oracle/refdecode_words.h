/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode_words.h - the words to try: random, plausible, in between.
 */
#pragma once

#include "refdecode.h"

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift". */
static uint64_t rng;

static inline uint64_t draw(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return rng * 0x2545f4914f6cdd1dull;
}

static inline void seed_words(uint64_t seed)
{
	rng = seed ? seed : 1;
	for (int i = 0; i < 16; i++)     /* near seeds start out alike */
		draw();
}

static inline unsigned below(unsigned n)
{
	return (draw() >> 32) % n;
}

/* The low bits of entries that mean something in some format. */
static inline uint64_t low_bits(void)
{
	switch (below(16)) {
	case 11: return 0xb7;            /* EPT leaf, write-back */
	case 12: return 0x107;           /* EPT table */
	case 13: return 0x7ff;           /* Arm stage 2 page */
	case 14: return 0x7fd;           /* Arm stage 2 block */
	case 0:  return 1;               /* RISC-V pointer; Arm block, large page */
	case 1:  return 3;               /* Arm page or table */
	case 2:  return 0x63;            /* x86 table */
	case 3:  return 0xe7;            /* x86 leaf */
	case 4:  return 0x83;
	case 5:  return 0xcf;            /* RISC-V leaf */
	case 6:  return 0xdb;            /* RISC-V user leaf */
	case 7:  return 0x711;           /* Arm user block */
	case 8:  return 0x753;           /* Arm user page */
	case 9:  return 0x40c0e;         /* Arm supersection */
	case 10: return 0x200f;          /* RISC-V leaf that could be NAPOT */
	default: return draw() & 0xfff;
	}
}

/* All bits below n. */
static inline uint64_t mask(unsigned n)
{
	return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

/*
 * Words like those of a kernel: meaningful low bits, an address aligned to the
 * level's pages more often than not, few high bits, and now and then a bit
 * turned anywhere.
 */
static inline uint64_t plausible(enum ref_mode m, unsigned level)
{
	unsigned shift = ref_shift(m, level);
	unsigned from = 8 + below(7);
	uint64_t word = draw();

	if (below(4))                    /* aligned; RISC-V PPNs sit 2 bits lower */
		word &= ~(mask(shift - (below(2) ? 2 : 0)) & ~mask(from));
	if (below(4))                    /* no high attribute, or a few */
		word &= mask(52 + below(3)) |
			(below(2) ? draw() & draw() & ~mask(52) : 0);
	if (!below(8))                   /* a single high bit: N, XN, contiguous */
		word |= 1ull << (51 + below(13));
	word = (word & ~mask(from)) | (low_bits() & mask(20));
	if (!below(4))
		word ^= 1ull << below(64);
	return word;
}

static inline uint64_t random_word(enum ref_mode m, unsigned level)
{
	uint64_t word;

	switch (below(8)) {
	case 0:  word = draw(); break;
	case 1:  word = draw() & draw() & draw(); break;
	case 2:  word = draw() | draw() | draw(); break;
	default: word = plausible(m, level); break;
	}
	return word & mask(8 * ref_word_size(m));
}
