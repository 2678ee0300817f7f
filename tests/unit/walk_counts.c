/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings are counted exactly for each frame. */
#include "walk/counts.h"

#include "test.h"

TEST(pages_and_pieces)
{
	struct counts c = { 0 };

	CHECK_EQ(counts_get(&c, 5), 0);
	CHECK(counts_add(&c, 5, 1));
	CHECK(counts_add(&c, 5, 1));
	CHECK(counts_add(&c, 0, 512));
	CHECK(counts_add(&c, 52, 16));           /* over a chunk's end */
	CHECK_EQ(counts_get(&c, 5), 3);
	CHECK_EQ(counts_get(&c, 6), 1);
	CHECK_EQ(counts_get(&c, 67), 2);
	CHECK_EQ(counts_get(&c, 68), 1);
	CHECK_EQ(counts_get(&c, 512), 0);
	CHECK_EQ(counts_get(&c, UINT64_MAX), 0);
	counts_deinit(&c);
}

/* A library's page in every process. */
TEST(more_often_than_a_byte_can_say)
{
	struct counts c = { 0 };

	for (unsigned i = 0; i < 5000; i++)
		CHECK(counts_add(&c, 55, 2));
	CHECK(counts_add(&c, 0, 64));
	CHECK_EQ(counts_get(&c, 54), 1);
	CHECK_EQ(counts_get(&c, 55), 5001);
	CHECK_EQ(counts_get(&c, 56), 5001);
	CHECK_EQ(counts_get(&c, 57), 1);
	counts_deinit(&c);
}

TEST(many_that_lie_apart)
{
	struct counts c = { 0 };

	for (uint64_t i = 0; i < 20000; i++)
		CHECK(counts_add(&c, i * 0x12345, 1 + i % 3));
	for (uint64_t i = 0; i < 20000; i++) {
		CHECK_EQ(counts_get(&c, i * 0x12345 + i % 3), 1);
		CHECK_EQ(counts_get(&c, i * 0x12345 + 3), 0);
	}
	counts_deinit(&c);
}

TEST(more_than_there_can_be)
{
	struct counts c = { 0 };

	CHECK(counts_add(&c, UINT64_MAX >> 12, UINT64_MAX));
	CHECK_EQ(counts_get(&c, UINT64_MAX >> 12), 1);
	counts_deinit(&c);
}

/* Tables of ones that lie: each entry another GiB, or 512 of them. */
TEST(large_ones_cost_as_much_as_small_ones)
{
	enum { GIB = 1 << 18, MANY = 1 << 18 };
	struct counts c = { 0 };

	for (uint64_t i = 0; i < MANY; i++)
		CHECK(counts_add(&c, i * GIB, GIB));
	CHECK(counts_add(&c, 0, (uint64_t)GIB << 9));
	CHECK(counts_add(&c, 3 * GIB + 512, 512));
	CHECK(counts_add(&c, 3 * GIB + 512, 1));
	CHECK_EQ(counts_get(&c, 3 * GIB + 511), 2);
	CHECK_EQ(counts_get(&c, 3 * GIB + 512), 4);
	CHECK_EQ(counts_get(&c, 3 * GIB + 1023), 3);
	CHECK_EQ(counts_get(&c, 512 * (uint64_t)GIB), 1);
	CHECK_EQ(counts_get(&c, MANY * (uint64_t)GIB), 0);
	CHECK(c.large_slots <= 4 * MANY && c.slots <= 512);
	counts_deinit(&c);
}

/* A chunk is a slot of 64 bytes, and two thirds of them may be in use. */
TEST(no_more_memory_than_it_may_take)
{
	enum { TABLE = 512 * 64 + 16, TWICE = 1024 * 64 + 16, FULL = 341, TWICE_FULL = 682 };
	struct counts c = { .most = TABLE + TWICE };

	for (uint64_t i = 0; i < FULL; i++)
		CHECK(counts_add(&c, i * COUNTS_CHUNK, 1));
	CHECK_EQ(c.bytes, TABLE);
	/* While it grows there are two tables. */
	CHECK(counts_add(&c, FULL * COUNTS_CHUNK, 1));
	CHECK_EQ(c.bytes, TWICE);
	for (uint64_t i = FULL + 1; i < TWICE_FULL; i++)
		CHECK(counts_add(&c, i * COUNTS_CHUNK, 1));
	CHECK(!counts_add(&c, 1 << 20, 1));
	CHECK_EQ(c.bytes, TWICE);
	/* What is counted stays so; more of it costs nothing. */
	CHECK(counts_add(&c, 0, 50));
	CHECK_EQ(counts_get(&c, 0), 2);
	CHECK_EQ(counts_get(&c, 49), 1);
	CHECK_EQ(counts_get(&c, (TWICE_FULL - 1) * COUNTS_CHUNK), 1);
	CHECK_EQ(counts_get(&c, 1 << 20), 0);
	counts_deinit(&c);
	CHECK_EQ(c.bytes, 0);
}

