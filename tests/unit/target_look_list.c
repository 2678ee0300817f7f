/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames out of entries: every way to list them lists the same. */
#include "target/look.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { WORDS = 512, ROOM = WORDS + LIST_STRIDE };

static const struct look_small small = {
	.mask = 0x8000000000000201, .value = 1, .address = 0x000ffffffffff000, .right = 12,
};

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 20;
}

TEST(as_long_as_there_is_nothing_else)
{
	uint64_t word[24] = { 0 };
	uint32_t to[24 + LIST_STRIDE], n = 77;

	CHECK_EQ(look_list_plain(&small, word, 24, to, &n), 24);
	CHECK_EQ(n, 0);
	word[1] = 0x5001;
	word[7] = 0x123456789003;
	word[8] = 0x7001;
	CHECK_EQ(look_list_plain(&small, word, 24, to, &n), 24);
	CHECK_EQ(n, 3);
	CHECK_EQ(to[0], 5);
	CHECK_EQ(to[1], 0x23456789);             /* 32 bits: the mask leaves no more */
	CHECK_EQ(to[2], 7);
	/* Neither empty nor one of them: its stride is another's. */
	word[9] = 0x8201;
	CHECK_EQ(look_list_plain(&small, word, 24, to, &n), 8);
	CHECK_EQ(n, 2);
	word[9] = 0x8000;
	CHECK_EQ(look_list_plain(&small, word, 24, to, &n), 8);
	/* A part of a stride is none. */
	CHECK_EQ(look_list_plain(&small, word, 7, to, &n), 0);
	CHECK_EQ(n, 0);
}

TEST(the_fastest_lists_the_same)
{
	look_list_fn *best = look_list_best();
	uint64_t seed = 3;

	for (int round = 0; round < 2000; round++) {
		uint64_t word[WORDS];
		uint32_t a[ROOM], b[ROOM], na = 0, nb = 0, n = (uint32_t)draw(&seed) % WORDS;
		uint64_t empty = draw(&seed) % 9, others = draw(&seed) % 2000;

		for (uint32_t i = 0; i < WORDS; i++) {
			uint64_t r = draw(&seed);

			word[i] = r % 8 < empty ? 0 : (draw(&seed) << 12 & small.address) | 0x63;
			if (draw(&seed) % 2000 < others / 100)
				word[i] ^= UINT64_C(1) << r / 8 % 64;
		}
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		CHECK_EQ(look_list_plain(&small, word, n, a, &na), best(&small, word, n, b, &nb));
		CHECK_EQ(na, nb);
		CHECK(!memcmp(a, b, na * sizeof(a[0])));
	}
}
