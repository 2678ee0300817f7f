// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paging_reserved.c - exactly the reserved bits make a good entry a bad one when they are
 * flipped, one at a time.
 */
#include "paging/entry.h"

#include "test.h"

static uint64_t span_of_bits(unsigned hi, unsigned lo)
{
	return (~0ull >> (63 - hi)) & (~0ull << lo);
}

static uint64_t turned_to(const struct atw_paging *pg, unsigned level,
			  uint64_t word, enum atw_kind kind)
{
	uint64_t ret = 0;

	for (unsigned k = 0; k < 8u * pg->word_size; k++)
		if (entry_kind(pg, level, word ^ 1ull << k) == kind)
			ret |= 1ull << k;
	return ret;
}

#define B(n) (1ull << (n))
#define BB(hi, lo) span_of_bits(hi, lo)

/* With one bit turned, `word` is BAD for the bits of `bad`, ABSENT for `gone`. */
#define RESERVED(mode, level, word, bad, gone) do { \
	const struct atw_paging *pg_ = atw_paging_find(mode); \
	CHECK(pg_); \
	CHECK(entry_kind(pg_, level, word) != ATW_BAD); \
	CHECK_EQ(turned_to(pg_, level, word, ATW_BAD), bad); \
	CHECK_EQ(turned_to(pg_, level, word, ATW_ABSENT), gone); \
} while (0)

TEST(x86_64)
{
	RESERVED("x86_64-4", 0, 0x1063, 0, B(0));
	RESERVED("x86_64-4", 1, 0x2000e3, BB(20, 13), B(0));
	RESERVED("x86_64-4", 2, 0x400000e3, BB(29, 13), B(0));
	RESERVED("x86_64-4", 3, 0x1063, B(7), B(0));
	RESERVED("x86_64-5", 3, 0x1063, B(7), B(0));
	RESERVED("x86_64-5", 4, 0x1063, B(7), B(0));
	/* a table becomes a large leaf that happens to be misaligned, or not */
	RESERVED("x86_64-4", 1, 0x200063, 0, B(0));
	RESERVED("x86_64-4", 1, 0x203063, B(7), B(0));
}

TEST(i386)
{
	RESERVED("i386", 0, 0x1063, 0, B(0));
	RESERVED("i386", 1, 0x4000e3, B(21), B(0));
	RESERVED("i386", 1, 0x400063, 0, B(0));
	RESERVED("i386-pae", 0, 0x1063, BB(62, 52), B(0));
	RESERVED("i386-pae", 1, 0x200063, BB(62, 52), B(0));
	RESERVED("i386-pae", 1, 0x2000e3, BB(62, 52) | BB(20, 13), B(0));
	RESERVED("i386-pae", 2, 0x1001, BB(63, 52) | BB(8, 5) | BB(2, 1), B(0));
}

TEST(arm64)
{
	/* the type bits alone */
	RESERVED("arm64-4k-48", 0, 0x40001f13, B(1), B(0));
	RESERVED("arm64-4k-48", 1, 0x40001003, 0, B(0));
	RESERVED("arm64-4k-48", 2, 0x40001003, 0, B(0));
	RESERVED("arm64-4k-48", 3, 0x40001003, B(1), B(0));
	RESERVED("arm64-4k-39", 2, 0x40001003, 0, B(0));
	RESERVED("arm64-4k-42", 3, 0x40001003, B(1), B(0));
	RESERVED("arm64-4k-52", 3, 0x40001003, 0, B(0));
	RESERVED("arm64-4k-52", 4, 0x40001003, B(1), B(0));
	RESERVED("arm64-16k-48", 1, 0x40004003, 0, B(0));
	RESERVED("arm64-16k-48", 2, 0x40004003, B(1), B(0));
	RESERVED("arm64-16k-52", 2, 0x40004003, 0, B(0));
	RESERVED("arm64-16k-52", 3, 0x40004003, B(1), B(0));
	RESERVED("arm64-64k-48", 1, 0x40010003, 0, B(0));
	RESERVED("arm64-64k-48", 2, 0x40010003, 0, B(0));
	RESERVED("arm64-64k-42", 0, 0x40010003, B(1), B(0));
	/* with the block bit clear there is nothing else to get wrong */
	RESERVED("arm64-4k-48", 1, 0x40200701, 0, B(0));
}

