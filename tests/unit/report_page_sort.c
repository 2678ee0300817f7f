/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages are sorted the same in memory and through a temporary file. */
#include "report/page_sort.h"
#include "test.h"

/* So many records, so many at once in memory: all come back, in order. */
static const char *sorted(unsigned n, size_t most, uint64_t spread)
{
	struct page_sort s = { .most = most };
	struct page_rec rec, last = { .pa = 0 };
	uint64_t seed = 7, sum = 0, got = 0;
	unsigned count = 0;
	struct atw_err err = { .text = "" };
	const char *wrong = "";
	int r = ATW_OK;

	for (unsigned i = 0; i < n && r == ATW_OK; i++) {
		seed = seed * 6364136223846793005 + 1442695040888963407;
		rec = (struct page_rec){
			.pa = (seed >> 30) % spread << 12, .pages = 1 + (seed >> 60),
			.area = (uint32_t)(n - i), .flags = seed, .count = i,
		};
		sum += rec.pa ^ rec.flags ^ rec.count;
		r = page_sort_add(&s, &rec, &err);
	}
	if (r == ATW_OK)
		r = page_sort_finish(&s, &err);
	while (r == ATW_OK && (r = page_sort_next(&s, &rec, &err)) == ATW_OK) {
		if (count++ && (rec.pa < last.pa || (rec.pa == last.pa && rec.area < last.area)))
			wrong = "out of order";
		got += rec.pa ^ rec.flags ^ rec.count;
		last = rec;
	}
	if (r != ATW_END)
		wrong = "failed";
	else if (count != n || got != sum)
		wrong = "not all of them came back";
	if (n > most && !s.file)
		wrong = "it was not too much";
	page_sort_deinit(&s);
	return wrong;
}

TEST(in_memory)
{
	CHECK_STR(sorted(0, 10, 1), "");
	CHECK_STR(sorted(1, 10, 1), "");
	CHECK_STR(sorted(10, 10, 3), "");
	CHECK_STR(sorted(5000, 10000, 100), "");
}

TEST(from_a_file)
{
	CHECK_STR(sorted(11, 10, 3), "");
	CHECK_STR(sorted(20, 10, 1), "");
	CHECK_STR(sorted(30, 1, 100), "");
	/* More than is read ahead of each part. */
	CHECK_STR(sorted(20000, 3000, 5000), "");
	CHECK_STR(sorted(20000, 19999, 5), "");
	CHECK_STR(sorted(30000, 100, 1000000), "");
}
