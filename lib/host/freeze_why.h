/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freeze_why.h - state in /proc of a process that is to be stopped, and the reasons for
 * not stopping one.
 */
#ifndef HOST_FREEZE_WHY_H
#define HOST_FREEZE_WHY_H

#include <sys/types.h>

#include <atwalk/base.h>

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

#endif
