/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host has of a guest's pages, on pages of this process. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/pagemap.h"
#include "linux/kpf.h"
#include "target/guest_backing.h"
#include "target/procfs.h"
#include "test.h"

#define LARGE ((size_t)2 << 20)

TEST(kinds_of_pages)
{
	static const struct {
		bool scanned;
		uint64_t categories;
		bool flagged;
		uint64_t flags;
		enum capture_host want;
	} cases[] = {
		{true, 0, true, 1 << KPF_ANON, CAPTURE_HOST_UNMERGED},
		{true, 0, false, 0, CAPTURE_HOST_SMALL},
		{false, 0, false, 0, CAPTURE_HOST_BACKED},
		{false, 0, true, 1 << KPF_ANON, CAPTURE_HOST_UNMERGED},
		/* Of a large folio that may be mapped page by page */
		{false, 0, true, 1 << KPF_THP, CAPTURE_HOST_BACKED},
		{true, 0, true, 1 << KPF_THP, CAPTURE_HOST_UNMERGED},
		{true, PAGESCAN_HUGE, true, 1 << KPF_THP, CAPTURE_HOST_LARGE},
		{true, PAGESCAN_HUGE, false, 0, CAPTURE_HOST_LARGE},
		{false, 0, true, 1 << KPF_HUGE, CAPTURE_HOST_LARGE},
		{true, PAGESCAN_PFNZERO, false, 0, CAPTURE_HOST_ZERO},
		{true, PAGESCAN_PFNZERO | PAGESCAN_HUGE, true, 0, CAPTURE_HOST_ZERO},
		{false, 0, true, 1 << KPF_ZERO_PAGE, CAPTURE_HOST_ZERO},
		{true, 0, true, 1 << KPF_ANON | 1 << KPF_KSM, CAPTURE_HOST_KSM},
		{false, 0, true, 1 << KPF_ANON | 1 << KPF_KSM, CAPTURE_HOST_KSM},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_EQ(guest_page_host(cases[i].scanned, cases[i].categories,
					 cases[i].flagged ? &cases[i].flags : NULL),
			 cases[i].want);
}

/* From 6.10 on the file has KSM for pages that were not merged. */
TEST(flags_that_are_set_by_accident)
{
	const uint64_t anon = kpf(KPF_ANON) | kpf(KPF_KSM);

	CHECK_EQ(proc_true_flags(false, false, anon), anon);
	CHECK_EQ(proc_true_flags(true, false, anon), anon);
	CHECK_EQ(proc_true_flags(true, true, anon), kpf(KPF_ANON));
	CHECK_EQ(proc_true_flags(true, false, anon | kpf(KPF_OWNER_2)),
		 kpf(KPF_ANON) | kpf(KPF_OWNER_2));
	CHECK_EQ(proc_true_flags(true, false, kpf(KPF_KSM)), 0);
	CHECK_EQ(proc_true_flags(false, false, kpf(KPF_SLAB) | anon), kpf(KPF_SLAB));
}

static bool is_small(enum capture_host host)
{
	return host == CAPTURE_HOST_UNMERGED || host == CAPTURE_HOST_SMALL ||
	       host == CAPTURE_HOST_BACKED;
}

/* "AnonHugePages: 2048 kB" of the mapping at `va`. */
static uint64_t smaps_large(uint64_t va)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long start = 0, end = 0, a, b, kib = 0, ret = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		/* "Anonymous:" begins with a number as well. */
		if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
			start = a;
			end = b;
		}
		if (va >= start && va < end && sscanf(line, "AnonHugePages: %lu kB", &kib) == 1)
			ret = kib * 1024;
	}
	if (f)
		fclose(f);
	return ret;
}

/* Two large pages if the kernel gives them, two written pages, one that was read. */
TEST(pages_of_a_process)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *all = mmap(NULL, 5 * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = all + (-(uintptr_t)all & (LARGE - 1));
	struct guest_backing *g = guest_backing_open((uint32_t)getpid());
	const uint64_t va = (uintptr_t)at, small = va + 2 * LARGE;
	uint64_t large = 0, len;
	struct guest_page p;

	CHECK(all != MAP_FAILED && g);
	madvise(at, 2 * LARGE, MADV_HUGEPAGE);
	madvise(at + 2 * LARGE, 2 * LARGE, MADV_NOHUGEPAGE);
	memset(at, 1, 2 * LARGE);
	at[2 * LARGE] = at[2 * LARGE + page] = 1;
	CHECK(!*(volatile char *)(at + 2 * LARGE + 2 * page));
	for (uint64_t i = 0; i < 2 * LARGE; i += len) {
		len = guest_backing_look(g, va + i, 2 * LARGE - i, &p);
		CHECK(len && len <= 2 * LARGE - i);
		CHECK(p.host == CAPTURE_HOST_LARGE || is_small(p.host));
		large += p.host == CAPTURE_HOST_LARGE ? len : 0;
	}
	if (proc_scans())
		CHECK_EQ(large, smaps_large(va));
	/* The other page is not asked for, but is not like this one. */
	CHECK_EQ(guest_backing_look(g, small, 2 * page, &p), 2 * page);
	CHECK(is_small(p.host));
	CHECK_EQ(guest_backing_look(g, small + 2 * page, page, &p), page);
	if (proc_scans())
		CHECK(p.host == CAPTURE_HOST_ZERO || is_small(p.host));
	CHECK_EQ(p.host == CAPTURE_HOST_ZERO && p.has, 0);
	CHECK_EQ(guest_backing_look(g, small + page / 2, page, &p), page);
	guest_backing_close(g);
	guest_backing_close(NULL);
	munmap(all, 5 * LARGE);
}

TEST(a_process_that_is_not_there)
{
	struct guest_backing *g = guest_backing_open(INT32_MAX);
	struct guest_page p;

	CHECK_EQ(guest_backing_look(g, 0x1000, 1 << 20, &p), 4096);
	CHECK_EQ(p.host, CAPTURE_HOST_BACKED);
	CHECK_EQ(p.has, 0);
	guest_backing_close(g);
}
