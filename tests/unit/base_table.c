/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hash tables: growth, colliding keys, several slots of a key, removal, no memory. */
#include "base/table.h"

#include "random.h"
#include "test.h"

static uint64_t key_of(uint64_t i)
{
	return i * 0x9e3779b97f4a7c15;
}

TEST(all_keys_are_found_however_large_it_grows)
{
	struct table t = { 0 };

	CHECK(!table_find(&t, 1));
	for (uint64_t i = 0; i < 100000; i++) {
		struct table_slot *s = table_get(&t, key_of(i));

		CHECK(s && !s->value);
		table_set(&t, s, i + 1);
		CHECK(2 * t.n <= t.slots);
	}
	CHECK_EQ(t.n, 100000);
	for (uint64_t i = 0; i < 100000; i++) {
		CHECK_EQ(table_find(&t, key_of(i)), i + 1);
		CHECK_EQ(table_get(&t, key_of(i))->value, i + 1);
	}
	CHECK(!table_find(&t, key_of(100000)));
	table_deinit(&t);
	CHECK(!table_find(&t, 0));
}

TEST(a_slot_without_a_value_is_free)
{
	struct table t = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(table_get(&t, i));
		CHECK(!table_find(&t, i));
	}
	table_set(&t, table_get(&t, 7), 3);
	CHECK_EQ(table_find(&t, 7), 3);
	CHECK_EQ(t.slots, 64);
	table_deinit(&t);
}

/* Keys that all have the last slots of the table as their home wrap around its end. */
TEST(colliding_keys_are_found_and_removed)
{
	enum { KEYS = 24, SLOTS = 64 };
	uint64_t key[KEYS], seed = 5;
	struct table t = { 0 };
	unsigned n = 0;

	hash_seed(42);
	for (uint64_t x = 0; n < KEYS; x++)
		if ((hash_u64(x) & (SLOTS - 1)) >= SLOTS - 3)
			key[n++] = x;
	for (unsigned i = 0; i < KEYS; i++)
		CHECK(table_add(&t, key[i], i + 1));
	CHECK_EQ(t.slots, SLOTS);
	for (unsigned left = KEYS; left; left--) {
		unsigned gone = (unsigned)(random_below(&seed, left));

		table_remove(&t, table_next(&t, key[gone], NULL));
		CHECK(!table_find(&t, key[gone]));
		key[gone] = key[left - 1];
		for (unsigned i = 0; i + 1 < left; i++)
			CHECK(table_find(&t, key[i]));
		CHECK_EQ(t.n, left - 1);
	}
	table_deinit(&t);
}

/* Against a table that needs no thinking: keys are few, and come and go. */
TEST(what_is_there_is_found_and_nothing_else)
{
	enum { KEYS = 5000, STEPS = 400000 };
	static uint32_t truth[KEYS];
	struct table x = { 0 };
	uint64_t seed = 1;
	size_t n = 0;

	CHECK_EQ(table_find(&x, 1), 0);
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t r = random_next(&seed);
		uint32_t k = (uint32_t)(r >> 8) % KEYS;
		uint64_t key = UINT64_C(0xffff888000000000) + k * 64u;

		if (r & 1) {
			CHECK(table_put(&x, key, step));
			n += !truth[k];
			truth[k] = step;
		} else {
			if (truth[k])
				table_remove(&x, table_next(&x, key, NULL));
			n -= truth[k] != 0;
			truth[k] = 0;
		}
		CHECK_EQ(x.n, n);
		k = (uint32_t)(r >> 40) % KEYS;
		CHECK_EQ(table_find(&x, UINT64_C(0xffff888000000000) + k * 64u),
			 truth[k]);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		CHECK_EQ(table_find(&x, UINT64_C(0xffff888000000000) + k * 64u),
			 truth[k]);
	table_deinit(&x);
}

TEST(slots_of_one_key_follow_each_other)
{
	struct table t = { 0 };
	struct table_slot *s = NULL;

	for (uint64_t i = 1; i <= 100; i++)
		CHECK(table_add(&t, i % 3, i));
	for (unsigned n = 0; n < 33; n++) {
		s = table_next(&t, 2, s);
		CHECK(s && s->key == 2 && s->value % 3 == 2);
	}
	CHECK(!table_next(&t, 2, s));
	s = table_next(&t, 2, NULL);
	s = table_next(&t, 2, s);
	table_remove(&t, s);
	s = NULL;
	for (unsigned n = 0; n < 32; n++)
		s = table_next(&t, 2, s);
	CHECK(s && !table_next(&t, 2, s));
	table_deinit(&t);
}

/* More slots than an address space has: nothing changes. */
TEST(without_memory_it_stays_as_it_was)
{
	struct table t = { 0 }, huge;

	CHECK(table_add(&t, 1, 2));
	huge = t;
	huge.n = huge.slots = (size_t)1 << 60;
	CHECK(!table_add(&huge, 3, 4));
	CHECK(huge.slot == t.slot && huge.n == (size_t)1 << 60);
	CHECK(!table_add(&huge, 3, 4));
	CHECK_EQ(table_find(&t, 1), 2);
	table_deinit(&t);
}
