/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_watch.h - accesses to a word of the memory of the running kernel, or of a process:
 * hardware breakpoints on all CPUs, by perf_event_open(2).
 *
 * A word takes two of a CPU's breakpoints, one for writes and one for both, for there is
 * none for reads alone on x86; so two words at once are all there is there. The kernel
 * or the process is slowed by each hit, and by nothing else; a word that is hit too often is left alone
 * for the rest of its time.
 */
#pragma once

#include <atwalk/base.h>

enum { LIVE_WORDS = 8, LIVE_WORD = 8 };

/* An instruction that accessed the word; on x86 `ip` is that of the next one. */
struct live_hit {
	uint64_t time;                   /* CLOCK_MONOTONIC, ns */
	uint64_t ip;
	uint32_t pid;                    /* the thread that ran, as we see it */
	uint8_t word;                    /* which was set */
	bool write;                      /* else it is a read or a write: writes come twice */
	uint16_t cpu;
};

struct live_watch;

/*
 * *words: how many can be watched at once. ATW_E_UNSUPPORTED: no breakpoints here.
 * pid: a process that has one thread so far, which is watched with the threads that it
 * will start; 0: the kernel.
 */
int live_watch_open(struct live_watch **ret, pid_t pid, unsigned *words,
		    struct atw_err *err);
/* NULL is fine. */
void live_watch_close(struct live_watch *w);
/* Aligned to its size, which is 1, 2, 4 or 8. Whatever was watched so far is not any more. */
int live_watch_set(struct live_watch *w, unsigned word, uint64_t va, unsigned size,
		   struct atw_err *err);
/* No more hits of it come when this returns. */
int live_watch_stop(struct live_watch *w, unsigned word, struct atw_err *err);
/* The next hit there is, of each CPU in the order of time. */
bool live_watch_next(struct live_watch *w, struct live_hit *ret);
uint64_t live_watch_lost(const struct live_watch *w);
