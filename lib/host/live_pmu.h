/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_pmu.h - what the kernel or a process touches, as the CPU itself samples it: PEBS (Intel) and
 * IBS (AMD), by perf_event_open(2). Virtual machines mostly have neither.
 */
#pragma once

#include "trace/trace.h"

struct live_touch {
	uint64_t time;                   /* CLOCK_MONOTONIC, ns */
	uint64_t ip, va;
	uint32_t pid;                    /* the thread that ran, as we see it */
	bool write;
	struct trace_ref ref;            /* all that the sample has */
};

struct live_pmu;

/*
 * One of `period` loads and of as many stores. `devices`: /sys/bus/event_source/devices.
 * pid: a process that has one thread so far, sampled with the threads that it will start;
 * 0: the kernel. ATW_E_UNSUPPORTED: there is nothing to sample with.
 */
int live_pmu_open(const char *devices, pid_t pid, uint64_t period, struct live_pmu **ret,
		  struct atw_err *err);
/* NULL is fine. */
void live_pmu_close(struct live_pmu *p);
/* The next touch that is not later, in the order of time. NULL: none. */
const struct live_touch *live_pmu_next(struct live_pmu *p, uint64_t until);
/* References of one sample; 0: unknown. */
uint64_t live_pmu_scale(const struct live_pmu *p);
uint64_t live_pmu_lost(const struct live_pmu *p);
