// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test processes that are about kinds of memory, one for each.  What a
 * kernel or a machine does not have is left out without a word: the truth says
 * what there is.
 */
#include "init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL	102	/* since 6.13 */
#endif
#ifndef MADV_HWPOISON
#define MADV_HWPOISON	100
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED	(1 << 13)	/* since 6.4 */
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT	26
#endif
#ifndef PROT_BTI
#define PROT_BTI	0x10		/* arm64: guarded pages */
#endif

#define RW	(PROT_READ | PROT_WRITE)

static const char thp_dir[] = "/sys/kernel/mm/transparent_hugepage";

void *map_anon(void *hint, size_t len, int prot, int flags)
{
	void *p = mmap(hint, len, prot,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	if (p == MAP_FAILED)
		die("mmap of %zu bytes", len);
	return p;
}

char *map_aligned(size_t len, size_t align)
{
	uintptr_t p = (uintptr_t)map_anon(NULL, len + align, RW, 0);

	return (char *)((p + align - 1) & ~(align - 1));
}

static void protect(void *p, size_t len, int prot)
{
	if (mprotect(p, len, prot))
		die("mprotect to %d", prot);
}

static void touch(const void *p)
{
	(void)*(const volatile char *)p;
}

/*
 * 4 GiB with pages here and there: at both sides of every power of two, which
 * is where tables begin, and at places that have no pattern.
 */
static void proc_sparse(void)
{
	size_t len = 4UL << 30, off;
	uint32_t seed = 1;
	char *p;
	int i;

	p = map_aligned(len, 1UL << 30);
	madvise(p, len, MADV_NOHUGEPAGE);
	for (off = page_size; off < len; off *= 2) {
		stamp_page(p + off - page_size);
		stamp_page(p + off);
	}
	for (i = 0; i < 100; i++) {
		seed = seed * 1664525 + 1013904223;
		stamp_page(p + (seed & -page_size));
	}
	stamp_note(p, len, getpid(), p);
}

/* What the kernel makes transparent huge pages of; 0 where it makes none. */
size_t huge_page_size(void)
{
	char text[64], path[96];

	snprintf(path, sizeof(path), "%s/hpage_pmd_size", thp_dir);
	return read_file(path, text, sizeof(text)) > 0 ? strtoul(text, NULL, 10) : 0;
}

/* A huge page of shared memory, which is disabled by default. */
static void shared_huge(size_t huge)
{
	char path[96], *p;

	snprintf(path, sizeof(path), "%s/shmem_enabled", thp_dir);
	if (huge > 4UL << 20 || !write_file(path, "advise"))
		return;
	p = mmap(NULL, 2 * huge, RW, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		die("mmap of shared memory");
	p = (char *)(((uintptr_t)p + huge - 1) & ~(huge - 1));
	madvise(p, huge, MADV_HUGEPAGE);
	stamp_pages(p, huge);
	write_file(path, "never");
}

/*
 * Huge pages that the kernel makes by itself: whole ones, one mapped in small
 * pieces because one of them has other rights, one with a hole, the huge zero
 * page, and one of shared memory.
 */
static void proc_thp(void)
{
	size_t huge = huge_page_size();
	char *p;

	if (!huge)
		return;
	p = map_aligned(5 * huge, huge);
	madvise(p, 5 * huge, MADV_HUGEPAGE);

	stamp_pages(p, 2 * huge);
	protect(p + huge, huge, PROT_READ);
	p += 2 * huge;

	stamp_pages(p, huge);
	protect(p + huge / 2, page_size, PROT_READ);
	p += huge;

	stamp_pages(p, huge);
	madvise(p + huge / 4, 3 * page_size, MADV_DONTNEED);
	p += huge;

	touch(p);
	shared_huge(huge);
}

/*
 * Larger folios mapped by small pages, of each size that may be configured
 * (kernels since 6.8): 64 KiB ones make contiguous entries on arm64.
 */
static void proc_folios(void)
{
	size_t len = 1UL << 20, size;
	char path[320], *p;
	struct dirent *e;
	DIR *dir;

	dir = opendir(thp_dir);
	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, "hugepages-%zukB", &size) != 1 ||
		    size > 128 || size * 1024 < 4 * page_size)
			continue;
		size *= 1024;
		snprintf(path, sizeof(path), "%s/%s/enabled", thp_dir, e->d_name);
		if (!write_file(path, "madvise"))
			continue;
		/* Too small for a huge page, and starting at an odd folio. */
		p = map_aligned(len, len) + 3 * size;
		madvise(p, len - 3 * size, MADV_HUGEPAGE);
		stamp_pages(p, 6 * size);
		protect(p + size, size, PROT_READ);
		protect(p + 3 * size, page_size, PROT_READ);
		write_file(path, "never");
	}
	if (dir)
		closedir(dir);
}

