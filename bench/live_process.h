/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_process.h - processes to look at: children that map memory of a shape,
 * touch it, and hold still.
 */
#pragma once

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "child.h"
#include "random.h"

#define PAGE ((uint64_t)4096)
#define LARGE (512 * PAGE)
#define MIB ((uint64_t)1 << 20)
#define TIB ((uint64_t)1 << 40)

struct process {
	pid_t pid;
	uint64_t lo, hi;         /* all its memory that counts lies between */
};

typedef void shape_fn(char *lo, uint64_t bytes, uint64_t arg);

/* Every page, as small ones. */
static inline void shape_dense(char *lo, uint64_t bytes, uint64_t arg)
{
	if (mprotect(lo, bytes, PROT_READ | PROT_WRITE) || madvise(lo, bytes, MADV_NOHUGEPAGE))
		err(1, "mprotect");
	for (uint64_t at = 0; at < bytes; at += PAGE)
		lo[at] = 1;
}

/* Every page, as large ones where the kernel has some. */
static inline void shape_large(char *lo, uint64_t bytes, uint64_t arg)
{
	if (mprotect(lo, bytes, PROT_READ | PROT_WRITE))
		err(1, "mprotect");
	madvise(lo, bytes, MADV_HUGEPAGE);
	for (uint64_t at = 0; at < bytes; at += PAGE)
		lo[at] = 1;
}

/*
 * Areas of 1000 pages, one page in 13 of them there, 1 to 31 of these in a row:
 * what 31 processes of a small server had on average.
 */
static inline void shape_typical(char *lo, uint64_t bytes, uint64_t arg)
{
	const uint64_t area = 1000 * PAGE;
	uint64_t seed = 7;

	for (uint64_t at = 0; at + area < bytes; at += area + 24 * PAGE) {
		if (mprotect(lo + at, area, PROT_READ | PROT_WRITE) ||
		    madvise(lo + at, area, MADV_NOHUGEPAGE) ||
		    munmap(lo + at + area, 24 * PAGE))
			err(1, "areas");
		for (uint64_t page = random_below(&seed, 192); page < 1000;) {
			uint64_t end = page + 1 + random_below(&seed, 31);

			for (; page < end && page < 1000; page++)
				lo[at + page * PAGE] = 1;
			page += random_below(&seed, 2 * 192);
		}
	}
}

/* `arg` pages, all over it. */
static inline void shape_sparse(char *lo, uint64_t bytes, uint64_t arg)
{
	uint64_t step = bytes / arg & ~(PAGE - 1);

	if (mprotect(lo, bytes, PROT_READ | PROT_WRITE) || madvise(lo, bytes, MADV_NOHUGEPAGE))
		err(1, "mprotect");
	for (uint64_t i = 0; i < arg; i++)
		lo[i * step] = 1;
}

/* Reserved before the fork, so that both know where it is. */
static inline struct process process_start(shape_fn *shape, uint64_t bytes, uint64_t arg)
{
	struct process p = { 0 };
	char *at = mmap(NULL, bytes + LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	int ready[2];
	char c = 0;

	if (at == MAP_FAILED || pipe(ready))
		err(1, "%" PRIu64 " MiB of addresses", bytes / MIB);
	p.lo = ((uintptr_t)at + LARGE - 1) & ~(LARGE - 1);
	p.hi = p.lo + bytes;
	p.pid = child_fork();
	if (!p.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		shape((char *)(uintptr_t)p.lo, bytes, arg);
		if (write(ready[1], &c, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1)
		errx(1, "a process to look at could not be made");
	close(ready[0]);
	munmap(at, bytes + LARGE);
	return p;
}

static inline void process_stop(struct process *p)
{
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
}
