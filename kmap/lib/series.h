/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series.h - live bytes over time, of many things at once, in steps that become as
 * long as the recording needs: memory is that of the steps, whatever the times are.
 */
#pragma once

#include <atwalk/base.h>

enum {
	KMAP_STEPS = 128,
	KMAP_SERIES = 4096,              /* that are kept apart; others share the last */
};

struct kmap_series {
	int64_t (*v)[KMAP_STEPS];        /* what each step adds, of each of them */
	size_t n, cap;
	unsigned shift;                  /* a step has 2^shift */
	uint64_t from;                   /* number of the first step: times >> shift */
	uint64_t low, high;              /* first and last time there was */
	bool any;
};

void kmap_series_deinit(struct kmap_series *s);
/* Number of a new one, or of the shared one; -1: no memory. */
int64_t kmap_series_new(struct kmap_series *s);
/* `bytes` more, or less, from then on. */
void kmap_series_add(struct kmap_series *s, size_t i, uint64_t time, int64_t bytes);
/* When step `k` begins. */
static inline uint64_t kmap_series_time(const struct kmap_series *s, unsigned k)
{
	return (s->from + k) << s->shift;
}
