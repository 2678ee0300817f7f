/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freeze.h - a process of the running machine, stopped while it is read.
 *
 * It uses ptrace(2) and not SIGSTOP: if the tracer dies, even by SIGKILL, the kernel
 * resumes the process; a process that is already stopped remains so; and its parent is
 * not notified.
 */
#ifndef HOST_FREEZE_H
#define HOST_FREEZE_H

#include <atwalk/base.h>

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

#endif
