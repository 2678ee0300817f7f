/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stall - the longest time for which a process cannot change its memory while its PSS is
 * read: by /proc/PID/smaps and smaps_rollup, and by PROGRAM through pagemap and BPF.
 *
 * stall PROGRAM: the process has 3 GiB of small pages, and a thread of it maps, touches
 * and unmaps memory in a loop. Each way looks at it LOOKS times, by turns. The stall of a
 * look is its longest round of that loop, without the time for which the thread was
 * ready and another one had the CPU.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "child.h"
#include "live_process.h"
#include "measure.h"

#include "base/clock.h"

enum { LOOKS = 15, SIZE = 3 << 10 /* MiB */, PASSED = 4 };

/* Of the loop, for both processes. */
static struct rounds {
	_Atomic uint64_t made, longest;         /* ns */
	_Atomic bool failed;
} *rounds;

static const char *program;
static struct process victim;

/* ---- the process ---- */

/* Time for which this thread waited for a CPU, from its own schedstat. */
static uint64_t queued_ns(int fd)
{
	uint64_t ran, queued;
	char text[96] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &queued) != 2)
		return 0;
	return queued;
}

static void *change_memory(void *arg)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	for (;;) {
		uint64_t queued = queued_ns(fd), start = now(), took;
		char *p = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			rounds->failed = true;
			return arg;
		}
		for (uint64_t at = 0; at < 16 * PAGE; at += PAGE)
			p[at] = 1;
		munmap(p, 16 * PAGE);
		took = now() - start;
		queued = queued_ns(fd) - queued;
		took -= queued < took ? queued : took;
		if (took > rounds->longest)
			rounds->longest = took;
		rounds->made++;
	}
}

static void shape_changing(char *lo, uint64_t bytes, uint64_t arg)
{
	pthread_t thread;

	shape_dense(lo, bytes, arg);
	if (pthread_create(&thread, NULL, change_memory, NULL))
		err(1, "a thread of the process to look at");
}

/* Rounds that begin before a look and end in it belong to both. */
static void pass_rounds(void)
{
	uint64_t from = rounds->made;

	while (rounds->made < from + PASSED)
		if (rounds->failed)
			errx(1, "the process to look at cannot map memory");
}

/* ---- ways ---- */

static void read_file(const char *name)
{
	static char buf[1 << 16];
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)victim.pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
}

static void run_program(const char *source)
{
	char pid[16];
	int null = child_null();

	snprintf(pid, sizeof(pid), "%d", (int)victim.pid);
	child_end(child_run((const char *const[]){ program, "report", "use", source, "--pid", pid,
						   "--columns", "pid,rss,pss,uss", NULL },
			    -1, null, -1),
		  source);
	close(null);
}

static void look_nowhere(void) { usleep(50000); }
static void look_smaps(void) { read_file("smaps"); }
static void look_rollup(void) { read_file("smaps_rollup"); }
static void look_pagemap(void) { run_program("live:pagemap"); }
static void look_bpf(void) { run_program("live:bpf"); }

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*look)(void); } ways[] = {
		{ "no reader", look_nowhere },
		{ "/proc/PID/smaps", look_smaps },
		{ "/proc/PID/smaps_rollup", look_rollup },
		{ "report use live:pagemap", look_pagemap },
		{ "report use live:bpf", look_bpf },
	};
	enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
	static double ms[WAYS][LOOKS];

	if (argc != 2)
		errx(2, "usage: stall PROGRAM");
	program = argv[1];
	printf("\nstalls of a process while its PSS is read\n");
	if (geteuid()) {
		printf("  not measured: it takes root\n");
		return 0;
	}
	rounds = mmap(NULL, sizeof(*rounds), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (rounds == MAP_FAILED)
		err(1, "mmap");
	victim = process_start(shape_changing, SIZE * MIB, 0);
	for (int i = 0; i < LOOKS; i++)
		for (size_t w = 0; w < WAYS; w++) {
			pass_rounds();
			rounds->longest = 0;
			ways[w].look();
			pass_rounds();
			ms[w][i] = (double)rounds->longest / 1e6;
		}
	process_stop(&victim);
	printf("\n%-46s %9s %9s\n", "longest round of its loop, ms", "median", "longest");
	for (size_t w = 0; w < WAYS; w++) {
		double mid = median(ms[w], LOOKS);

		printf("  %-44s %9.3f %9.3f\n", ways[w].name, mid, ms[w][LOOKS - 1]);
	}
	return 0;
}
