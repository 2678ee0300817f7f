/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_tracees.c - the threads that are traced while a program is checked. */
#include "check_tracees.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "target/procfs.h"

struct check_tracee *check_tracees_find(struct check_tracees *x, pid_t tid)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].tid == tid)
			return &x->v[i];
	return NULL;
}

struct check_tracee *check_tracees_add(struct check_tracees *x, pid_t tid)
{
	struct check_tracee *t = check_tracees_find(x, tid);
	struct atw_err err = {0};
	uint32_t tgid;

	if (t)
		return t;
	if (!array_reserve((void **)&x->v, &x->cap, x->n + 1, sizeof(*x->v)))
		return NULL;
	t = &x->v[x->n++];
	/* One that is gone already is of no process. */
	*t = (struct check_tracee){.tid = tid};
	if (proc_tgid((uint32_t)tid, &tgid, &err) == ATW_OK)
		t->tgid = (pid_t)tgid;
	return t;
}

void check_tracees_drop(struct check_tracees *x, pid_t tid)
{
	struct check_tracee *t = check_tracees_find(x, tid);

	if (t)
		*t = x->v[--x->n];
}

void check_tracees_drop_others(struct check_tracees *x, pid_t tgid)
{
	for (size_t i = x->n; i--;)
		if (x->v[i].tgid == tgid && x->v[i].tid != tgid)
			x->v[i] = x->v[--x->n];
}

void check_tracees_release(struct check_tracees *x)
{
	free(x->v);
	*x = (struct check_tracees){0};
}

static void check_tracees_took(struct check_tracee *t, int status)
{
	t->stopped = WIFSTOPPED(status);
	if (t->stopped && status >> 16 != PTRACE_EVENT_VFORK)
		t->parked = false;
}

static bool check_tracees_kept(struct check_tracees *x, struct check_tracee *ret,
			       int *status)
{
	for (size_t i = 0; i < x->n; i++) {
		if (!x->v[i].kept)
			continue;
		x->v[i].kept = false;
		*ret = x->v[i];
		*status = ret->status;
		return true;
	}
	return false;
}

bool check_tracees_wait(struct check_tracees *x, struct check_tracee *ret, int *status)
{
	if (check_tracees_kept(x, ret, status))
		return true;
	while (x->n) {
		pid_t got = waitpid(-1, status, __WALL);
		struct check_tracee *t;

		if (got < 0 && errno != EINTR)
			return false;
		if (got < 0)
			continue;
		/* A thread may stop before the event of its parent is reported. */
		t = WIFSTOPPED(*status) ? check_tracees_add(x, got)
					: check_tracees_find(x, got);
		if (t) {
			check_tracees_took(t, *status);
			*ret = *t;
			return true;
		}
	}
	return false;
}

void check_tracees_resume(struct check_tracees *x, pid_t tid, int signal)
{
	struct check_tracee *t = check_tracees_find(x, tid);

	if (t)
		t->stopped = false;
	ptrace(x->syscalls ? PTRACE_SYSCALL : PTRACE_CONT, tid, NULL,
	       (void *)(intptr_t)signal);
}

void check_tracees_park(struct check_tracees *x, pid_t tid)
{
	struct check_tracee *t = check_tracees_find(x, tid);

	if (t) {
		t->stopped = false;
		t->parked = true;
	}
	ptrace(PTRACE_LISTEN, tid, NULL, NULL);
}

void check_tracees_let_go(struct check_tracees *x, pid_t tid)
{
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	check_tracees_drop(x, tid);
}

/* true: it need not be waited for. */
static bool check_tracees_still(struct check_tracee *t)
{
	int status = 0;
	pid_t got;

	if (t->stopped || t->parked || t->kept)
		return true;
	got = waitpid(t->tid, &status, __WALL | WNOHANG);
	if (!got || (got < 0 && errno == EINTR))
		return false;
	/* One that cannot be waited for has ended. */
	check_tracees_took(t, status);
	t->kept = true;
	t->status = status;
	return true;
}

void check_tracees_stop(struct check_tracees *x)
{
	const struct timespec pause = {.tv_nsec = 200 * 1000};
	const uint64_t end = now() + SECOND;
	bool all = false;

	for (size_t i = 0; i < x->n; i++)
		if (!x->v[i].stopped && !x->v[i].parked && !x->v[i].kept)
			ptrace(PTRACE_INTERRUPT, x->v[i].tid, NULL, NULL);
	while (!all && now() < end) {
		all = true;
		for (size_t i = 0; i < x->n; i++)
			all &= check_tracees_still(&x->v[i]);
		if (!all)
			nanosleep(&pause, NULL);
	}
}
