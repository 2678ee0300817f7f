/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes depend on every byte and on a key drawn for each run. */
#include "base/hash.h"

#include <stdlib.h>

#include "test.h"

enum { KEYS = 2000, BITS = 8 };

/* How many pairs of keys meet in a table of 1 << BITS places, to the lowest. */
static unsigned meet(const uint64_t *key, unsigned n, uint64_t (*hash)(uint64_t))
{
	unsigned at[1 << BITS] = { 0 }, most = 0;

	for (unsigned i = 0; i < n; i++) {
		unsigned *a = &at[hash(key[i]) & ((1 << BITS) - 1)];

		if (++*a > most)
			most = *a;
	}
	return most;
}

static uint64_t of_word(uint64_t x)
{
	return hash_u64(x);
}

static uint64_t of_two(uint64_t x)
{
	return hash_two(x, 1 - x);
}

static uint64_t of_bytes(uint64_t x)
{
	return hash_bytes(0, &x, sizeof(x));
}

static uint64_t of_more(uint64_t x)
{
	return hash_bytes(x, "name", 4);
}

/* Keys that all meet, if one may choose them for the numbers of one run. */
static void choose(uint64_t *key, uint64_t (*hash)(uint64_t))
{
	unsigned n = 0;

	for (uint64_t x = 1; n < KEYS; x++)
		if (!(hash(x) & ((1 << BITS) - 1)))
			key[n++] = x;
}

TEST(who_chose_keys_for_one_run_chose_nothing_for_another)
{
	uint64_t (*const all[])(uint64_t) = { of_word, of_two, of_bytes, of_more };
	static uint64_t key[KEYS];

	for (unsigned i = 0; i < 4; i++) {
		hash_seed(1);
		choose(key, all[i]);
		CHECK_EQ(meet(key, KEYS, all[i]), KEYS);
		for (uint64_t seed = 2; seed < 20; seed++) {
			hash_seed(seed);
			CHECK(meet(key, KEYS, all[i]) < 64);
		}
	}
}

TEST(the_same_numbers_the_same_hashes)
{
	uint64_t word, bytes;

	hash_seed(5);
	word = hash_u64(77);
	bytes = hash_bytes(3, "abcdefghijk", 11);
	hash_seed(6);
	CHECK(hash_u64(77) != word);
	CHECK(hash_bytes(3, "abcdefghijk", 11) != bytes);
	hash_seed(5);
	CHECK_EQ(hash_u64(77), word);
	CHECK_EQ(hash_bytes(3, "abcdefghijk", 11), bytes);
}

/* Each byte, the length and the other part of the key count. */
TEST(nothing_is_left_out)
{
	char s[40] = { 0 };
	uint64_t none;

	hash_seed(9);
	none = hash_bytes(0, s, sizeof(s));
	for (unsigned i = 0; i < sizeof(s); i++) {
		s[i] = 1;
		CHECK(hash_bytes(0, s, sizeof(s)) != none);
		s[i] = 0;
		CHECK(hash_bytes(0, s, i) != none);
	}
	CHECK(hash_bytes(1, s, sizeof(s)) != none);
	CHECK_EQ(hash_bytes(0, s, sizeof(s)), none);
	CHECK(hash_two(1, 2) != hash_two(2, 1));
}

/* The first vector of the authors', for the key 00 01 .. 0f; with one round and three. */
TEST(siphash)
{
	uint8_t in[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

	hash_drawn.sip[0] = 0x0706050403020100;
	hash_drawn.sip[1] = 0x0f0e0d0c0b0a0908;
	CHECK_EQ(hash_bytes(0, in, 0), 0xabac0158050fc4dc);
	CHECK_EQ(hash_bytes(0, in, 8), 0x369095118d299a8e);
}
