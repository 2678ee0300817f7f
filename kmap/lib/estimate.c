/* SPDX-License-Identifier: GPL-2.0-or-later */
/* estimate.c - totals of all accesses estimated from a sample, with their errors. */
#include "kmap/lib/model.h"

/* Rounded up. */
static uint64_t estimate_root(unsigned __int128 n)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if ((unsigned __int128)mid * mid < n)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t estimate_at_most(unsigned __int128 n)
{
	return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

/*
 * Where words are watched, hits of one come together, so it is words that were drawn by
 * chance: the variance of a sum of heaps of which there is a Poisson number is the sum
 * of their squares. Where the CPU takes one of so many, each hit is a heap. Of none at
 * all there may have been 3, with that confidence.
 */
bool kmap_estimate(const struct kmap_model *m, const struct kmap_sums *s, uint64_t *accesses,
		   uint64_t *error)
{
	uint64_t hits = s->reads + s->writes < s->reads ? UINT64_MAX : s->reads + s->writes;
	unsigned __int128 squares = kmap_watch_sampled(m) ? s->squares : hits;

	if (!kmap_accesses_sampled(m) || !m->scale || !kmap_accesses_known(m, s))
		return false;
	*accesses = estimate_at_most((unsigned __int128)hits * m->scale);
	if (!hits)
		*error = estimate_at_most((unsigned __int128)3 * m->scale);
	else    /* 1.96 of them */
		*error = estimate_at_most(((unsigned __int128)estimate_at_most((unsigned __int128)estimate_root(squares) *
							       m->scale) * 49 + 24) / 25);
	return true;
}
