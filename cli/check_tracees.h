/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_tracees.h - the threads that are traced while a program is checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct check_tracee {
	pid_t tid, tgid;
	bool stopped; /* by ptrace(2), until it is resumed */
	bool parked;  /* it cannot run: group stop, vfork(2), or its end */
	bool kept;    /* `status` was taken while all were stopped */
	int status;
	uint64_t most; /* of the first thread: bytes of the process at its last look */
};

struct check_tracees {
	struct check_tracee *v;
	size_t n, cap;
	bool syscalls; /* stop at system calls */
};

struct check_tracee *check_tracees_find(struct check_tracees *x, pid_t tid);
/* The same, or a new one; NULL: no memory. */
struct check_tracee *check_tracees_add(struct check_tracees *x, pid_t tid);
void check_tracees_drop(struct check_tracees *x, pid_t tid);
/* What execve(2) leaves of a process. */
void check_tracees_drop_others(struct check_tracees *x, pid_t tgid);
void check_tracees_release(struct check_tracees *x);

/* Waits for the next change of any: *ret is a copy. false: there is none left. */
bool check_tracees_wait(struct check_tracees *x, struct check_tracee *ret, int *status);
/* Continues a stopped thread, with this signal; or leaves it in its group stop. */
void check_tracees_resume(struct check_tracees *x, pid_t tid, int signal);
void check_tracees_park(struct check_tracees *x, pid_t tid);
/* Ends the tracing of a thread that is stopped. */
void check_tracees_let_go(struct check_tracees *x, pid_t tid);
/*
 * Stops all threads, or as many as stop within a second: one in the kernel may wait for
 * another. What is reported meanwhile is kept for check_tracees_wait().
 */
void check_tracees_stop(struct check_tracees *x);
