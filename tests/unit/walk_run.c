/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of equal words are found as by comparing one word at a time, wherever they begin
 * and end.
 */

#include "walk/memory.h"
#include "random.h"
#include "test.h"

enum { WORDS = 300 };

static uint32_t plainly(const char *words, unsigned ws, uint32_t i, uint64_t mask, uint32_t end)
{
	uint32_t at = i + 1;

	while (at < end && !((load_word(words, ws, at) ^ load_word(words, ws, i)) & mask))
		at++;
	return at;
}

TEST(every_length_at_every_place)
{
	static const uint64_t masks[] = { UINT64_MAX, 0xfff, 1ull << 63, 0xffffffff };
	char bytes[8 * WORDS + 8];
	uint64_t random = 1;

	for (unsigned n = 0; n < 20000; n++) {
		uint64_t word = random_next(&random);
		unsigned ws = n & 1 ? 8 : 4, off = random_below(&random, 8);
		uint64_t mask = masks[random_below(&random, 4)];
		uint32_t end = 1 + (uint32_t)(random_below(&random, WORDS));
		uint32_t i = (uint32_t)(random_below(&random, end));
		uint32_t odd = (uint32_t)(random_below(&random, WORDS));
		char *words = bytes + off;

		/* What the mask leaves out differs everywhere. */
		for (uint32_t k = 0; k < WORDS; k++) {
			uint64_t other = (word & mask) | (random_next(&random) & ~mask);

			if (k == odd)
				other ^= mask;
			memcpy(words + (size_t)k * ws, &other, ws);
		}
		CHECK_EQ(run_end(words, ws, i, mask, end), plainly(words, ws, i, mask, end));
	}
}

/* One bit of one word, each in its turn: none is overlooked by a vector. */
TEST(every_bit)
{
	uint64_t words[64 * 2 + 1] = { 0 };

	for (unsigned k = 1; k < 64 * 2 + 1; k++)
		for (unsigned bit = 0; bit < 64; bit++) {
			words[k] = 1ull << bit;
			CHECK_EQ(run_end(words, 8, 0, UINT64_MAX, 64 * 2 + 1), k);
			CHECK_EQ(run_end(words, 8, 0, ~words[k], 64 * 2 + 1), 64 * 2 + 1);
			words[k] = 0;
		}
}
