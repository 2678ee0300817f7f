/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks of a page are derived from its entry and its struct page. */
#include "target/provider.h"

#include <string.h>

#include "linux/kpf.h"
#include "test.h"

/* Numbers of marks lie behind those of all flags. */
TEST(modes_leave_room)
{
	const struct atw_paging *pg;

	for (size_t i = 0; (pg = atw_paging_at(i)); i++) {
		size_t n = 0;

		while (pg->flags[n].letter)
			n++;
		CHECK(n <= MARKS_FIRST);
	}
}

static uint64_t marks(const char *mode, const char *release, uint64_t va, uint64_t word)
{
	const struct atw_paging *pg = atw_paging_find(mode);
	struct page_marks m;

	marks_find(&m, pg, release);
	return marks_of_flags(&m, ATW_VA(va), atw_entry_flags(pg, 0, ATW_LEAF, word));
}

TEST(entries)
{
	CHECK_EQ(marks("x86_64-4", "6.18.44", 0x1000, 0x67), 0);
	CHECK_EQ(marks("x86_64-4", "6.18.44", 0x1000, 0x467), MARK(MARK_UFFD_WP));
	CHECK_EQ(marks("x86_64-4", "6.18.44", 0x1000, 0xc67),
		 MARK(MARK_UFFD_WP) | MARK(MARK_SOFT_DIRTY));
	CHECK_EQ(marks("x86_64-4", "4.9.0", 0x1000, 0xc67), MARK(MARK_SOFT_DIRTY));
	CHECK_EQ(marks("x86_64-4", "6.18.44", 0xffff800000001000, 0xc63), 0);
	CHECK_EQ(marks("x86_64-4", NULL, 0x1000, 0xc67), 0);
	CHECK_EQ(marks("arm64-4k-48", "6.12.0", 0x1000, UINT64_C(1) << 58 | 3), MARK(MARK_UFFD_WP));
	CHECK_EQ(marks("arm64-4k-48", "6.1.0", 0x1000, UINT64_C(1) << 58 | 3), 0);
}

TEST(what_entries_do_not_tell)
{
	struct page_marks m;

	marks_find(&m, atw_paging_find("x86_64-4"), "6.18.44");
	CHECK_EQ(m.unknown, MARK(MARK_EXCLUSIVE) | MARK(MARK_FILE));
	marks_find(&m, atw_paging_find("x86_64-4"), NULL);
	CHECK_EQ(m.unknown, MARKS_ALL);
}

TEST(struct_pages)
{
	struct lnx_page p = { .flags = kpf(KPF_ANON), .count = 1 };

	CHECK_EQ(marks_of_page(&p), MARK(MARK_EXCLUSIVE));
	p.count = 2;
	CHECK_EQ(marks_of_page(&p), 0);
	p.flags = kpf(KPF_LRU);
	CHECK_EQ(marks_of_page(&p), MARK(MARK_FILE));
	p.count = 1;
	CHECK_EQ(marks_of_page(&p), MARK(MARK_FILE) | MARK(MARK_EXCLUSIVE));
	/* Zeroes, and devices. */
	p.count = 0;
	CHECK_EQ(marks_of_page(&p), 0);
}
