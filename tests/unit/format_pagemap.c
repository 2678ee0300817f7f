/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of PAGEMAP_SCAN are completed where they were full and trimmed where they overlap.
 */
#include "format/pagemap.h"
#include "test.h"

static struct pagescan_arg asked(uint64_t first, uint64_t end, uint64_t walk_end)
{
	return (struct pagescan_arg){
		.start = first, .end = end, .walk_end = walk_end, .vec_len = 4,
	};
}

TEST(an_answer_that_is_not_full_is_all)
{
	/* walk_end may say otherwise: that is the kernel's mistake. */
	struct pagescan_arg a = asked(0x1000, 0x100000, 0x3000);
	struct pagescan_region v[4] = { { 0x2000, 0x3000, 8 }, { 0x5000, 0x6000, 8 } };
	uint64_t next;

	CHECK_EQ(pagescan_check(&a, v, 2, 4096, &next), 2);
	CHECK_EQ(next, 0x100000);
}

TEST(a_full_answer_goes_on_behind_its_last_region)
{
	struct pagescan_arg a = asked(0x1000, 0x100000, 0x2000);
	struct pagescan_region v[4] = {
		{ 0x2000, 0x3000, 8 }, { 0x5000, 0x6000, 8 }, { 0x7000, 0x8000, 8 },
		{ 0x9000, 0xa000, 8 },
	};
	uint64_t next;

	CHECK_EQ(pagescan_check(&a, v, 4, 4096, &next), 4);
	CHECK_EQ(next, 0xa000);
	a.walk_end = 0xc000;
	CHECK_EQ(pagescan_check(&a, v, 4, 4096, &next), 4);
	CHECK_EQ(next, 0xc000);
	a.walk_end = UINT64_MAX;
	CHECK_EQ(pagescan_check(&a, v, 4, 4096, &next), 4);
	CHECK_EQ(next, 0xa000);
}

TEST(so_does_one_with_all_the_pages_asked_for)
{
	struct pagescan_arg a = asked(0x1000, 0x100000, 0x5000);
	struct pagescan_region v[4] = { { 0x1000, 0x5000, 8 } };
	uint64_t next;

	a.max_pages = 4;
	CHECK_EQ(pagescan_check(&a, v, 1, 4096, &next), 1);
	CHECK_EQ(next, 0x5000);
}

TEST(regions_told_twice_or_outside_are_taken_out)
{
	struct pagescan_arg a = asked(0x2000, 0x8000, 0x8000);
	struct pagescan_region v[4] = {
		{ 0x1000, 0x3000, 8 }, { 0x2000, 0x3000, 8 }, { 0x7000, 0x9000, 8 },
		{ 0xa000, 0xb000, 8 },
	};
	uint64_t next;

	CHECK_EQ(pagescan_check(&a, v, 4, 4096, &next), 2);
	CHECK_EQ(v[0].start, 0x2000);
	CHECK_EQ(v[0].end, 0x3000);
	CHECK_EQ(v[1].start, 0x7000);
	CHECK_EQ(v[1].end, 0x8000);
	CHECK_EQ(next, 0x8000);
}
