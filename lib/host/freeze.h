/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freeze.h - a process of the running machine, stopped while it is read.
 *
 * By ptrace(2) and not by SIGSTOP: if the tracer dies, even by SIGKILL, the kernel lets
 * the process go on; a process that is already stopped stays so; and its parent is not
 * notified.
 */
#ifndef HOST_FREEZE_H
#define HOST_FREEZE_H

#include <atwalk/base.h>

struct frozen_thread;
struct freeze {             /* all zero: nothing is stopped */
	uint32_t pid;
	struct frozen_thread *thread;
	size_t n, cap;
	uint64_t from;           /* ns of CLOCK_MONOTONIC: since then */
	/* Of the last time. */
	uint64_t ns;
	size_t threads;
};

/*
 * Stop every thread of process `pid`, be it the number of a thread. ATW_OK: all
 * of them stand still, and freeze_thaw() lets them go on. After a failure those that
 * were stopped go on. ATW_E_USAGE: it is this process, or one that started it.
 */
int freeze_stop(struct freeze *f, uint32_t pid, struct atw_err *err);
/* NULL is fine, and so is a process that was not stopped, or that died. */
void freeze_thaw(struct freeze *f);

#endif