/* Every kind of rights, on pages that exist; zero pages; and nothing at all. */
static void proc_rights(void)
{
	static const int rights[] = {
		RW, PROT_NONE, PROT_READ, PROT_READ | PROT_EXEC, PROT_EXEC,
		PROT_WRITE, RW | PROT_EXEC, PROT_READ | PROT_EXEC | PROT_BTI,
	};
	size_t each = 8 * page_size, i;
	int key;
	char *p;

	p = map_anon(NULL, ARRAY_SIZE(rights) * each, RW, 0);
	madvise(p, ARRAY_SIZE(rights) * each, MADV_NOHUGEPAGE);
	stamp_pages(p, ARRAY_SIZE(rights) * each);
	for (i = 0; i < ARRAY_SIZE(rights); i++)
		if (mprotect(p + i * each, each, rights[i]) &&
		    rights[i] < PROT_BTI)
			die("mprotect to %d", rights[i]);

	/* Zero pages, three of them written to since. */
	p = map_anon(NULL, 16 * page_size, RW, 0);
	madvise(p, 16 * page_size, MADV_NOHUGEPAGE);
	for (i = 0; i < 16; i++)
		touch(p + i * page_size);
	stamp_pages(p + 5 * page_size, 3 * page_size);

	map_anon(NULL, 16 * page_size, PROT_NONE, 0);

	key = pkey_alloc(0, PKEY_DISABLE_WRITE);
	if (key > 0) {
		p = map_anon(NULL, each, RW, 0);
		stamp_pages(p, each);
		if (pkey_mprotect(p, each, RW, key))
			die("pkey_mprotect");
	}
}

/*
 * Stamp a huge page: all of it, or where it is so large that this would take
 * minutes, its ends and its middle.
 */
static void stamp_huge(char *p, size_t size)
{
	size_t some = 64 * page_size;

	if (size <= 64UL << 20) {
		stamp_pages(p, size);
		return;
	}
	stamp_pages(p, some);
	stamp_pages(p + size / 2, some);
	stamp_pages(p + size - some, some);
}

/* One or two pages of each size that was configured on the command line. */
static void proc_hugetlb(void)
{
	char path[320], text[32], *p;
	struct dirent *e;
	size_t size, n, i;
	DIR *dir;

	dir = opendir("/sys/kernel/mm/hugepages");
	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, "hugepages-%zukB", &size) != 1)
			continue;
		size *= 1024;
		snprintf(path, sizeof(path),
			 "/sys/kernel/mm/hugepages/%s/free_hugepages", e->d_name);
		if (read_file(path, text, sizeof(text)) <= 0)
			continue;
		n = strtoul(text, NULL, 10);
		if (n == 0)
			continue;
		if (n > 2)
			n = 2;
		p = mmap(NULL, n * size, RW,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB |
			 __builtin_ctzl(size) << MAP_HUGE_SHIFT, -1, 0);
		if (p == MAP_FAILED)
			die("hugetlb of %zu KiB", size / 1024);
		for (i = 0; i < n; i++)
			stamp_huge(p + i * size, size);
		/* The last one read-only, so that rights differ side by side. */
		if (n > 1)
			protect(p + (n - 1) * size, size, PROT_READ);
	}
	if (dir)
		closedir(dir);
}

/*
 * Pages on the swap disk; some read back, which stay in the swap cache, and
 * some written to again, which leave it.
 */
static void proc_swap(void)
{
	size_t len = 256 * page_size, i;
	char *p;

	p = map_anon(NULL, len, RW, 0);
	madvise(p, len, MADV_NOHUGEPAGE);
	stamp_pages(p, len);
	if (madvise(p, len, MADV_PAGEOUT))
		return;
	for (i = 64; i < 72; i++)
		touch(p + i * page_size);
	for (i = 128; i < 136; i++)
		stamp_page(p + i * page_size);
}

/* Pages that fault by a mark in their entry, one run of them over old pages. */
static void proc_guard(void)
{
	size_t len = 32 * page_size;
	char *p;

	p = map_anon(NULL, len, RW, 0);
	madvise(p, len, MADV_NOHUGEPAGE);
	stamp_pages(p, len / 2);
	madvise(p + 4 * page_size, 4 * page_size, MADV_GUARD_INSTALL);
	madvise(p + len / 2 + 4 * page_size, 4 * page_size, MADV_GUARD_INSTALL);
}

static void survive(int sig)
{
	(void)sig;
}

/*
 * Pages with an injected memory failure; newer kernels kill a process without a
 * handler at once.  The pages must not be accessed again.
 */