TEST(arm)
{
	RESERVED("arm", 0, 0x40001032, 0, B(1));
	RESERVED("arm", 0, 0x40010031, 0, B(0));
	RESERVED("arm", 1, 0x40100c02, 0, B(1));
	RESERVED("arm", 1, 0x40001401, 0, B(0));
	RESERVED("arm-lpae", 0, 0x40001f13, B(1), B(0));
	RESERVED("arm-lpae", 1, 0x40200701, 0, B(0));
	RESERVED("arm-lpae", 2, 0x40001003, 0, B(0));
}

TEST(riscv)
{
	const uint64_t rsv = BB(60, 54);

	/* a leaf r--: without R nothing is left but a pointer */
	RESERVED("riscv64-sv39", 0, 0x20080003, rsv | B(63) | B(1), B(0));
	/* rw-: W alone is reserved */
	RESERVED("riscv64-sv39", 0, 0x200800e7, rsv | B(63) | B(1), B(0));
	/* with PPN[3:0] 1000, N makes it a 64K leaf */
	RESERVED("riscv64-sv39", 0, 0x200820e7, rsv | B(1), B(0));
	RESERVED("riscv64-sv39", 0, 0x80000000200820e7, rsv | B(1) | BB(13, 10),
		 B(0));
	/* --x: W without R */
	RESERVED("riscv64-sv39", 0, 0x20080049, rsv | B(63) | B(3) | B(2), B(0));
	/* PBMT 1, 2 become 3 */
	RESERVED("riscv64-sv39", 0, 0x20000000200800e7,
		 rsv | B(63) | B(62) | B(1), B(0));
	RESERVED("riscv64-sv39", 0, 0x40000000200800e7,
		 rsv | B(63) | B(61) | B(1), B(0));
	/* superpages */
	RESERVED("riscv64-sv57", 1, 0xe7, rsv | B(63) | B(1) | BB(18, 10), B(0));
	RESERVED("riscv64-sv57", 2, 0xe7, rsv | B(63) | B(1) | BB(27, 10), B(0));
	RESERVED("riscv64-sv57", 3, 0xe7, rsv | B(63) | B(1) | BB(36, 10), B(0));
	RESERVED("riscv64-sv57", 4, 0xe7, rsv | B(63) | B(1) | BB(45, 10), B(0));
	/* a pointer: W alone, or what a pointer may not have */
	RESERVED("riscv64-sv57", 4, 0x1, rsv | BB(63, 61) | BB(7, 6) | B(4) | B(2),
		 B(0));
	RESERVED("riscv64-sv57", 1, 0x20080401,
		 /* R or X make it a misaligned leaf */
		 rsv | BB(63, 61) | BB(7, 6) | B(4) | BB(3, 1), B(0));
	RESERVED("riscv32-sv32", 0, 0x200800e7, B(1), B(0));
	RESERVED("riscv32-sv32", 1, 0xe7, B(1) | BB(19, 10), B(0));
	RESERVED("riscv32-sv32", 1, 0x1, BB(7, 6) | B(4) | B(2), B(0));
}

TEST(riscv_extensions)
{
	struct atw_paging pg = *atw_paging_find("riscv64-sv39");

	CHECK_EQ(atw_paging_extend(&pg, "thead", NULL), ATW_OK);
	CHECK_EQ(turned_to(&pg, 0, 0xe7, ATW_BAD), BB(58, 54) | B(1));
	CHECK_EQ(turned_to(&pg, 2, 0xe7, ATW_BAD),
		 BB(58, 54) | BB(27, 10) | B(1));
	CHECK_EQ(turned_to(&pg, 1, 0x1, ATW_BAD),
		 BB(58, 54) | BB(7, 6) | B(4) | B(2));

	pg = *atw_paging_find("riscv64-sv39");
	CHECK_EQ(atw_paging_extend(&pg, "svrsw60t59b", NULL), ATW_OK);
	CHECK_EQ(turned_to(&pg, 0, 0xe7, ATW_BAD), BB(58, 54) | B(63) | B(1));
	CHECK_EQ(turned_to(&pg, 1, 0x1, ATW_BAD),
		 BB(58, 54) | BB(63, 61) | BB(7, 6) | B(4) | B(2));
}
