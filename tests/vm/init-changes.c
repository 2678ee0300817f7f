// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that changes between two dumps of the guest: what atwalk diff finds must be
 * the list of changes that it made, and nothing else.
 *
 * Its own pages do not change by that: they are locked, and all memory that the changes
 * use up is taken before the first dump.
 */
#include "init.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

enum {
	AREAS = 10,
	APART = 64,              /* pages between the starts of areas, so that none merge */
	STACK = 64 * 1024,
	RW = PROT_READ | PROT_WRITE,
};

static char *base;               /* of the areas; what is between them is not mapped */

static char *area(unsigned int i)
{
	return base + i * APART * page_size;
}

static char *page_of(unsigned int i, unsigned int page)
{
	return area(i) + page * page_size;
}

static void map_area(unsigned int i, unsigned int pages)
{
	if (mmap(area(i), pages * page_size, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) != area(i))
		die("area %u", i);
}

/* What page tables have of it is a page each, never a huge one. */
static void touch(unsigned int i, unsigned int first, unsigned int pages)
{
	for (; pages--; first++)
		*(volatile char *)page_of(i, first) = 1;
}

static void note(const char *what, pid_t pid, const void *start, unsigned int pages)
{
	struct change *c = &registry->change[registry->changes++];

	strncpy(c->what, what, sizeof(c->what) - 1);
	c->pid = pid;
	c->start = (uintptr_t)start;
	c->size = pages * page_size;
}

static int born(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "born");
	__atomic_store_n(&registry->born, true, __ATOMIC_SEQ_CST);
	idle();
}

static void check(bool ok, const char *what)
{
	if (!ok)
		die("changes: %s", what);
}

/* One a line: a page may be in it once, for only two moments are compared. */
static void change_areas(pid_t self)
{
	touch(0, 4, 2);
	note("page-mapped", self, page_of(0, 4), 2);

	check(!madvise(page_of(1, 2), 3 * page_size, MADV_DONTNEED), "madvise");
	note("page-unmapped", self, page_of(1, 2), 3);

	check(!munmap(area(2), 8 * page_size), "munmap");
	note("area-unmapped", self, area(2), 8);

	map_area(3, 6);
	touch(3, 1, 1);
	note("area-mapped", self, area(3), 6);

	check(!munmap(page_of(4, 5), 3 * page_size), "munmap of the end");
	note("area-shrunk", self, page_of(4, 5), 3);

	check(mremap(area(5), 4 * page_size, 7 * page_size, 0) == area(5), "mremap");
	note("area-grown", self, page_of(5, 4), 3);

	check(!mprotect(area(6), 8 * page_size, PROT_READ), "mprotect");
	note("area-rights", self, area(6), 8);
	note("page-rights", self, area(6), 8);

	/* Other frames at the same addresses, whatever the allocator does. */
	check(mremap(area(8), 4 * page_size, 4 * page_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		     area(7)) == area(7), "mremap to a place");
	note("page-moved", self, area(7), 4);
	note("area-unmapped", self, area(8), 4);

	check(!madvise(page_of(9, 1), 2 * page_size, MADV_PAGEOUT), "madvise to swap");
	note("swapped-out", self, page_of(9, 1), 2);
}

static void prepare_areas(void)
{
	size_t len = AREAS * APART * page_size;

	base = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	check(base != MAP_FAILED && !munmap(base, len), "room");
	for (unsigned int i = 0; i < AREAS; i++) {
		if (i == 3)
			continue;
		map_area(i, i == 5 || i == 7 || i == 8 ? 4 : 8);
		touch(i, 0, i == 0 || i == 5 || i == 7 || i == 8 ? 4 : 8);
	}
}

/* A process with the memory of this one: forking it would make its pages read-only. */
static pid_t bear(char *stack)
{
	const struct timespec step = { .tv_nsec = 1000 * 1000 };
	pid_t pid = clone(born, stack + STACK, CLONE_VM | SIGCHLD, NULL);

	check(pid > 0, "clone");
	while (!__atomic_load_n(&registry->born, __ATOMIC_SEQ_CST))
		nanosleep(&step, NULL);
	return pid;
}

void proc_changes(void)
{
	const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	pid_t self = getpid(), doomed = fork_helper("doomed");
	char *stack;

	if (!doomed)
		idle();
	stack = map_anon(NULL, STACK, RW, 0);
	/* Copies now what the fork would have copied later. */
	check(!mlockall(MCL_CURRENT), "mlockall");
	/* arm64 makes a page of shared memory writable when it is first written. */
	memset(registry->change, 0, sizeof(registry->change));
	__atomic_store_n(&registry->born, false, __ATOMIC_SEQ_CST);
	prepare_areas();
	child_ready();
	while (!__atomic_load_n(&registry->go_on, __ATOMIC_SEQ_CST))
		nanosleep(&step, NULL);
	change_areas(self);
	note("process-started", bear(stack), NULL, 0);
	check(!kill(doomed, SIGKILL) && waitpid(doomed, NULL, 0) == doomed, "kill");
	note("process-ended", doomed, NULL, 0);
	__atomic_store_n(&registry->changed, true, __ATOMIC_SEQ_CST);
	idle();
}

void changes_write(struct port *p)
{
	const struct timespec step = { .tv_nsec = 10 * 1000 * 1000 };
	int i;

	__atomic_store_n(&registry->go_on, true, __ATOMIC_SEQ_CST);
	for (i = 0; !__atomic_load_n(&registry->changed, __ATOMIC_SEQ_CST); i++) {
		if (i == 60 * 100) {
			errno = ETIMEDOUT;
			die("changes");
		}
		nanosleep(&step, NULL);
	}
	for (i = 0; i < (int)registry->changes; i++) {
		const struct change *c = &registry->change[i];

		port_printf(p, "change %s %d %llx %llx\n", c->what, (int)c->pid,
			    (unsigned long long)c->start, (unsigned long long)c->size);
	}
}
