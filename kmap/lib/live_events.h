/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_events.h - allocations and frees of the running kernel, reported to BPF programs
 * by its own tracepoints.
 *
 * Each CPU has a ring of its own, which is emptied at our own pace: an event wakes no
 * process. Events that do not fit are counted. The programs select the processes with
 * allocations to report; frees of other objects are dropped there as well.
 */
#pragma once

#include <sys/types.h>

#include <atwalk/base.h>

#include "kmap/lib/share.h"

/* As the programs write it. */
struct live_event {
	uint64_t time;                   /* CLOCK_MONOTONIC, ns */
	uint64_t ptr;                    /* of pages: the struct page's */
	uint64_t ip;                     /* caller of the allocator; 0: not recorded */
	uint64_t what;                   /* bytes of kmalloc and vmalloc, a kmem_cache, the order of pages */
	uint32_t pid;                    /* the thread's */
	uint32_t kind;                   /* enum kshare_event_kind */
	uint32_t depth;                  /* preempt_count: see include/linux/preempt.h */
	uint32_t tgid;
	char comm[KSHARE_COMM];
};

/* What has to be known of the kernel. */
struct live_layout {
	uint32_t task_tgid;
	uint32_t in_task;                /* preempt_count: in task_struct, or of each CPU; 0: not known */
	uint64_t of_cpu[KSHARE_CPUS];
};

struct live_events;

struct live_events_opts {
	struct live_layout layout;
	uint32_t ring;                   /* bytes for each CPU, a power of two */
	bool everyone;                   /* all processes but ourselves; else those that are named */
};

/* ATW_E_UNSUPPORTED: kernels before 6.1 have other tracepoints. */
int live_events_open(const struct live_events_opts *o, struct live_events **ret,
		     struct atw_err *err);
/* NULL is fine. */
void live_events_close(struct live_events *e);
/* Follow this process, by its PID in the kernel, and its children. */
void live_events_follow(struct live_events *e, uint32_t tgid);
/*
 * The same for the calling process: used in a child, before it calls execve(2). With
 * `everyone` it excludes the caller.
 */
int live_events_follow_me(struct live_events *e, struct atw_err *err);
void live_events_switch(struct live_events *e, bool on);
/*
 * The next event of any CPU that is not later than `until`, in the order of time; NULL:
 * there is none. It stays until the next call.
 */
const struct live_event *live_events_next(struct live_events *e, uint64_t until);
/* What found no room. */
uint64_t live_events_lost(const struct live_events *e);
