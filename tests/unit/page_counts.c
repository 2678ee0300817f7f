/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often frames are mapped. */
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
