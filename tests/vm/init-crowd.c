// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * init-crowd.c - many small processes that share memory with each other: children of one
 * process, each with another mix of a few pages. The number of a child alone determines
 * which pages it maps and writes, so that the mapcounts are the same in every guest.
 *
 * They are set up at the same time, because waiting for each takes longer than its setup.
 */
#include "init.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif
#ifndef MFD_HUGETLB
#define MFD_HUGETLB	4U
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB	(21U << 26)
#endif

enum {
	CHILDREN = 40,
	SHARED = 32,			/* pages of each kind that the parent has */
	COW = 8,
	FILE_PAGES = 10,
	SWAPPED = 4,
	RW = PROT_READ | PROT_WRITE,
};

/* The root is a tmpfs, which has shared memory: pages of files are in a ramfs only. */
#define CROWD_DIR	"/crowd"
#define CROWD_FILE	CROWD_DIR "/file.bin"
#define FAULT_AROUND	"/sys/kernel/debug/fault_around_bytes"
#define HUGETLB_SIZE	(2UL << 20)	/* a size that every architecture has */

/* Memory of the parent, which its children inherit or map by these files. */
static struct {
	pid_t pid;
	char *shared, *cow, *file, *hugetlb;
	int file_fd, hugetlb_fd;
} crowd;

static void *map_shared(int fd, size_t len)
{
	void *p = mmap(NULL, len, RW, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/*
 * Page k of the shared memory is mapped by one child in k + 2: the first page has a mapcount
 * of 21, including the parent, and the last a mapcount of 2. They are written, because a
 * read fault may map their neighbours as well.
 */
static void crowd_share(unsigned int i)
{
	unsigned int k;

	for (k = 0; k < SHARED; k++) {
		char *page = crowd.shared + k * page_size;

		if (i % (k + 2) != k / 2)
			continue;
		/* Behind the stamp, which remains that of the parent. */
		((volatile uint64_t *)page)[8 + i] = i;
		stamp_note(page, page_size, crowd.pid, page);
	}
}

/* Pages of the parent; the earlier ones are written by more children. */
static void crowd_copy(unsigned int i)
{
	unsigned int k;

	stamp_note(crowd.cow, COW * page_size, crowd.pid, crowd.cow);
	for (k = 0; k < COW; k++)
		if (i % (k + 2) == 0)
			stamp_pages(crowd.cow + k * page_size, page_size);
}

/* A part of the file, with one page of it written. */
static void crowd_map_file(unsigned int i)
{
	size_t from = i % 3 * page_size, len = FILE_PAGES * page_size - from;
	char *p = mmap(NULL, len, RW, MAP_PRIVATE, crowd.file_fd, from);

	if (p == MAP_FAILED)
		die("mmap of " CROWD_FILE);
	touch_pages(p, len);
	stamp_note(p, len, crowd.pid, crowd.file + from);
	stamp_pages(p + i % 8 * page_size, page_size);
}

/* One to four written pages, one to six zero pages, and one that stays absent. */
static void crowd_anon(unsigned int i)
{
	size_t own = (1 + i % 4) * page_size, zero = (1 + i % 6) * page_size;
	char *p = map_anon(NULL, own + zero + page_size, RW, 0);

	madvise(p, own + zero + page_size, MADV_NOHUGEPAGE);
	stamp_pages(p, own);
	touch_pages(p + own, zero);
	/* A zero page that is replaced by a page of its own. */
	if (i % 5 == 0)
		stamp_pages(p + own, page_size);
}

/* The first page is read back, and stays in the swap cache. */
static void crowd_swap(void)
{
	char *p = map_anon(NULL, SWAPPED * page_size, RW, 0);

	madvise(p, SWAPPED * page_size, MADV_NOHUGEPAGE);
	stamp_pages(p, SWAPPED * page_size);
	if (!madvise(p, SWAPPED * page_size, MADV_PAGEOUT))
		touch_pages(p, page_size);
}

/* A transparent huge page, complete or with a hole. */
static void crowd_huge(bool hole)
{
	size_t huge = huge_page_size();
	char *p;

	/* With pages of 16K it has 32 MiB, which is too much for a small process. */
	if (!huge || huge > 4UL << 20)
		return;
	p = map_aligned(huge, huge);
	madvise(p, huge, MADV_HUGEPAGE);
	stamp_pages(p, huge);
	if (hole)
		madvise(p + huge / 8, 5 * page_size, MADV_DONTNEED);
}

/* The page that the parent wrote, which has a mapcount of 2. */
static void crowd_hugetlb(void)
{
	char *p;

	if (!crowd.hugetlb)
		return;
	p = map_shared(crowd.hugetlb_fd, HUGETLB_SIZE);
	if (!p)
		die("hugetlb page of the crowd");
	touch_pages(p, HUGETLB_SIZE);
	stamp_note(p, HUGETLB_SIZE, crowd.pid, crowd.hugetlb);
}

static void crowd_child(unsigned int i)
{
	crowd_anon(i);
	crowd_share(i);
	crowd_copy(i);
	crowd_map_file(i);
	if (i % 3 == 0)
		crowd_swap();
	if (i == 3 || i == 35)
		crowd_huge(i == 35);
	if (i == 7 || i == 23)
		crowd_hugetlb();
	helper_ready();
	idle();
}

static void crowd_prepare(void)
{
	crowd.pid = getpid();
	crowd.shared = map_shared(-1, SHARED * page_size);
	if (mkdir(CROWD_DIR, 0755) || mount("ramfs", CROWD_DIR, "ramfs", 0, NULL))
		die(CROWD_DIR);
	crowd.file_fd = open(CROWD_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (crowd.file_fd < 0 || ftruncate(crowd.file_fd, FILE_PAGES * page_size))
		die(CROWD_FILE);
	crowd.file = map_shared(crowd.file_fd, FILE_PAGES * page_size);
	if (!crowd.shared || !crowd.file)
		die("memory of the crowd");
	crowd.cow = map_anon(NULL, COW * page_size, RW, 0);
	madvise(crowd.cow, COW * page_size, MADV_NOHUGEPAGE);
	stamp_pages(crowd.shared, SHARED * page_size);
	stamp_pages(crowd.file, FILE_PAGES * page_size);
	stamp_pages(crowd.cow, COW * page_size);

	crowd.hugetlb_fd = memfd_create("crowd", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
	if (crowd.hugetlb_fd < 0 || ftruncate(crowd.hugetlb_fd, HUGETLB_SIZE))
		return;
	crowd.hugetlb = map_shared(crowd.hugetlb_fd, HUGETLB_SIZE);
	if (!crowd.hugetlb)
		return;
	stamp_pages(crowd.hugetlb, HUGETLB_SIZE);
	/* Before 5.19 fork(2) would map it in every child. */
	munmap(crowd.hugetlb, HUGETLB_SIZE);
}

/* The parent of the crowd, which waits for all of them. */
void proc_crowd(void)
{
	unsigned int i, count = registry->helpers + CHILDREN;
	char comm[16];

	crowd_prepare();
	/* Of the program only what is used: it would be half of the memory of the crowd. */
	write_file(FAULT_AROUND, "4096");
	for (i = 0; i < CHILDREN; i++) {
		snprintf(comm, sizeof(comm), "crowd-%02u", i);
		if (fork_helper(comm) == 0)
			crowd_child(i);
	}
	wait_ready(&registry->helpers, count, 0, "crowd");
	write_file(FAULT_AROUND, "65536");	/* the default */
}
