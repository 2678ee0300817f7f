/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sorted.h - sorting by a first member that is a number, and binary searches for one. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/base.h>

/*
 * The order of two values, ascending. Of several members, the first that differ decide:
 * ORDER(a->x, b->x) ?: ORDER(a->y, b->y).
 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* qsort(3), which takes no NULL, of any number of elements. */
#define SORT(v, n, compare) sort_array(v, n, sizeof(*(v)), compare)
static inline void sort_array(void *v, size_t n, size_t size,
			      int (*compare)(const void *a, const void *b))
{
	if (n)
		qsort(v, n, size, compare);
}

/* For qsort(3): numbers, or structs that begin with one. */
static inline int sorted_by_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ORDER(x, y);
}

static inline int sorted_by_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ORDER(x, y);
}

static inline size_t sorted_up_to(const void *v, size_t n, size_t stride, size_t at,
				  uint64_t key)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		uint64_t word;

		memcpy(&word, (const char *)v + mid * stride + at, sizeof(word));
		if (word <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static inline size_t sorted_below(const void *v, size_t n, size_t stride, size_t at,
				  uint64_t key)
{
	return key ? sorted_up_to(v, n, stride, at, key - 1) : 0;
}

/* How many of n elements have a member up to the key, itself among them. */
#define SORTED_UP_TO(v, n, member, key) \
	sorted_up_to(v, n, sizeof(*(v)), offsetof(__typeof__(*(v)), member), key)
/* How many have one below the key: the index of the first that has not. */
#define SORTED_BELOW(v, n, member, key) \
	sorted_below(v, n, sizeof(*(v)), offsetof(__typeof__(*(v)), member), key)

/* ---- radix ---- */

/* Stable radix sort of large arrays of numbers. */

/*
 * Sort by the bits from `shift` on; the sort is stable. Both arrays have `n` elements;
 * the one that holds the result is returned.
 */
uint64_t *radix_sort(uint64_t *v, uint64_t *other, size_t n, unsigned shift);
