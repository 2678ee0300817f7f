/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/live_watch.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/live_ring.h"

/* All hits of a process are wanted, and the program that reads them may have to wait. */
enum { LIVE_WATCH_PAGES = 4096 };

/* Two of them are a word: writes, and both. */
struct point {
	int fd;
	uint64_t id;
};

struct cpu {
	struct point point[2 * LIVE_WORDS];
	struct live_ring ring;           /* of the first, where all of them write */
};

struct live_watch {
	pid_t pid;                       /* 0: the kernel */
	unsigned words, ncpus, next;     /* ncpus: that are online */
	uint64_t lost;
	struct perf_event_attr attr[2 * LIVE_WORDS];
	struct cpu *cpu;
};

/* PERF_SAMPLE_IDENTIFIER and those below, in the order in which they come. */
struct live_watch_sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t tgid, pid;
	uint64_t time, va;
};

static int live_watch_open_point(const struct perf_event_attr *a, pid_t pid, unsigned cpu)
{
	return (int)syscall(__NR_perf_event_open, a, pid ? pid : -1, (int)cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static void live_watch_attr_init(struct perf_event_attr *a, bool both, bool user)
{
	*a = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(*a),
		.bp_type = both ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
		/* Never accessed: a placeholder until there is a word to watch. */
		.bp_addr = user ? LIVE_WORD : UINT64_C(0xfffffffffffff000), .bp_len = LIVE_WORD,
		.sample_period = 1, .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.disabled = 1, .pinned = 1, .exclude_user = !user, .exclude_hv = 1,
		.exclude_kernel = user, .inherit = user, .inherit_thread = user,
		/* Its addresses are of another program then. */
		.remove_on_exec = user,
		.watermark = 1, .wakeup_watermark = UINT32_MAX,
		.use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};
}

/* As many pairs as this CPU has. */
static unsigned live_watch_open_cpu(struct live_watch *w, struct cpu *c, unsigned cpu,
				    int *error)
{
	unsigned n = 0;

	while (n < 2 * LIVE_WORDS) {
		live_watch_attr_init(&w->attr[n], n & 1, w->pid != 0);
		c->point[n].fd = live_watch_open_point(&w->attr[n], w->pid, cpu);
		if (c->point[n].fd < 0) {
			*error = errno;
			break;
		}
		n++;
	}
	for (; n & 1; n--)
		close(c->point[n - 1].fd);
	for (unsigned i = n; i < 2 * LIVE_WORDS; i++)
		c->point[i].fd = -1;
	return n / 2;
}

static int live_watch_share(struct live_watch *w, struct cpu *c, struct atw_err *err)
{
	int r = live_ring_open(&c->ring, c->point[0].fd,
			       w->pid ? LIVE_WATCH_PAGES : LIVE_RING_PAGES, err);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < 2 * w->words; i++)
		if (ioctl(c->point[i].fd, PERF_EVENT_IOC_ID, &c->point[i].id) < 0 ||
		    (i && ioctl(c->point[i].fd, PERF_EVENT_IOC_SET_OUTPUT, c->point[0].fd) < 0))
			return atw_err_set(err, ATW_E_IO, "perf_event_open(2): %s",
					   strerror(errno));
	return ATW_OK;
}

static int live_watch_why_none(int error, bool user, struct atw_err *err)
{
	if (user && (error == EPERM || error == EACCES))
		return atw_err_set(err, ATW_E_PERM,
				   "watching a process needs CAP_PERFMON: perf_event_paranoid is above 2");
	/* hw_breakpoint_parse(): what may be read by CAP_PERFMON may not be stopped at. */
	if (error == EPERM || error == EACCES)
		return atw_err_set(err, ATW_E_PERM,
				   "watching the kernel's memory needs CAP_SYS_ADMIN");
	/* reserve_bp_slot(): the same error with no breakpoints, or all in use. */
	if (!error || error == ENOSPC)
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "no two hardware breakpoints of each CPU are free: they are in use, or there are none");
	return atw_err_set(err, ATW_E_UNSUPPORTED, "this machine has no hardware breakpoints: %s",
			   strerror(error));
}

/*
 * Some hypervisors (PVM) accept breakpoints and never stop at them. A word of our own shows
 * it; where no breakpoint can be had for that, nothing is known.
 */
