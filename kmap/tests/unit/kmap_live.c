/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live recording reports which access samplers this machine has, and
 * why others are missing.
 */
#include "test.h"

#include "kmap/lib/live_index.h"
#include "kmap/lib/live_watch.h"
#include "random.h"

enum { KEYS = 5000, STEPS = 400000 };

/* Against a table that needs no thinking: keys are few, and come and go. */
TEST(what_is_there_is_found_and_nothing_else)
{
	static uint32_t truth[KEYS];
	struct live_index x = { 0 };
	uint64_t seed = 1;
	size_t n = 0;

	CHECK_EQ(live_index_find(&x, 1), 0);
	live_index_drop(&x, 1);
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint64_t r = random_next(&seed);
		uint32_t k = (uint32_t)(r >> 8) % KEYS;
		uint64_t key = UINT64_C(0xffff888000000000) + k * 64u;

		if (r & 1) {
			CHECK(live_index_set(&x, key, step));
			n += !truth[k];
			truth[k] = step;
		} else {
			live_index_drop(&x, key);
			n -= truth[k] != 0;
			truth[k] = 0;
		}
		CHECK_EQ(x.n, n);
		k = (uint32_t)(r >> 40) % KEYS;
		CHECK_EQ(live_index_find(&x, UINT64_C(0xffff888000000000) + k * 64u), truth[k]);
	}
	for (uint32_t k = 0; k < KEYS; k++)
		CHECK_EQ(live_index_find(&x, UINT64_C(0xffff888000000000) + k * 64u), truth[k]);
	live_index_free(&x);
}

/* The error names breakpoints in use by any process, not a device without space. */
TEST(breakpoints_that_somebody_has_are_said_to_be_in_use)
{
	struct live_watch *w[4] = { NULL };
	struct atw_err err = { 0 };
	unsigned words, n = 0;
	int r;

	/* Breakpoints of another process may become free meanwhile. */
	do
		r = live_watch_open(&w[n], &words, &err);
	while (r == ATW_OK && ++n < 4);
	for (unsigned i = 0; i < n; i++)
		live_watch_close(w[i]);
	if (!n && !strstr(err.text, "in use"))
		SKIP("this machine has no breakpoints to be had");
	CHECK_EQ(r, ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "no two hardware breakpoints of each CPU are free: they are in use, or there are none");
}
