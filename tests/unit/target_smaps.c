/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each page is added to the same sums of smaps_rollup as in the kernel. */
#include "target/smaps.h"

#include "linux/kpf.h"
#include "test.h"

enum { PAGE = 4096 };
#define BIG (UINT64_C(2) << 20)

TEST(which_sum_a_page_is_in)
{
	CHECK(smaps_class(PAGE_PRESENT, false, false) == SMAPS_RSS);
	CHECK(smaps_class(PAGE_PROTNONE, false, false) == SMAPS_RSS);
	CHECK(smaps_class(PAGE_PRESENT, true, false) == SMAPS_HUGETLB);
	CHECK(smaps_class(PAGE_PRESENT, false, true) == SMAPS_NONE);
	CHECK(smaps_class(PAGE_MIGRATION, false, false) == SMAPS_RSS);
	CHECK(smaps_class(PAGE_SWAP, false, false) == SMAPS_SWAP);
	CHECK(smaps_class(PAGE_POISON, false, false) == SMAPS_NONE);
	CHECK(smaps_class(PAGE_GUARD, false, false) == SMAPS_NONE);
	CHECK(smaps_class(PAGE_LOST, false, false) == SMAPS_NONE);
}

TEST(kinds_by_the_flags_of_pages)
{
	const uint64_t tail = kpf(KPF_COMPOUND_TAIL) | kpf(KPF_MMAP);

	CHECK(smaps_kind_of(kpf(KPF_ANON) | kpf(KPF_SWAPBACKED), SMAPS_UNKIND) == SMAPS_ANON);
	CHECK(smaps_kind_of(kpf(KPF_SWAPBACKED), SMAPS_UNKIND) == SMAPS_SHMEM);
	CHECK(smaps_kind_of(kpf(KPF_LRU), SMAPS_SHMEM) == SMAPS_FILE);
	CHECK(smaps_kind_of(tail, SMAPS_SHMEM) == SMAPS_SHMEM);
	CHECK(smaps_kind_of(tail, SMAPS_FILE) == SMAPS_FILE);
	CHECK(smaps_kind_of(tail, SMAPS_UNKIND) == SMAPS_NOT_ANON);
	CHECK(smaps_kind_of(tail, SMAPS_ANON) == SMAPS_NOT_ANON);
	CHECK(smaps_kind_of(tail | kpf(KPF_ANON), SMAPS_SHMEM) == SMAPS_ANON);
	CHECK(smaps_kind_of(tail | kpf(KPF_SWAPBACKED), SMAPS_FILE) == SMAPS_SHMEM);
}

TEST(sums)
{
	static const struct smaps_pages v[] = {
		{ .class = SMAPS_RSS, .kind = SMAPS_ANON, .bytes = PAGE, .mappings = 1 },
		{ .class = SMAPS_RSS, .kind = SMAPS_FILE, .bytes = 3 * PAGE, .mappings = 3 },
		{ .class = SMAPS_RSS, .kind = SMAPS_SHMEM, .bytes = BIG, .mappings = 2,
		  .large = true },
		{ .class = SMAPS_HUGETLB, .bytes = BIG, .mappings = 1, .large = true },
		{ .class = SMAPS_SWAP, .bytes = 5 * PAGE },
		{ .class = SMAPS_NONE, .bytes = PAGE, .mappings = 1 },
		{ .class = SMAPS_RSS, .kind = SMAPS_ANON, .bytes = PAGE, .moving = true },
	};
	struct smaps s = { 0 }, all = { 0 };

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		smaps_add(&s, &v[i]);
	smaps_join(&all, &s);
	smaps_join(&all, &s);
	CHECK_EQ(s.rss, 5 * PAGE + BIG);
	CHECK_EQ(s.uss, PAGE);
	CHECK_EQ(s.shared, 4 * PAGE + BIG);
	CHECK_EQ(smaps_pss(&s), 3 * PAGE + BIG / 2);
	CHECK_EQ(s.hugetlb, BIG);
	CHECK_EQ(s.swap, 5 * PAGE);
	CHECK_EQ(s.kind[SMAPS_ANON], 2 * PAGE);
	CHECK_EQ(smaps_huge(&s), BIG);
	CHECK_EQ(s.thp[SMAPS_SHMEM], BIG);
	CHECK_EQ(s.uncounted, 0);
	CHECK(smaps_knows_thp(&s, SMAPS_FILE));
	CHECK_EQ(all.rss, 2 * s.rss);
	CHECK_EQ(smaps_pss(&all), 2 * smaps_pss(&s));
}

