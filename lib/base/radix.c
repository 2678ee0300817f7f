/* SPDX-License-Identifier: GPL-2.0-or-later */
/* radix.c - radix sort of numbers. */
#include "base/sorted.h"

/* More bits per digit need fewer passes, but more counters in each. */
enum { FEW = 4096, FEW_BITS = 8, MANY_BITS = 11 };

static bool radix_ordered(const uint64_t *v, size_t n, unsigned shift)
{
	for (size_t i = 1; i < n; i++)
		if (v[i] >> shift < v[i - 1] >> shift)
			return false;
	return true;
}

/* By digits, the lowest first. */
uint64_t *radix_sort(uint64_t *v, uint64_t *other, size_t n, unsigned shift)
{
	unsigned bits = n < FEW ? FEW_BITS : MANY_BITS;
	uint64_t differ = 0;

	if (radix_ordered(v, n, shift))
		return v;
	for (size_t i = 1; i < n; i++)
		differ |= v[i] ^ v[0];
	for (; shift < 64 && differ >> shift; shift += bits) {
		uint64_t mask = ((uint64_t)1 << bits) - 1, *swap = v;
		uint32_t start[1 << MANY_BITS] = { 0 }, sum = 0;

		if (!(differ >> shift & mask))
			continue;
		for (size_t i = 0; i < n; i++)
			start[v[i] >> shift & mask]++;
		for (size_t i = 0; i <= mask; i++) {
			uint32_t many = start[i];

			start[i] = sum;
			sum += many;
		}
		for (size_t i = 0; i < n; i++)
			other[start[v[i] >> shift & mask]++] = v[i];
		v = other;
		other = swap;
	}
	return v;
}
