/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays in huge pages: zeroed, and what is in them stays while they grow. */
#include "base/huge.h"

#include "test.h"

TEST(it_grows_and_keeps_what_it_has)
{
	uint64_t *v = NULL;
	size_t cap = 0, before = 0, moves = 0;

	for (size_t i = 0; i < 1000000; i++) {
		CHECK(huge_reserve((void **)&v, &cap, i + 1, sizeof(*v), true));
		moves += cap != before;
		before = cap;
		if (v[i])
			break;
		v[i] = i + 1;
	}
	CHECK_EQ(cap, 1 << 20);
	CHECK_EQ(moves, 3);
	for (size_t i = 0; i < 1000000; i++)
		if (v[i] != i + 1)
			CHECK_EQ(v[i], i + 1);
	huge_free(v, cap * sizeof(*v));
}

TEST(more_than_there_can_be_leaves_it_alone)
{
	void *v = NULL;
	size_t cap = 0;

	CHECK(!huge_reserve(&v, &cap, SIZE_MAX / 2, 8, true));
	CHECK(!huge_reserve(&v, &cap, SIZE_MAX, 1, true));
	CHECK(!v && !cap);
	CHECK(!huge_alloc(SIZE_MAX / 2, true));
	huge_free(NULL, 0);
}