TEST(what_is_not_known_is_no_zero)
{
	const struct smaps_pages uncounted = { .class = SMAPS_RSS, .bytes = PAGE };
	const struct smaps_pages some = {
		.class = SMAPS_RSS, .kind = SMAPS_NOT_ANON, .bytes = BIG, .mappings = 1, .large = true,
	};
	struct smaps s = { 0 };

	smaps_add(&s, &uncounted);
	CHECK_EQ(s.uncounted, PAGE);
	CHECK(smaps_knows_huge(&s));
	smaps_add(&s, &some);
	CHECK(smaps_knows_thp(&s, SMAPS_ANON));
	CHECK(!smaps_knows_thp(&s, SMAPS_SHMEM));
	smaps_add(&s, &(struct smaps_pages){ .class = SMAPS_RSS, .bytes = PAGE, .sizeless = true });
	CHECK(!smaps_knows_huge(&s));
	CHECK(!smaps_knows_thp(&s, SMAPS_ANON));
}

/* ---- runs of a provider ---- */

/* Flags and mapcounts of frames. */
static uint64_t flags_of_all, flags_of_tails, count_of_all;
static uint32_t asked;

static int facts(struct page_cursor *p, const struct page_run *r, uint32_t i, uint64_t off,
		 uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	(void)p, (void)r, (void)i, (void)mapped, (void)err;
	asked++;
	ret->have = FACT_FLAGS | FACT_COUNT;
	ret->alike = 0;
	ret->page.flags = off && flags_of_tails ? flags_of_tails : flags_of_all;
	ret->page.count = count_of_all;
	return ATW_OK;
}

static const struct provider_ops ops = { .facts = facts };

static struct smaps of_run(struct provider *p, const struct page_run *run, struct smaps_look *l)
{
	static struct page_cursor c;
	struct smaps s = { 0 };

	p->ops = &ops;
	p->page_shift = 12;
	l->p = p;
	c.p = p;
	l->pages = &c;
	l->shares = true;
	asked = 0;
	smaps_add_run(l, run, run->va, run->va + (run->size - 1), &s);
	return s;
}

/* The range of a damaged table is not visited page by page. */
TEST(a_piece_of_48_bits_ends)
{
	const uint64_t pa = 0;
	const struct page_run run = {
		.va = 0, .size = UINT64_C(1) << 48, .slot = UINT64_C(1) << 48, .count = 1,
		.state = PAGE_PROTNONE, .pa = &pa,
	};
	struct provider p = { .counted = true };
	struct smaps_look l = { .p = NULL };
	struct smaps s;

	flags_of_all = kpf(KPF_ANON);
	count_of_all = 1;
	CHECK(counts_add(&p.counts, 0, UINT64_C(1) << 36));
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.rss, run.size);
	CHECK_EQ(s.uss, run.size);
	CHECK_EQ(asked, 1);
	CHECK_EQ(l.stepless, 0);
	counts_deinit(&p.counts);
}

TEST(page_info_is_read_for_a_bounded_number_of_pages)
{
	const uint64_t pa = 0;
	const struct page_run run = {
		.va = 0, .size = UINT64_C(1) << 48, .slot = UINT64_C(1) << 48, .count = 1,
		.state = PAGE_PRESENT, .pa = &pa,
	};
	struct provider p = { .counted = false };
	struct smaps_look l = { .steps = SMAPS_STEPS - 9 };
	struct smaps s;

	flags_of_all = kpf(KPF_ANON);
	count_of_all = 1;
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.rss, run.size);
	CHECK_EQ(s.uss, 10 * PAGE);
	CHECK_EQ(asked, 10);
	CHECK_EQ(s.uncounted, run.size - 10 * PAGE);
	CHECK_EQ(l.stepless, run.size - 10 * PAGE);
}

