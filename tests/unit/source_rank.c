/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rank index agrees with counting bit by bit. */
#include "random.h"
#include "test.h"

#include "base/file.h"
#include "source/kdump_set.h"

/* A map of exactly the bytes it needs, so that a sanitizer sees any excess. */
static uint8_t *make_bits(uint64_t nbits, unsigned density)
{
	size_t len = (size_t)(nbits + 7) / 8;
	uint8_t *p = calloc(1, len ? len : 1);

	/* Bits past the end are set: they must not count. */
	for (size_t i = 0; i < len * 8; i++)
		if (i >= nbits || random_any() % 100 < density)
			p[i / 8] |= (uint8_t)(1u << i % 8);
	return p;
}

static bool agrees(uint64_t nbits, unsigned density)
{
	uint8_t *bits = make_bits(nbits, density);
	struct rank r;
	uint64_t n = 0, i;

	if (!rank_init(&r, bits, nbits, NULL))
		return false;
	for (i = 0; i < nbits; i++) {
		if (rank_before(&r, i) != n)
			break;
		n += bits[i / 8] >> i % 8 & 1;
	}
	if (i == nbits && (rank_before(&r, nbits) != n || r.total != n ||
			   rank_before(&r, UINT64_MAX) != n))
		i = 0;
	rank_deinit(&r);
	free(bits);
	return i == nbits;
}

TEST(every_size_near_the_blocks)
{
	static const uint64_t around[] = { 1, 8, 64, 128, 512, 1024, 4096, 32768 };

	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++)
		for (uint64_t n = around[i] > 9 ? around[i] - 9 : 1; n < around[i] + 10; n++)
			CHECK(agrees(n, 50));
}

TEST(densities)
{
	static const unsigned density[] = { 0, 1, 50, 99, 100 };

	for (size_t i = 0; i < 5; i++)
		CHECK(agrees(10007, density[i]));
}

TEST(empty)
{
	struct rank r;

	CHECK(rank_init(&r, "", 0, NULL));
	CHECK_EQ(rank_before(&r, 0), 0);
	CHECK_EQ(rank_before(&r, 77), 0);
	rank_deinit(&r);
}

TEST(words_end_with_the_map)
{
	uint8_t *bits = malloc(9);

	memset(bits, 0xff, 9);
	CHECK_EQ(bitmap_word(bits, 67, 0), UINT64_MAX);
	CHECK_EQ(bitmap_word(bits, 67, 64), 7);
	CHECK_EQ(bitmap_word(bits, 67, 128), 0);
	CHECK_EQ(bitmap_word(bits, 64, 64), 0);
	CHECK(bitmap_test(bits, 67, 66));
	CHECK(!bitmap_test(bits, 67, 67));
	free(bits);
}

/* A file that begins 3 bytes before the bitmap, with holes of any size in it. */
TEST(gaps_are_not_read)
{
	enum { NBITS = 40003, AT = 3, LEN = NBITS / 8 + 1 };
	uint8_t *bits = make_bits(NBITS, 50), *clean = malloc(LEN);
	struct file_hole hole[] = {
		{ 0, 100 }, { 150, 200 }, { 300, 364 }, { 365, 1000 }, { 1030, 1064 },
		{ 2000, 3000 }, { 4900, LEN + 99 },
	};
	const struct file_holes holes = { hole, sizeof(hole) / sizeof(*hole) };
	struct rank_gaps g;
	struct rank r, all;

	memcpy(clean, bits, LEN);
	for (size_t h = 0; h < holes.n; h++)
		for (uint64_t i = hole[h].start; i < hole[h].end; i++)
			if (i >= AT && i - AT < LEN)
				bits[i - AT] = clean[i - AT] = 0;
	CHECK(rank_init(&all, clean, NBITS, NULL));
	CHECK(rank_gaps_init(&g, &holes, AT, NBITS));
	CHECK_EQ(g.n, 4);
	CHECK_EQ(g.v[0].start, 0);
	CHECK_EQ(g.v[0].end, 512);
	CHECK_EQ(g.v[1].start, 6 * 512);
	CHECK_EQ(g.v[1].end, 15 * 512);
	CHECK_EQ(g.v[3].end, 78 * 512);
	/* What a gap covers may be anything: it is not looked at. */
	for (size_t i = 0; i < g.n; i++)
		memset(bits + g.v[i].start / 8, 0xff, (g.v[i].end - g.v[i].start) / 8);
	CHECK(rank_init(&r, bits, NBITS, &g));
	CHECK_EQ(r.total, all.total);
	for (uint64_t n = 0; n < NBITS + 9; n++)
		CHECK_EQ(rank_before(&r, n), rank_before(&all, n));
	CHECK_EQ(rank_gaps_end(&g, 0), 512);
	CHECK_EQ(rank_gaps_end(&g, 511), 512);
	CHECK_EQ(rank_gaps_end(&g, 512), 512);
	CHECK_EQ(rank_gaps_end(&g, 6 * 512 - 1), 6 * 512 - 1);
	CHECK_EQ(rank_gaps_end(&g, 6 * 512), 15 * 512);
	CHECK_EQ(rank_gaps_end(&g, NBITS), NBITS);
	rank_deinit(&r);
	rank_deinit(&all);
	rank_gaps_deinit(&g);
	free(bits);
	free(clean);
}
