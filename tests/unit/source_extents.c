// SPDX-License-Identifier: GPL-2.0-or-later
/* Ranges of memory merge and overlap as painting each byte would. */
#include "test.h"

#include "source/extents.h"

/* Which file offset each byte of a small memory ends up at; -1 excluded, -2 none. */
static long byte_at(struct extents *x, uint64_t pa)
{
	const struct extent *e = extents_find(x, pa);

	if (!e)
		return -2;
	return e->kind == ATW_DATA ? (long)(e->off + (pa - e->start)) : -1;
}

TEST(nothing_holds_nothing)
{
	struct extents x = { 0 };
	struct atw_extent e;

	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK(!extents_find(&x, 0));
	CHECK(!extents_find(&x, UINT64_MAX));
	CHECK_EQ(extents_extent(&x, ATW_PA(0), &e), ATW_END);
	extents_deinit(&x);
}

TEST(finds_edges)
{
	struct extents x = { 0 };
	struct atw_extent e;

	extents_add(&x, 0x3000, 0x1000, 0x100, ATW_DATA, NULL);
	extents_add(&x, 0x1000, 0x1000, 0x9000, ATW_DATA, NULL);
	extents_add(&x, 0x4000, 0x800, 0, ATW_EXCLUDED, NULL);
	extents_add(&x, 0x5000, 0, 0, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(x.n, 3);
	for (int pass = 0; pass < 2; pass++) {
		CHECK_EQ(byte_at(&x, 0xfff), -2);
		CHECK_EQ(byte_at(&x, 0x1000), 0x9000);
		CHECK_EQ(byte_at(&x, 0x1fff), 0x9fff);
		CHECK_EQ(byte_at(&x, 0x2000), -2);
		CHECK_EQ(byte_at(&x, 0x3000), 0x100);
		CHECK_EQ(byte_at(&x, 0x47ff), -1);
		CHECK_EQ(byte_at(&x, 0x4800), -2);
		CHECK_EQ(byte_at(&x, 0x5000), -2);
		CHECK_EQ(byte_at(&x, UINT64_MAX), -2);
	}
	CHECK_EQ(extents_extent(&x, ATW_PA(0), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_NONE);
	CHECK_EQ(e.len, 0x1000);
	CHECK_EQ(extents_extent(&x, ATW_PA(0x1800), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_DATA);
	CHECK_EQ(e.start.u, 0x1800);
	CHECK_EQ(e.len, 0x800);
	CHECK_EQ(extents_extent(&x, ATW_PA(0x4000), &e), ATW_OK);
	CHECK_EQ(e.kind, ATW_EXCLUDED);
	CHECK_EQ(extents_extent(&x, ATW_PA(0x4800), &e), ATW_END);
	CHECK_EQ(extents_total(&x, ATW_DATA), 0x2000);
	CHECK_EQ(extents_total(&x, ATW_EXCLUDED), 0x800);
	extents_deinit(&x);
}

TEST(merges_what_carries_on)
{
	struct extents x = { 0 };

	extents_add(&x, 0x2000, 0x1000, 0x12000, ATW_DATA, NULL);
	extents_add(&x, 0x1000, 0x1000, 0x11000, ATW_DATA, NULL);
	extents_add(&x, 0x3000, 0x1000, 0x99000, ATW_DATA, NULL);  /* lies apart */
	extents_add(&x, 0x4000, 0x1000, 0, ATW_EXCLUDED, NULL);
	extents_add(&x, 0x5000, 0x1000, 7, ATW_EXCLUDED, NULL);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(x.n, 3);
	CHECK_EQ(x.v[0].start, 0x1000);
	CHECK_EQ(x.v[0].len, 0x2000);
	CHECK_EQ(x.v[2].len, 0x2000);
	extents_deinit(&x);
}

TEST(the_first_of_overlapping_ranges_wins)
{
	struct extents x = { 0 };

	extents_add(&x, 20, 40, 1000, ATW_DATA, NULL);
	extents_add(&x, 0, 100, 2000, ATW_DATA, NULL);
	extents_add(&x, 10, 20, 3000, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(byte_at(&x, 19), 2019);
	CHECK_EQ(byte_at(&x, 20), 1000);
	CHECK_EQ(byte_at(&x, 59), 1039);
	CHECK_EQ(byte_at(&x, 60), 2060);
	CHECK_EQ(x.n, 3);
	extents_deinit(&x);
}

TEST(data_wins_over_excluded)
{
	struct extents x = { 0 };

	extents_add(&x, 0, 100, 0, ATW_EXCLUDED, NULL);
	extents_add(&x, 40, 20, 500, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(byte_at(&x, 39), -1);
	CHECK_EQ(byte_at(&x, 40), 500);
	CHECK_EQ(byte_at(&x, 60), -1);
	extents_deinit(&x);
}

/* Zeroes that the source has are as good as any other bytes. */
TEST(zeroes_win_over_excluded_and_are_equal_to_data)
{
	struct extents x = { 0 };

	extents_add(&x, 0, 100, 0, ATW_EXCLUDED, NULL);
	extents_add(&x, 40, 20, 500, ATW_ZERO, NULL);
	extents_add(&x, 50, 20, 700, ATW_DATA, NULL);
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(extents_find(&x, 39)->kind, ATW_EXCLUDED);
	CHECK_EQ(extents_find(&x, 59)->kind, ATW_ZERO);
	CHECK_EQ(extents_find(&x, 59)->off, 500);
	CHECK_EQ(byte_at(&x, 60), 710);
	CHECK_EQ(extents_find(&x, 70)->kind, ATW_EXCLUDED);
	extents_deinit(&x);
}

TEST(the_last_address_is_a_bound)
{
	struct extents x = { 0 };
	struct atw_err err = { 0 };

	CHECK_EQ(extents_add(&x, UINT64_MAX - 9, 9, 0, ATW_DATA, &err), ATW_OK);
	CHECK_EQ(extents_add(&x, UINT64_MAX - 9, 10, 0, ATW_DATA, &err), ATW_E_DAMAGED);
	CHECK_STR(err.text, "memory at 0xfffffffffffffff6: 0xa bytes reach past the last 64-bit address");
	CHECK_EQ(extents_build(&x, NULL), ATW_OK);
	CHECK_EQ(byte_at(&x, UINT64_MAX - 1), 8);
	CHECK_EQ(byte_at(&x, UINT64_MAX), -2);
	extents_deinit(&x);
}

static uint64_t seed = 1;

static uint64_t dice(uint64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % n;
}

/* Against painting a small memory byte by byte, the winners last. */
TEST(agrees_with_painting)
{
	enum { SIZE = 200, RANGES = 12 };

	for (int round = 0; round < 2000; round++) {
		struct { uint64_t start, len, off; bool data; } r[RANGES];
		struct extents x = { 0 };
		long want[SIZE];

		for (int i = 0; i < RANGES; i++) {
			r[i].start = dice(SIZE);
			r[i].len = dice(SIZE - r[i].start + 1);
			/* Two files side by side, so that some pieces merge. */
			r[i].off = r[i].start + 1000 * dice(2);
			r[i].data = dice(2);
			extents_add(&x, r[i].start, r[i].len, r[i].off,
				    r[i].data ? ATW_DATA : ATW_EXCLUDED, NULL);
		}
		for (int a = 0; a < SIZE; a++)
			want[a] = -2;
		for (int data = 0; data < 2; data++)
			for (int i = RANGES - 1; i >= 0; i--)
				for (uint64_t k = 0; r[i].data == data && k < r[i].len; k++)
					want[r[i].start + k] = data ? (long)(r[i].off + k) : -1;

		CHECK_EQ(extents_build(&x, NULL), ATW_OK);
		for (int a = 0; a < SIZE; a++)
			CHECK_EQ(byte_at(&x, (uint64_t)a), want[a]);
		for (size_t i = 0; i < x.n; i++) {
			CHECK(x.v[i].len);
			CHECK(!i || x.v[i - 1].start + x.v[i - 1].len <= x.v[i].start);
		}
		extents_deinit(&x);
	}
}