/* Entries and areas are sufficient here. */
TEST(struct_pages_are_read_only_where_needed)
{
	static const uint64_t pa[3] = { 0x1000, 0x5000, 0x1000 };
	struct page_run run = {
		.va = 0x400000, .size = 3 * PAGE, .slot = PAGE, .count = 3, .have = RUN_SPECIAL,
		.state = PAGE_PRESENT, .pa = pa,
	};
	struct provider p = { .counted = true };
	struct smaps_look l = { .flagged = true };
	struct smaps s;

	CHECK(counts_add(&p.counts, 1, 1) && counts_add(&p.counts, 1, 1) && counts_add(&p.counts, 5, 1));
	s = of_run(&p, &run, &l);
	CHECK_EQ(asked, 0);
	CHECK_EQ(s.rss, 3 * PAGE);
	CHECK_EQ(s.uss, PAGE);
	CHECK_EQ(smaps_pss(&s), 2 * PAGE);
	l.hugetlb = true;
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.hugetlb, 3 * PAGE);
	CHECK_EQ(s.rss + asked, 0);
	l.hugetlb = false;
	run.special = true;
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.rss + s.hugetlb + asked, 0);
	counts_deinit(&p.counts);
}

/* Zero pages, hugetlbfs pages, and pages without an owner, by their struct pages. */
TEST(struct_pages_classify_what_entries_cannot)
{
	static const uint64_t pa[1] = { 0x200000 };
	const struct page_run run = {
		.va = 0x400000, .size = BIG, .slot = BIG, .count = 1, .state = PAGE_PRESENT, .pa = pa,
	};
	struct provider p = { .counted = false };
	struct smaps_look l = { .p = NULL };
	struct smaps s;

	count_of_all = 0;
	flags_of_all = kpf(KPF_ZERO_PAGE) | kpf(KPF_THP);
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.rss + s.hugetlb, 0);
	count_of_all = 1;
	flags_of_all = kpf(KPF_HUGE) | kpf(KPF_COMPOUND_HEAD);
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.rss, 0);
	CHECK_EQ(s.hugetlb, BIG);
	count_of_all = 2;
	flags_of_all = kpf(KPF_SWAPBACKED) | kpf(KPF_THP);
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.thp[SMAPS_SHMEM], BIG);
	CHECK_EQ(smaps_pss(&s), BIG / 2);
	CHECK_EQ(s.uss, 0);
}

/* Kernels up to 6.9 mark memory of shmem in the head of a large page alone. */
TEST(tails_are_classified_by_their_head)
{
	static const uint64_t pa[1] = { 0x200000 };
	const struct page_run run = {
		.va = 0x400000, .size = BIG, .slot = BIG, .count = 1, .state = PAGE_PRESENT, .pa = pa,
	};
	struct provider p = { .counted = false };
	struct smaps_look l = { .p = NULL };
	struct smaps s;

	count_of_all = 1;
	flags_of_all = kpf(KPF_SWAPBACKED) | kpf(KPF_COMPOUND_HEAD) | kpf(KPF_THP) | kpf(KPF_MMAP);
	flags_of_tails = kpf(KPF_COMPOUND_TAIL) | kpf(KPF_THP) | kpf(KPF_MMAP);
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.thp[SMAPS_SHMEM], BIG);
	CHECK_EQ(s.thp[SMAPS_FILE], 0);
	CHECK(smaps_knows_thp(&s, SMAPS_FILE));
	/* A range that begins after the head. */
	s = (struct smaps){ 0 };
	smaps_add_run(&l, &run, run.va + 3 * PAGE, run.va + (BIG - 1), &s);
	CHECK_EQ(s.thp[SMAPS_SHMEM], BIG - 3 * PAGE);
	CHECK_EQ(s.rss, BIG - 3 * PAGE);
	flags_of_all &= ~kpf(KPF_SWAPBACKED);
	s = of_run(&p, &run, &l);
	CHECK_EQ(s.thp[SMAPS_FILE], BIG);
	flags_of_tails = 0;
}
