// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test processes that are about processes: what is shared between which, and
 * what state they are in.  Those about kinds of memory are in init-memory.c.
 *
 * Each runs one function, says that it is ready, and sleeps for good.
 */
#include "init.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHARED_FILE	"/shared.bin"
#define SHARED_PAGES	24

/* Say that this process is set up; pid 1 goes on to the next one. */
void child_ready(void)
{
	__atomic_add_fetch(&registry->ready, 1, __ATOMIC_SEQ_CST);
}

void idle(void)
{
	for (;;)
		pause();
}

/* Of the processes and threads that a test process starts for itself. */
void helper_ready(void)
{
	__atomic_add_fetch(&registry->helpers, 1, __ATOMIC_SEQ_CST);
}

/*
 * Wait for a counter of the registry to get that far.  A child that ended
 * instead has said why on the console.
 */
void wait_ready(const unsigned int *counter, unsigned int count, pid_t child,
		const char *comm)
{
	const struct timespec step = { .tv_nsec = 5 * 1000 * 1000 };
	int i;

	for (i = 0; i < 60 * 200; i++) {
		if (__atomic_load_n(counter, __ATOMIC_SEQ_CST) >= count)
			return;
		if (child && waitpid(child, NULL, WNOHANG) == child) {
			errno = ECHILD;
			die("process %s", comm);
		}
		nanosleep(&step, NULL);
	}
	errno = ETIMEDOUT;
	die("process %s", comm);
}

/* Fork a process of that name, and wait until it has set itself up. */
void spawn(const char *comm, proc_fn *fn)
{
	unsigned int count = registry->ready + 1;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_NAME, comm);
		fn();
		child_ready();
		idle();
	}
	wait_ready(&registry->ready, count, pid, comm);
}

/* A child of a test process. */
pid_t fork_helper(const char *comm)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0)
		prctl(PR_SET_NAME, comm);
	return pid;
}

void stamp_note(const void *start, size_t len, pid_t by, const void *by_start)
{
	unsigned int i;

	i = __atomic_fetch_add(&registry->stamped_count, 1, __ATOMIC_SEQ_CST);
	if (i >= MAX_STAMPED) {
		errno = ENOSPC;
		die("stamped ranges");
	}
	registry->stamped[i] = (struct stamped) {
		.start = (uintptr_t)start,
		.end = (uintptr_t)start + len,
		.by_start = (uintptr_t)by_start,
		.pid = getpid(),
		.by = by,
	};
}

void stamp_page(void *page)
{
	*(volatile struct stamp *)page = (struct stamp) {
		.magic = STAMP_MAGIC,
		.pid = getpid(),
		.vaddr = (uintptr_t)page,
	};
}

/* Stamp each page of a range, and note that it was done. */
void stamp_pages(void *start, size_t len)
{
	size_t off;

	for (off = 0; off < len; off += page_size)
		stamp_page((char *)start + off);
	stamp_note(start, len, getpid(), start);
}

void touch_pages(const void *start, size_t len)
{
	size_t off;

	for (off = 0; off < len; off += page_size)
		(void)*((const volatile char *)start + off);
}

static void *map_file(size_t len, int prot, int flags)
{
	void *p;
	int fd;

	fd = open(SHARED_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, SHARED_PAGES * page_size))
		die(SHARED_FILE);
	p = mmap(NULL, len, prot, flags, fd, 0);
	if (p == MAP_FAILED)
		die("mmap of " SHARED_FILE);
	close(fd);
	return p;
}

/* Where the stamps of the shared file say they are, for its second mapper. */
static const void *file_writer_addr;
static pid_t file_writer;

static void proc_file_writer(void)
{
	size_t len = SHARED_PAGES * page_size;
	void *p = map_file(len, PROT_READ | PROT_WRITE, MAP_SHARED);

	stamp_pages(p, len);
	/* pid 1 finds it in the registry to tell the reader. */
}

