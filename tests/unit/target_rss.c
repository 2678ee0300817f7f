// SPDX-License-Identifier: GPL-2.0-or-later
/* Small pages are divided among the kinds that the kernel counts. */
#include "test.h"

#include "linux/kpf.h"
#include "target/memory_vmas.h"

enum { MOST = 8 };

static uint64_t pages_of(const struct provider_sum *v, size_t n, uint64_t refs, uint64_t flags)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].refs == refs && v[i].known && v[i].flags == flags && !v[i].order)
			sum += v[i].pages;
	return sum;
}

TEST(divides_small_pages_among_kinds)
{
	const uint64_t shmem = kpf(KPF_SWAPBACKED), anon = kpf(KPF_ANON) | shmem;
	struct provider_sum v[MOST] = {
		{ .pages = 100, .refs = 1 },
		{ .pages = 512, .refs = 1, .order = 9, .known = true, .flags = anon },
		{ .pages = 30, .refs = 2 },
		{ .pages = 7, .refs = 3 },
	};
	const struct rss left = { .pages = { [RSS_ANON] = 90, [RSS_SHMEM] = 15, [RSS_FILE] = 32 } };
	size_t n = memory_rss_divide(v, 4, left);
	uint64_t by_refs[4] = { 0 };

	CHECK(n <= 4 + RSS_KINDS);
	for (size_t i = 0; i < n; i++) {
		CHECK(v[i].known);
		by_refs[v[i].refs] += v[i].pages;
	}
	CHECK_EQ(by_refs[1], 100 + 512);
	CHECK_EQ(by_refs[2], 30);
	CHECK_EQ(by_refs[3], 7);
	CHECK_EQ(v[1].pages, 512);
	CHECK_EQ(pages_of(v, n, 1, anon) + pages_of(v, n, 2, anon) + pages_of(v, n, 3, anon), 90);
	CHECK_EQ(pages_of(v, n, 1, shmem) + pages_of(v, n, 2, shmem) + pages_of(v, n, 3, shmem),
		 15);
	CHECK_EQ(pages_of(v, n, 1, 0) + pages_of(v, n, 2, 0) + pages_of(v, n, 3, 0), 32);
}

TEST(keeps_a_single_kind_in_place)
{
	struct provider_sum v[MOST] = { { .pages = 5, .refs = 4 } };
	const struct rss left = { .pages = { [RSS_FILE] = 5 } };

	CHECK_EQ(memory_rss_divide(v, 1, left), 1);
	CHECK_EQ(pages_of(v, 1, 4, 0), 5);
}
