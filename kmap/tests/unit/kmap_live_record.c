/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sampled access stands for the right number of accesses, of any memory and any time,
 * and it is reported why there are none.
 */
#include "kmap/lib/live_record.h"
#include "host/live_watch.h"

#include "test.h"

TEST(a_scale_is_words_there_were_by_words_that_were_watched)
{
	struct live_sums s = { .watched = 2000, .all = 1000000 };

	CHECK_EQ(live_sums_scale(&s, 1), 500);
	CHECK_EQ(live_sums_scale(&s, 3), 1500);
	s.all = 1;
	CHECK_EQ(live_sums_scale(&s, 1), 1);
	s.watched = 0;
	CHECK_EQ(live_sums_scale(&s, 1), 0);
}

TEST(a_terabyte_for_a_day)
{
	const uint64_t words = UINT64_C(1) << 37, day = UINT64_C(86400000000000);
	struct live_sums s = { .watched = 2 * day, .all = (unsigned __int128)words * day };

	CHECK_EQ(live_sums_scale(&s, 1), words / 2);
	CHECK_EQ(live_sums_scale(&s, 1000), words * 500);
	CHECK_EQ(live_sums_scale(&s, UINT64_MAX), UINT64_MAX);
	s.all = ~(unsigned __int128)0;
	s.watched = 1;
	CHECK_EQ(live_sums_scale(&s, 1), UINT64_MAX);
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
		r = live_watch_open(&w[n], 0, &words, &err);
	while (r == ATW_OK && ++n < 4);
	for (unsigned i = 0; i < n; i++)
		live_watch_close(w[i]);
	if (!n && !strstr(err.text, "in use"))
		SKIP("this machine has no breakpoints to be had");
	CHECK_EQ(r, ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "no two hardware breakpoints of each CPU are free: they are in use, or there are none");
}
