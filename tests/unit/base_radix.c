/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The radix sort is correct and stable over all bits. */
#include "base/sorted.h"

#include <stdlib.h>

#include "random.h"
#include "test.h"

enum { MOST = 20000 };

static uint64_t v[MOST], other[MOST];

/* The low bits, by which it is not sorted, are the order they had. */
TEST(in_order_and_stable)
{
	for (unsigned round = 0; round < 200; round++) {
		size_t n = random_any() % (round % 4 ? 600 : MOST);
		uint64_t mask = UINT64_MAX >> random_any() % 49, sum = 0;
		const uint64_t *s;

		for (size_t i = 0; i < n; i++) {
			v[i] = (random_any() & mask) << 15 | i;
			sum += v[i];
		}
		s = radix_sort(v, other, n, 15);
		CHECK(s == v || s == other);
		for (size_t i = 0; i < n; i++)
			sum -= s[i];
		CHECK_EQ(sum, 0);
		for (size_t i = 1; i < n; i++)
			CHECK(s[i - 1] < s[i]);
	}
}

TEST(all_bits)
{
	for (size_t i = 0; i < 600; i++)
		v[i] = i % 2 ? UINT64_MAX - i : i;
	const uint64_t *s = radix_sort(v, other, 600, 0);

	for (size_t i = 1; i < 600; i++)
		CHECK(s[i - 1] < s[i]);
}

TEST(nothing_to_sort)
{
	CHECK(radix_sort(v, other, 0, 0) == v);
	CHECK(radix_sort(v, other, 1, 0) == v);
}
