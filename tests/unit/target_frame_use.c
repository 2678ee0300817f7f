/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames are classified by use from their kpageflags. */
#include "target/frame_use.h"

#include "linux/kpf.h"
#include "test.h"

static struct {
	struct capture_frames run[64];
	size_t n, stop;          /* number of the run for which 42 is returned */
} got;

static int add_run(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	(void)arg;
	(void)err;
	if (got.n == got.stop)
		return 42;
	got.run[got.n++] = *run;
	return ATW_OK;
}

static struct use_runs fresh(void)
{
	got.n = 0;
	got.stop = SIZE_MAX;
	return (struct use_runs){ .tell = add_run, .page_shift = 12 };
}

#define IS(i, at, len, what) do { \
	CHECK_EQ(got.run[i].pa, (uint64_t)(at) << 12); \
	CHECK_EQ(got.run[i].pages, len); \
	CHECK_EQ(got.run[i].use, what); \
} while (0)

/* kpageflags of frames of a 6.18 kernel. */
TEST(flags_of_a_real_machine)
{
	static const struct { uint64_t word; enum capture_use use; } v[] = {
		{ 0, CAPTURE_KERNEL },
		{ 0x400, CAPTURE_FREE }, { 0x408, CAPTURE_FREE },
		{ 0x80, CAPTURE_SLAB }, { 0x1080, CAPTURE_SLAB }, { 0x211080, CAPTURE_SLAB },
		{ 0x4000000, CAPTURE_PGTABLE },
		{ 0x100000000, CAPTURE_RESERVED }, { 0x900000000, CAPTURE_RESERVED },
		{ 0x100000800, CAPTURE_RESERVED },       /* [vdso] */
		{ 0x101000000, CAPTURE_RESERVED },       /* the page of zeroes */
		{ 0x1408000, CAPTURE_ZEROES }, { 0x1410000, CAPTURE_ZEROES },
		{ 0x28, CAPTURE_FILE }, { 0x800000020, CAPTURE_FILE },
		{ 0x410028, CAPTURE_FILE }, { 0x8, CAPTURE_FILE },
		{ 0x400005828, CAPTURE_ANON }, { 0x5808, CAPTURE_ANON },
		{ 0x202044828, CAPTURE_SHMEM }, { 0x2004028, CAPTURE_SHMEM },
		{ 0x8000, CAPTURE_KERNEL }, { 0x10000, CAPTURE_KERNEL },
		{ 0x800, CAPTURE_KERNEL },               /* of a driver, mapped */
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (frame_use(v[i].word) != v[i].use)
			TEST_FAIL("0x%" PRIx64 " is %d, not %d", v[i].word,
				  (int)frame_use(v[i].word), (int)v[i].use);
}

TEST(flags_of_other_frames)
{
	CHECK_EQ(frame_use(kpf(KPF_HUGE) | kpf(KPF_COMPOUND_HEAD) | kpf(KPF_MMAP)), CAPTURE_HUGETLB);
	CHECK_EQ(frame_use(kpf(KPF_HUGE) | kpf(KPF_ANON)), CAPTURE_HUGETLB);
	CHECK_EQ(frame_use(kpf(KPF_ANON) | kpf(KPF_KSM) | kpf(KPF_LRU)), CAPTURE_KSM);
	CHECK_EQ(frame_use(kpf(KPF_HWPOISON) | kpf(KPF_ANON)), CAPTURE_HWPOISON);
	CHECK_EQ(frame_use(kpf(KPF_OFFLINE) | kpf(KPF_RESERVED)), CAPTURE_OFFLINE);
	CHECK_EQ(frame_use(kpf(KPF_NOPAGE)), CAPTURE_UNKNOWN);
	CHECK_EQ(frame_use(kpf(KPF_LRU) | kpf(KPF_ANON)), CAPTURE_ANON);     /* MADV_FREE */
	CHECK_EQ(frame_use(kpf(KPF_LOCKED) | kpf(KPF_WRITEBACK)), CAPTURE_FILE);
	CHECK_EQ(frame_use(kpf(KPF_SWAPCACHE) | kpf(KPF_SWAPBACKED)), CAPTURE_SHMEM);
}

TEST(neighbours_of_one_use_are_one_run)
{
	struct use_runs u = fresh();

	CHECK_EQ(use_runs_add(&u, 16, 4, CAPTURE_FREE, NULL), ATW_OK);
	CHECK_EQ(use_runs_add(&u, 20, 1, CAPTURE_FREE, NULL), ATW_OK);
	CHECK_EQ(use_runs_add(&u, 21, 2, CAPTURE_SLAB, NULL), ATW_OK);
	CHECK_EQ(use_runs_add(&u, 24, 2, CAPTURE_SLAB, NULL), ATW_OK);   /* a gap */
	CHECK_EQ(got.n, 2);
	CHECK_EQ(use_runs_end(&u, NULL), ATW_OK);
	CHECK_EQ(use_runs_end(&u, NULL), ATW_OK);
	CHECK_EQ(got.n, 3);
	IS(0, 16, 5, CAPTURE_FREE);
	IS(1, 21, 2, CAPTURE_SLAB);
	IS(2, 24, 2, CAPTURE_SLAB);
}

/* Kernels up to 6.9 set LRU, SWAPBACKED and SLAB in the head only. */
TEST(tails_are_what_their_head_is)
{
	static const uint64_t word[] = {
		0x10000,                         /* a tail; its head precedes the range */
		0x8028, 0x10000, 0x10000, 0x10000,       /* of a file */
		0xc028, 0x410800, 0x410800, 0x410800,    /* of shmem, mapped */
		0x8080, 0x10000, 0x90000, 0x10000,       /* of slab, one of them poisoned */
		0x8000, 0x10000,
		0, 0x10000,                      /* its head changed meanwhile */
	};
	struct use_runs u = fresh();

	/* In two parts, split within a folio. */
	CHECK_EQ(use_runs_words(&u, 100, word, 7, NULL), ATW_OK);
	CHECK_EQ(use_runs_words(&u, 107, word + 7, sizeof(word) / 8 - 7, NULL), ATW_OK);
	CHECK_EQ(use_runs_end(&u, NULL), ATW_OK);
	CHECK_EQ(got.n, 7);
	IS(0, 100, 1, CAPTURE_KERNEL);
	IS(1, 101, 4, CAPTURE_FILE);
	IS(2, 105, 4, CAPTURE_SHMEM);
	IS(3, 109, 2, CAPTURE_SLAB);
	IS(4, 111, 1, CAPTURE_HWPOISON);
	IS(5, 112, 1, CAPTURE_SLAB);
	IS(6, 113, 4, CAPTURE_KERNEL);
}

TEST(the_callback_can_end_the_listing)
{
	static const uint64_t word[] = { 0x400, 0x80, 0x400, 0x80 };
	struct use_runs u = fresh();

	got.stop = 2;
	CHECK_EQ(use_runs_words(&u, 0, word, 4, NULL), 42);
	CHECK_EQ(got.n, 2);
	u = fresh();
	got.stop = 0;
	CHECK_EQ(use_runs_words(&u, 0, word, 1, NULL), ATW_OK);
	CHECK_EQ(use_runs_end(&u, NULL), 42);
}

TEST(only_whole_frames)
{
	uint64_t pfn, end;

	use_whole(0x1000, 0x9fbff, 12, &pfn, &end);
	CHECK_EQ(pfn, 1);
	CHECK_EQ(end, 0x9f);
	use_whole(0x9fc00, 0xfffff, 12, &pfn, &end);
	CHECK_EQ(pfn, 0xa0);
	CHECK_EQ(end, 0x100);
	use_whole(0, UINT64_MAX, 12, &pfn, &end);
	CHECK_EQ(pfn, 0);
	CHECK_EQ(end, (uint64_t)1 << 52);
	use_whole(0x1800, 0x1fff, 12, &pfn, &end);
	CHECK_EQ(pfn, 2);
	CHECK_EQ(end, 2);
}
