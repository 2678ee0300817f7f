/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure.h - contests: several ways to the same answer, in one run.
 *
 * The ways take turns, round after round, so that a neighbour's load falls on
 * all of them alike; what is counted is CPU time, which waiting for a core does
 * not add to. The first round warms up and is where the answers are
 * compared: a wrong way is never timed. Shown are the median and the best of
 * the rounds that follow, for each unit of work, and the ratio of medians to
 * the first way, the floor. Targets are held against medians.
 */
#pragma once

#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <atwalk/base.h>

enum { ROUNDS = 15, SLOWLY = 3, MAX_WAYS = 10 };

/* What a way found: how many, and a sum over all of them. */
struct answer {
	uint64_t count, sum;
};

struct way {
	const char *name;
	struct answer (*go)(void *arg);
	bool counts_only;        /* it has no sum to compare */
	double target;           /* of the unit; 0: none is set */
	double times;            /* the same, in times of the first way */
	bool slow;               /* takes part in every third round only */
};

static inline void need(int r, const struct atw_err *err)
{
	if (r < 0)
		errx(1, "%s", err->text);
}

/* CPU time of this thread. */
static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sorts; the best is v[0] then. */
static inline double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static inline const char *verdict(double value, double target)
{
	return value <= target ? "met" : "MISSED";
}

/* `ratio`: what the ratios are to; NULL where nothing is repeated. */
static inline void heading(const char *what, const char *ratio)
{
	if (ratio)
		printf("\n%-46s %9s %9s %9s  target\n", what, "median", "best", ratio);
	else
		printf("\n%-46s %9s %19s  target\n", what, "", "");
}

static inline void end_row(double value, double target)
{
	if (target > 0)
		printf("  %g %s", target, verdict(value, target));
	printf("\n");
	fflush(stdout);
}

static inline void figure(const char *name, double value, double target)
{
	printf("  %-44s %9.2f %19s", name, value, "");
	end_row(value, target);
}

/* What is the better the more of it there is. */
static inline void least(const char *name, double value, double target)
{
	printf("  %-44s %9.2f %19s  at least %g %s\n", name, value, "", target,
	       value >= target ? "met" : "MISSED");
	fflush(stdout);
}

static inline void row_begin(const char *name, double mid, double best, double floor)
{
	printf("  %-44s %9.2f %9.2f", name, mid, best);
	if (floor > 0)
		printf(" %8.2fx", mid / floor);
	else
		printf(" %9s", "");
}

static inline void row(const char *name, double mid, double best, double floor,
		       double target)
{
	row_begin(name, mid, best, floor);
	end_row(mid, target);
}

/* The medians go to mid[]. */
static inline void contest_medians(const struct way *ways, size_t n, void *arg, uint64_t units,
				double mid[MAX_WAYS])
{
	static double ns[MAX_WAYS][ROUNDS];
	struct answer want = ways[n - 1].go(arg);
	double floor = 0;

	/* The last way is one that sums. */
	for (size_t w = 0; w < n; w++) {
		struct answer got = ways[w].go(arg);

		if (got.count != want.count ||
		    (!ways[w].counts_only && got.sum != want.sum))
			errx(1, "%s and %s differ: %" PRIu64 " and %" PRIu64
			     ", sums 0x%" PRIx64 " and 0x%" PRIx64, ways[n - 1].name,
			     ways[w].name, want.count, got.count, want.sum, got.sum);
	}
	for (int r = 0; r < ROUNDS; r++)
		for (size_t w = 0; w < n; w++) {
			double start = now_ns();

			if (ways[w].slow && r % SLOWLY)
				continue;
			ways[w].go(arg);
			ns[w][ways[w].slow ? r / SLOWLY : r] = (now_ns() - start) / (double)units;
		}
	for (size_t w = 0; w < n; w++) {
		mid[w] = median(ns[w], ways[w].slow ? ROUNDS / SLOWLY : ROUNDS);
		if (!w && n > 1)
			floor = mid[w];
		row_begin(ways[w].name, mid[w], ns[w][0], floor);
		if (ways[w].times > 0)
			printf("  %gx %s\n", ways[w].times,
			       verdict(mid[w] / mid[0], ways[w].times));
		else
			end_row(mid[w], ways[w].target);
	}
}

static inline void contest(const struct way *ways, size_t n, void *arg, uint64_t units)
{
	double mid[MAX_WAYS];

	contest_medians(ways, n, arg, units, mid);
}
