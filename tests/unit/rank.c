/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rank index agrees with counting bit by bit. */
#include "test.h"

#include "source/rank.h"

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

/* A map of exactly the bytes it needs, so that a sanitizer sees any excess. */
static uint8_t *make_bits(uint64_t nbits, unsigned density)
{
	size_t len = (size_t)(nbits + 7) / 8;
	uint8_t *p = calloc(1, len ? len : 1);

	/* Bits past the end are set: they must not count. */
	for (size_t i = 0; i < len * 8; i++)
		if (i >= nbits || next_random() % 100 < density)
			p[i / 8] |= (uint8_t)(1u << i % 8);
	return p;
}

static bool agrees(uint64_t nbits, unsigned density)
{
	uint8_t *bits = make_bits(nbits, density);
	struct rank r;
	uint64_t n = 0, i;

	if (!rank_init(&r, bits, nbits))
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

	CHECK(rank_init(&r, "", 0));
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