/* The same pages read-only, elsewhere; and some of them privately, rewritten. */
static void proc_file_reader(void)
{
	size_t len = SHARED_PAGES * page_size, own = 4 * page_size;
	char *p, *q;

	map_anon(NULL, 3 * page_size, PROT_NONE, 0);	/* so that addresses differ */
	p = map_file(len, PROT_READ, MAP_SHARED);
	touch_pages(p, len);
	stamp_note(p, len, file_writer, file_writer_addr);

	q = map_file(len, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	touch_pages(q, len);
	stamp_pages(q, own);
	stamp_note(q + own, len - own, file_writer,
		   (const char *)file_writer_addr + own);
}

/* Half of the pages are copied by the child, the other half stay shared. */
static void proc_cow_parent(void)
{
	size_t len = 32 * page_size, half = len / 2;
	char *p = map_anon(NULL, len, PROT_READ | PROT_WRITE, 0);
	unsigned int count = registry->helpers + 1;
	pid_t parent = getpid(), child;

	stamp_pages(p, len);
	child = fork_helper("cow-child");
	if (child == 0) {
		stamp_pages(p, half);
		touch_pages(p + half, half);
		stamp_note(p + half, half, parent, p + half);
		helper_ready();
		idle();
	}
	wait_ready(&registry->helpers, count, child, "cow-child");
}

/* Memory without a file, shared across fork at the same address. */
static void proc_shared_parent(void)
{
	size_t len = 16 * page_size, half = len / 2;
	unsigned int count = registry->helpers + 1;
	pid_t parent = getpid(), child;
	char *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED)
		die("shared anonymous memory");
	stamp_pages(p, half);
	child = fork_helper("shared-child");
	if (child == 0) {
		touch_pages(p, half);
		stamp_note(p, half, parent, p);
		stamp_pages(p + half, half);
		helper_ready();
		idle();
	}
	wait_ready(&registry->helpers, count, child, "shared-child");
}

static void *thread_main(void *arg)
{
	char *page = (char *)arg;

	prctl(PR_SET_NAME, "thread");
	stamp_pages(page, page_size);
	helper_ready();
	idle();
	return NULL;
}

static void proc_threads(void)
{
	unsigned int count = registry->helpers;
	char *p = map_anon(NULL, 3 * page_size, PROT_READ | PROT_WRITE, 0);
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, thread_main, p + i * page_size))
			die("pthread_create");
		wait_ready(&registry->helpers, count + i + 1, 0, "thread");
	}
}

/* Has a child that ended and is not reaped (a zombie), and a name with parentheses. */
static void proc_zombie_parent(void)
{
	char path[64], stat[256];
	pid_t pid = fork_helper("zombie");

	if (pid == 0)
		_exit(0);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (read_file(path, stat, sizeof(stat)) > 0 && !strstr(stat, ") Z "))
		sched_yield();
}

/*
 * In user mode on the last CPU for ever, so that a stopped machine has its
 * page tables in a register.
 */
static void proc_spin(void)
{
	size_t len = 32 * page_size, off;
	volatile char *p = map_anon(NULL, len, PROT_READ | PROT_WRITE, 0);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus - 1, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
	stamp_pages((void *)p, len);
	map_device();		/* the truth has none of it, the emulator does */
	child_ready();
	for (off = 0;; off = (off + page_size) % len)
		(void)p[off];
}

void start_processes(void)
{
	const struct stamped *s;
	unsigned int mark;

	mark = registry->stamped_count;
	spawn("file-writer", proc_file_writer);
	s = &registry->stamped[mark];
	file_writer = s->pid;
	file_writer_addr = (const void *)(uintptr_t)s->start;
	spawn("file-reader", proc_file_reader);
	spawn("cow-parent", proc_cow_parent);
	spawn("shared-parent", proc_shared_parent);
	spawn("threads", proc_threads);
	spawn("odd) (name", proc_zombie_parent);
	start_memory_processes();
	if (cmdline_has("atwalk.changes"))
		spawn("changes", proc_changes);
	if (cmdline_has("atwalk.kvm"))
		start_machines();
	spawn("crowd", proc_crowd);
	/* Last, for it takes a CPU away from the others. */
	spawn("spin", proc_spin);
}
