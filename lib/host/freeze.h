/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freeze.h - a process of the running machine, stopped while it is read.
 *
 * It uses ptrace(2) and not SIGSTOP: if the tracer dies, even by SIGKILL, the kernel
 * resumes the process; a process that is already stopped remains so; and its parent is
 * not notified.
 */
#pragma once

#include <atwalk/base.h>
#include <sys/types.h>

struct frozen_thread;
struct freeze {             /* all zero: nothing is stopped */
	uint32_t pid;
	struct frozen_thread *thread;
	size_t n, cap;
	uint64_t from;           /* ns of CLOCK_MONOTONIC: start of the stop */
	/* Statistics of the last stop. */
	uint64_t ns;
	size_t threads;
};

/*
 * Stop every thread of process `pid`, which may be a TID. ATW_OK: all of them are
 * stopped, until freeze_thaw() resumes them. After a failure, threads that were stopped
 * are resumed. ATW_E_USAGE: it is this process, or an ancestor of it.
 */
int freeze_stop(struct freeze *f, uint32_t pid, struct atw_err *err);
/* NULL is accepted, and so is a process that was not stopped, or has ended. */
void freeze_thaw(struct freeze *f);

/* ---- freeze_why.c ---- */

/*
 * State in /proc of a process that is to be stopped, and the reasons for
 * not stopping one.
 */

struct freeze_status {
	char name[64], state[32];
	uint32_t tgid, parent, tracer;
	uint64_t caps;           /* effective */
	bool has_memory;         /* of its own */
};

/* false: see errno. */
bool freeze_status(uint32_t pid, struct freeze_status *ret);
bool freeze_thread_status(uint32_t pid, pid_t tid, struct freeze_status *ret);
/* Converts the errno of a file in /proc/PID. */
int freeze_no_process(uint32_t pid, struct atw_err *err);
/*
 * Fails for ancestors of this process. An ancestor waits for its end, or for its output:
 * stopping the ancestor would be a deadlock.
 */
int freeze_check_kin(uint32_t pid, const struct freeze_status *st, struct atw_err *err);
/* `e`: errno of PTRACE_SEIZE of one of its threads; 0: another call failed. */
int freeze_refused(uint32_t pid, pid_t tid, int e, struct atw_err *err);
