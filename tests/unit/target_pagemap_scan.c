/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PAGEMAP_SCAN is given up for good where the kernel lacks it, and for one process where
 * that has ended.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/procfs_vmas.h"

static int open_pagemap(pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Of one page that is there. */
static int scan(struct pagemap *m, int fd, const void *page)
{
	static struct procfs_process proc;
	static struct procfs_pages c = { .proc = &proc };
	struct pagescan_region v[2] = { { 0 } };
	struct pagescan_arg a = {
		.start = (uintptr_t)page, .end = (uintptr_t)page + m->page,
		.category_mask = PAGESCAN_PRESENT, .return_mask = PAGESCAN_PRESENT,
	};

	proc.fd = fd;
	c.m = m;
	c.page = m->page;
	return pagemap_scan(&c, &a, v, 2);
}

TEST(what_has_ended_says_nothing_of_others)
{
	struct pagemap m = { .page = (uint64_t)sysconf(_SC_PAGESIZE) };
	void *page = mmap(NULL, m.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int self = open_pagemap(getpid()), fd, n, why;
	pid_t child;

	CHECK(page != MAP_FAILED && self >= 0);
	*(volatile char *)page = 1;
	if (scan(&m, self, page) < 0) {
		CHECK(m.no_scan);
		printf("note - this kernel has no PAGEMAP_SCAN\n");
		close(self);
		return;
	}
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		pause();
		_exit(0);
	}
	fd = open_pagemap(child);
	CHECK(fd >= 0);
	CHECK_EQ(scan(&m, fd, page), 1);
	kill(child, SIGKILL);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	errno = 0;
	n = scan(&m, fd, page);
	why = errno;
	CHECK_EQ(n, -1);
	CHECK_EQ(why, ESRCH);
	CHECK(!m.no_scan);
	CHECK_EQ(scan(&m, self, page), 1);
	CHECK(!m.no_scan);
	close(fd);
	close(self);
	munmap(page, m.page);
}

TEST(a_file_that_has_no_such_call_is_a_kernel_that_has_none)
{
	struct pagemap m = { .page = 4096 };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(scan(&m, fd, NULL) < 0);
	CHECK(m.no_scan);
	close(fd);
}
