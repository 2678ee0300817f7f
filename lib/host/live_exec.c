/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_exec.c - execve(2) and new processes of a process, by perf_event_open(2): an event
 * that counts nothing, and has a record for each of them.
 */
#include "host/live_exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/live_ring.h"

enum { LIVE_EXEC_PAGES = 8 };

struct live_exec_cpu {
	int fd;
	struct live_ring ring;
};

struct live_exec {
	bool happened;
	uint64_t children, lost;
	unsigned ncpus;                  /* that are online */
	struct live_exec_cpu cpu[];
};

/* Events of a process and its threads have a ring only if they are of one CPU each. */
static int live_exec_open_cpu(struct live_exec *x, pid_t pid, int cpu, struct atw_err *err)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1, .exclude_hv = 1, .inherit = 1, .inherit_thread = 1,
		.comm = 1, .comm_exec = 1, .task = 1, .watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	struct live_exec_cpu *c = &x->cpu[x->ncpus];

	c->fd = (int)syscall(__NR_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	/* It is offline. */
	if (c->fd < 0 && errno == ENODEV)
		return ATW_OK;
	if (c->fd < 0)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "perf_event_open(2): %s",
				   strerror(errno));
	x->ncpus++;
	return live_ring_open(&c->ring, c->fd, LIVE_EXEC_PAGES, err);
}

int live_exec_open(struct live_exec **ret, pid_t pid, struct atw_err *err)
{
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);
	struct live_exec *x = calloc(1, sizeof(*x) + (size_t)ncpus * sizeof(x->cpu[0]));
	int r = x ? ATW_OK : atw_err_nomem(err);

	for (int cpu = 0; cpu < ncpus && r == ATW_OK; cpu++)
		r = live_exec_open_cpu(x, pid, cpu, err);
	if (r < 0)
		live_exec_close(x);
	else
		*ret = x;
	return r;
}

void live_exec_close(struct live_exec *x)
{
	for (unsigned i = 0; x && i < x->ncpus; i++) {
		live_ring_close(&x->cpu[i].ring);
		close(x->cpu[i].fd);
	}
	free(x);
}

void live_exec_read(struct live_exec *x)
{
	union {
		struct perf_event_header header;
		struct { struct perf_event_header header; uint32_t pid, ppid; } fork;
		struct { struct perf_event_header header; uint64_t id, n; } lost;
	} u;

	for (unsigned i = 0; i < x->ncpus; i++)
		while (live_ring_next(&x->cpu[i].ring, &u, sizeof(u))) {
			if (u.header.type == PERF_RECORD_COMM)
				x->happened |= u.header.misc & PERF_RECORD_MISC_COMM_EXEC;
			else if (u.header.type == PERF_RECORD_FORK)
				x->children += u.fork.pid != u.fork.ppid;
			else if (u.header.type == PERF_RECORD_LOST)
				x->lost += u.lost.n;
		}
}

bool live_exec_happened(const struct live_exec *x)
{
	return x->happened;
}

uint64_t live_exec_children(const struct live_exec *x)
{
	return x->children;
}

uint64_t live_exec_lost(const struct live_exec *x)
{
	return x->lost;
}