/* As far as it is the same, asked for frame by frame. */
static void check_runs(struct counts *c, uint64_t first, uint64_t end)
{
	uint64_t same;

	for (uint64_t pfn = first; pfn < end; pfn += same) {
		uint64_t n = counts_run(c, pfn, end - pfn, &same);

		CHECK(same && same <= end - pfn);
		for (uint64_t i = 0; i < same; i++)
			CHECK_EQ(counts_get(c, pfn + i), n);
	}
}

TEST(runs_of_frames_mapped_as_often)
{
	struct counts c = { 0 };
	uint64_t same;

	CHECK_EQ(counts_run(&c, 7, 1000, &same), 0);
	CHECK_EQ(same, 1000);
	CHECK(counts_add(&c, 100, 50) && counts_add(&c, 120, 3));
	check_runs(&c, 0, 400);
	CHECK(counts_add(&c, 512, 512) && counts_add(&c, 1024, 1024));
	check_runs(&c, 0, 4096);
	CHECK_EQ(counts_run(&c, 512, 512, &same), 1);
	for (int i = 0; i < 300; i++)
		CHECK(counts_add(&c, 600, 1));
	check_runs(&c, 590, 620);
	CHECK_EQ(counts_run(&c, 600, 1, &same), 301);
	counts_deinit(&c);
}

/* One array for all RAM: what lies behind it, and large pages, are counted besides. */
TEST(counted_in_one_array)
{
	struct counts c = { 0 };
	uint64_t same;

	CHECK(counts_make_dense(&c, 1000, true));
	CHECK(!counts_make_dense(&c, 1000, true));
	for (unsigned i = 0; i < 70000; i++)
		CHECK(counts_add_each(&c, 500, 9));
	CHECK(counts_add_each(&c, 996, 8));
	CHECK(counts_add(&c, 0, 512));
	CHECK(counts_add_one(&c, 503));
	CHECK_EQ(counts_get(&c, 499), 1);
	CHECK_EQ(counts_get(&c, 500), 70001);
	CHECK_EQ(counts_get(&c, 503), 70002);
	CHECK_EQ(counts_get(&c, 508), 70001);
	CHECK_EQ(counts_get(&c, 509), 1);
	CHECK_EQ(counts_get(&c, 512), 0);
	CHECK_EQ(counts_get(&c, 999), 1);
	CHECK_EQ(counts_get(&c, 1003), 1);
	CHECK_EQ(counts_get(&c, 1004), 0);
	CHECK_EQ(counts_run(&c, 0, 600, &same), 1);
	CHECK_EQ(same, 500);
	check_runs(&c, 490, 520);
	check_runs(&c, 990, 1010);
	counts_deinit(&c);
}

/* What was counted elsewhere would be lost. */
TEST(an_array_comes_first)
{
	struct counts c = { 0 };

	CHECK(counts_add(&c, 5, 1));
	CHECK(!counts_make_dense(&c, 1000, true));
	CHECK_EQ(counts_get(&c, 5), 1);
	counts_deinit(&c);
	c.most = 1 << 20;
	CHECK(!counts_make_dense(&c, 1000, true));
	counts_deinit(&c);
}

/* The same in one array, where large ones lie among small ones and reach over its end. */
TEST(an_array_says_the_same)
{
	struct counts c = { 0 }, d = { 0 };
	uint64_t same;

	CHECK(counts_make_dense(&d, 2600, true));
	CHECK(!counts_make_dense(&d, 2600, true));
	for (unsigned i = 0; i < 3000; i += 1 + i % 3) {
		CHECK(counts_add_one(&c, i) && counts_add_one(&d, i));
		CHECK(counts_add_each(&c, i, i % 70) && counts_add_each(&d, i, i % 70));
	}
	CHECK(counts_add(&c, 512, 512) && counts_add(&d, 512, 512));
	CHECK(counts_add(&c, 1152, 64) && counts_add(&d, 1152, 64));
	CHECK(counts_add(&c, 2560, 512) && counts_add(&d, 2560, 512));
	CHECK(counts_add(&c, 4096, 512) && counts_add(&d, 4096, 512));
	CHECK(d.crowd[1] && d.crowd[2] && d.crowd[5]);
	CHECK(!d.crowd[0] && !d.crowd[3] && !d.crowd[4]);
	for (uint64_t i = 0; i < 5000; i++)
		CHECK_EQ(counts_get(&d, i), counts_get(&c, i));
	for (uint64_t i = 0; i < 5000; i += same) {
		uint64_t n = counts_run(&d, i, 5000 - i, &same);

		for (uint64_t k = 0; k < same; k++)
			CHECK_EQ(counts_get(&c, i + k), n);
	}
	counts_deinit(&c);
	counts_deinit(&d);
}
