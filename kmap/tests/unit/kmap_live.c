/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live recording reports which access samplers this machine has, and
 * why others are missing.
 */
#include "test.h"

#include "kmap/lib/live_watch.h"

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