static bool live_watch_never_hits(void)
{
	static volatile uint64_t word;
	struct perf_event_attr a = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(a), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&word, .bp_len = LIVE_WORD, .sample_period = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = (int)syscall(__NR_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t hits;
	bool never;

	if (fd < 0)
		return false;
	word++;
	never = read(fd, &hits, sizeof(hits)) == sizeof(hits) && !hits;
	close(fd);
	return never;
}

int live_watch_open(struct live_watch **ret, pid_t pid, unsigned *words,
		    struct atw_err *err)
{
	struct live_watch *w;
	long ncpus = sysconf(_SC_NPROCESSORS_CONF);
	int error = 0, r = ATW_OK;

	if (live_watch_never_hits())
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this machine never stops at a hardware breakpoint: its hypervisor does not support them");
	w = calloc(1, sizeof(*w));
	if (w)
		w->cpu = calloc((size_t)ncpus, sizeof(*w->cpu));
	if (!w || !w->cpu) {
		free(w);
		return atw_err_nomem(err);
	}
	w->pid = pid;
	w->words = LIVE_WORDS;
	for (unsigned cpu = 0; cpu < (unsigned)ncpus && w->words; cpu++) {
		unsigned n = live_watch_open_cpu(w, &w->cpu[w->ncpus], cpu, &error);

		/* It is offline. */
		if (!n && error == ENODEV)
			continue;
		w->words = n < w->words ? n : w->words;
		w->ncpus++;
	}
	if (!w->words || !w->ncpus)
		r = live_watch_why_none(error, pid != 0, err);
	for (unsigned cpu = 0; cpu < w->ncpus && r == ATW_OK; cpu++)
		r = live_watch_share(w, &w->cpu[cpu], err);
	if (r < 0) {
		live_watch_close(w);
		return r;
	}
	*words = w->words;
	*ret = w;
	return ATW_OK;
}

void live_watch_close(struct live_watch *w)
{
	if (!w)
		return;
	for (unsigned cpu = 0; cpu < w->ncpus; cpu++) {
		struct cpu *c = &w->cpu[cpu];

		live_ring_close(&c->ring);
		for (unsigned i = 0; i < 2 * LIVE_WORDS; i++)
			if (c->point[i].fd >= 0)
				close(c->point[i].fd);
	}
	free(w->cpu);
	free(w);
}

static int live_watch_change(struct live_watch *w, unsigned at, bool on,
			     struct atw_err *err)
{
	if (!on && w->attr[at].disabled)
		return ATW_OK;
	w->attr[at].disabled = !on;
	for (unsigned cpu = 0; cpu < w->ncpus; cpu++) {
		int fd = w->cpu[cpu].point[at].fd;

		if (ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &w->attr[at]) < 0)
			return atw_err_set(err, ATW_E_IO, "a breakpoint at 0x%llx: %s",
					   (unsigned long long)w->attr[at].bp_addr, strerror(errno));
	}
	return ATW_OK;
}

int live_watch_stop(struct live_watch *w, unsigned word, struct atw_err *err)
{
	int r = live_watch_change(w, 2 * word + 1, false, err);

	return r < 0 ? r : live_watch_change(w, 2 * word, false, err);
}

int live_watch_set(struct live_watch *w, unsigned word, uint64_t va, unsigned size,
		   struct atw_err *err)
{
	int r = live_watch_stop(w, word, err);

	for (unsigned i = 2 * word; i < 2 * word + 2 && r == ATW_OK; i++) {
		w->attr[i].bp_addr = va;
		w->attr[i].bp_len = size;
		r = live_watch_change(w, i, true, err);
	}
	return r;
}

/* ---- hits ---- */

/* false: it is not from one of our breakpoints. */
static bool live_watch_read_sample(struct live_watch *w, unsigned cpu,
				   const struct live_watch_sample *s,
				   struct live_hit *ret)
{
	const struct cpu *c = &w->cpu[cpu];
	unsigned i = 0;

	while (i < 2 * w->words && c->point[i].id != s->id)
		i++;
	if (i == 2 * w->words)
		return false;
	*ret = (struct live_hit){
		.time = s->time, .ip = s->ip, .pid = s->pid, .word = (uint8_t)(i / 2),
		.write = !(i & 1), .cpu = (uint16_t)cpu,
	};
	return true;
}

static bool live_watch_next_of(struct live_watch *w, unsigned cpu, struct live_hit *ret)
{
	union {
		struct perf_event_header header;
		struct live_watch_sample sample;
		struct { struct perf_event_header header; uint64_t id, n; } lost;
	} u;

	while (live_ring_next(&w->cpu[cpu].ring, &u, sizeof(u))) {
		if (u.header.type == PERF_RECORD_SAMPLE &&
		    u.header.size >= sizeof(u.sample) &&
		    live_watch_read_sample(w, cpu, &u.sample, ret))
			return true;
		if (u.header.type == PERF_RECORD_LOST)
			w->lost += u.lost.n;
	}
	return false;
}

bool live_watch_next(struct live_watch *w, struct live_hit *ret)
{
	for (unsigned i = 0; i < w->ncpus; i++, w->next = (w->next + 1) % w->ncpus)
		if (live_watch_next_of(w, w->next, ret))
			return true;
	return false;
}

uint64_t live_watch_lost(const struct live_watch *w)
{
	return w->lost;
}