static void proc_poison(void)
{
	size_t len = 8 * page_size;
	char *p;

	signal(SIGBUS, survive);
	p = map_anon(NULL, len, RW, 0);
	madvise(p, len, MADV_NOHUGEPAGE);
	stamp_pages(p, len);
	madvise(p + 2 * page_size, 2 * page_size, MADV_HWPOISON);
}

static int open_userfaultfd(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	int fd;

	fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Pages write-protected by userfaultfd: present ones, ones
 * on the swap disk, and where that is possible, ones that do not exist yet.
 * It lasts for as long as the file is open.
 */
static void proc_uffd(void)
{
	size_t len = 32 * page_size;
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_WP };
	struct uffdio_writeprotect wp = { .mode = UFFDIO_WRITEPROTECT_MODE_WP };
	char *p;
	int fd;

	fd = open_userfaultfd(UFFD_FEATURE_PAGEFAULT_FLAG_WP |
			      UFFD_FEATURE_WP_UNPOPULATED);
	if (fd < 0)
		fd = open_userfaultfd(UFFD_FEATURE_PAGEFAULT_FLAG_WP);
	if (fd < 0)
		return;
	p = map_anon(NULL, len, RW, 0);
	madvise(p, len, MADV_NOHUGEPAGE);
	stamp_pages(p, len / 2);
	reg.range = (struct uffdio_range) { (uintptr_t)p, len };
	/* Every other eight pages. */
	wp.range = (struct uffdio_range) { (uintptr_t)p, 8 * page_size };
	if (ioctl(fd, UFFDIO_REGISTER, &reg) ||
	    ioctl(fd, UFFDIO_WRITEPROTECT, &wp))
		return;
	wp.range.start += len / 2;
	ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
	madvise(p + 4 * page_size, 8 * page_size, MADV_PAGEOUT);
}

/*
 * Both sides of every power of two that user space can have: the higher ones
 * exist only in the larger modes, and only when requested by an address hint.
 */
static void proc_high(void)
{
	uintptr_t at[2];
	int bit, i;
	void *p;

	for (bit = 30; bit < 58; bit++) {
		at[0] = (1UL << bit) - page_size;
		at[1] = 1UL << bit;
		for (i = 0; i < 2; i++) {
			p = mmap((void *)at[i], page_size, RW, MAP_PRIVATE |
				 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p == (void *)at[i])
				stamp_pages(p, page_size);
		}
	}
	/* The last page of some limits is not to be had, but the one below is. */
	for (bit = 38; bit < 57; bit++) {
		at[0] = (1UL << bit) - 2 * page_size;
		p = mmap((void *)at[0], page_size, RW, MAP_PRIVATE |
			 MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p == (void *)at[0])
			stamp_pages(p, page_size);
	}
}

/*
 * Map memory of a device: the first window of a PCI device that can be had,
 * which is one without a driver.  Not touched, for the mapping alone fills the
 * tables.
 */
void map_device(void)
{
	static const char dir_path[] = "/sys/bus/pci/devices";
	struct dirent *e;
	char path[320];
	bool done = false;
	DIR *dir;
	int fd, i;

	dir = opendir(dir_path);
	while (dir && !done && (e = readdir(dir))) {
		for (i = 0; i < 6 && !done && e->d_name[0] != '.'; i++) {
			snprintf(path, sizeof(path), "%s/%s/resource%d",
				 dir_path, e->d_name, i);
			fd = open(path, O_RDWR | O_CLOEXEC);
			if (fd < 0)
				continue;
			done = mmap(NULL, page_size, RW, MAP_SHARED, fd, 0) !=
			       MAP_FAILED;
			close(fd);
		}
	}
	if (dir)
		closedir(dir);
}

/* Memory that the kernel takes out of its own mapping of all memory. */
static void proc_secret(void)
{
#ifdef SYS_memfd_secret
	size_t len = 8 * page_size;
	void *p;
	int fd;

	fd = syscall(SYS_memfd_secret, O_CLOEXEC);
	if (fd < 0)
		return;
	if (ftruncate(fd, len))
		die("memfd_secret");
	p = mmap(NULL, len, RW, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap of memfd_secret");
	stamp_pages(p, len);
#endif
}

void start_memory_processes(void)
{
	spawn("sparse", proc_sparse);
	spawn("thp", proc_thp);
	spawn("folios", proc_folios);
	spawn("rights", proc_rights);
	spawn("hugetlb", proc_hugetlb);
	spawn("swap", proc_swap);
	spawn("guard", proc_guard);
	spawn("uffd", proc_uffd);
	spawn("poison", proc_poison);
	spawn("high", proc_high);
	spawn("device", map_device);
	spawn("secret", proc_secret);
}
