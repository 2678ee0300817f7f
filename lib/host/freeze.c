// SPDX-License-Identifier: GPL-2.0-or-later
/* freeze.c - stops the threads of a process by ptrace(2). */
#include "host/freeze.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"

enum thread_state { ASKED, STOPPED, KILLED, GONE };

struct frozen_thread {
	pid_t tid;
	enum thread_state state;
	int signal;              /* pending signal at the time of the stop */
};

/* ---- reaping ---- */

/*
 * A thread that calls execve(2) holds a lock (cred_guard_mutex) until all other threads
 * have ended and, if they are traced, until the tracer has reaped them; and PTRACE_SEIZE
 * waits for that lock. So another thread has to reap them meanwhile.
 */
struct undertaker {
	pthread_t thread;
	pthread_mutex_t lock;    /* of f->thread and f->n, but not of the elements */
	struct freeze *f;
	bool works, done;
};

/*
 * waitid(2) for an end also consumes stops of traced threads, so check with WNOWAIT
 * first.
 */
static void freeze_bury_dead(pid_t tid)
{
	siginfo_t info = { .si_pid = 0 };

	if (!waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) &&
	    info.si_pid && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
			    info.si_code == CLD_DUMPED))
		waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | __WALL);
}

static void *freeze_bury_all(void *arg)
{
	const struct timespec pause = { .tv_nsec = 2 * 1000 * 1000 };
	struct undertaker *u = arg;

	for (bool done = false; !done; nanosleep(&pause, NULL)) {
		pthread_mutex_lock(&u->lock);
		for (size_t i = 0; i < u->f->n && !u->done; i++)
			freeze_bury_dead(u->f->thread[i].tid);
		done = u->done;
		pthread_mutex_unlock(&u->lock);
	}
	return NULL;
}

/* All signals are blocked in this thread: their handlers run in the main thread. */
static void freeze_begin_to_bury(struct undertaker *u)
{
	sigset_t all, old;

	sigfillset(&all);
	if (u->works || pthread_sigmask(SIG_SETMASK, &all, &old))
		return;
	u->works = !pthread_create(&u->thread, NULL, freeze_bury_all, u);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void freeze_end_burying(struct undertaker *u)
{
	pthread_mutex_lock(&u->lock);
	u->done = true;
	pthread_mutex_unlock(&u->lock);
	if (u->works)
		pthread_join(u->thread, NULL);
	pthread_mutex_destroy(&u->lock);
}

static struct frozen_thread *freeze_add_thread(struct undertaker *u, pid_t tid)
{
	struct freeze *f = u->f;
	struct frozen_thread *t = NULL;

	/* A single thread needs no reaper, because no other thread waits for its end. */
	if (f->n)
		freeze_begin_to_bury(u);
	pthread_mutex_lock(&u->lock);
	if (array_reserve((void **)&f->thread, &f->cap, f->n + 1, sizeof(*t))) {
		t = &f->thread[f->n++];
		*t = (struct frozen_thread){ .tid = tid };
	}
	pthread_mutex_unlock(&u->lock);
	return t;
}

/* ---- stopping ---- */

static bool freeze_is_dead(const struct freeze *f, pid_t tid)
{
	struct freeze_status st;

	if (!freeze_thread_status(f->pid, tid, &st))
		return errno == ENOENT || errno == ESRCH;
	return *st.state == 'Z' || *st.state == 'X';
}

/* Request a stop; GONE: the thread has ended. */
static int freeze_query(struct freeze *f, struct frozen_thread *t, struct atw_err *err)
{
	int e;

	t->state = ASKED;
	t->signal = 0;
	/* It may be traced by us already. */
	e = ptrace(PTRACE_SEIZE, t->tid, NULL, NULL) < 0 ? errno : 0;
	if (ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL) == 0)
		return ATW_OK;
	if (!freeze_is_dead(f, t->tid))
		return freeze_refused(f->pid, t->tid, e, err);
	t->state = GONE;
	return ATW_OK;
}

/*
 * A thread that was stopped before is still stopped or dead, unless it has the identity
 * of another: a thread that calls execve(2) gets the TID of the first one, and the others
 * end.
 */
static int freeze_check_again(struct freeze *f, struct frozen_thread *t, bool *moved,
			      struct atw_err *err)
{
	struct freeze_status st;

	if (!freeze_thread_status(f->pid, t->tid, &st))
		return errno == ENOENT || errno == ESRCH ? ATW_OK : freeze_no_process(f->pid, err);
	if (strchr(t->state == GONE ? "ZX" : "t", *st.state))
		return ATW_OK;
	*moved = true;
	return freeze_query(f, t, err);
}

static struct frozen_thread *freeze_find(struct freeze *f, pid_t tid, size_t at)
{
	/* The order is mostly the same as in the last pass. */
	if (at < f->n && f->thread[at].tid == tid)
		return &f->thread[at];
	for (size_t i = 0; i < f->n; i++)
		if (f->thread[i].tid == tid)
			return &f->thread[i];
	return NULL;
}

/* The current threads. *moved: some of them were not stopped. */
static int freeze_query_all(struct undertaker *u, bool *moved, struct atw_err *err)
{
	struct freeze *f = u->f;
	char path[32];
	struct dirent *e;
	uint64_t tid;
	int r = ATW_OK;
	DIR *d;

	*moved = false;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", f->pid);
	d = opendir(path);
	if (!d)
		return freeze_no_process(f->pid, err);
	for (size_t at = 0; r == ATW_OK && (e = readdir(d));) {
		struct frozen_thread *t;

		if (!num_dec(e->d_name, strlen(e->d_name), &tid) || tid > INT32_MAX)
			continue;
		t = freeze_find(f, (pid_t)tid, at++);
		if (t) {
			r = freeze_check_again(f, t, moved, err);
			continue;
		}
		t = freeze_add_thread(u, (pid_t)tid);
		if (!t) {
			r = atw_err_nomem(err);
			break;
		}
		*moved = true;
		r = freeze_query(f, t, err);
	}
	closedir(d);
	return r;
}

static void freeze_take_answer(struct frozen_thread *t)
{
	int status;
	pid_t r = waitpid(t->tid, &status, WNOHANG | __WALL);

	if (r < 0 && errno != EINTR)
		t->state = GONE;
	if (r != t->tid)
		return;
	t->state = WIFSTOPPED(status) ? STOPPED : GONE;
	/*
	 * If it was stopped by us there is no signal; else it was about to receive this
	 * one.
	 */
	if (WIFSTOPPED(status) && !(status >> 16))
		t->signal = WSTOPSIG(status);
}

static int freeze_too_late(const struct freeze *f, const struct frozen_thread *t,
			   struct atw_err *err)
{
	struct freeze_status st = { .state = "gone" };

	freeze_thread_status(f->pid, t->tid, &st);
	atw_err_set(err, ATW_E_IO,
		    "process %" PRIu32 " cannot be stopped: thread %d does not stop, its state is %s",
		    f->pid, (int)t->tid, st.state);
	atw_err_hint(err, "the kernel makes it wait, perhaps for a device or for vfork(2); try again, or look without stopping it");
	return ATW_E_IO;
}

static int freeze_wait_for_all(struct freeze *f, uint64_t until, struct atw_err *err)
{
	struct timespec pause = { .tv_nsec = 20 * 1000 };

	for (size_t i = 0; i < f->n; i++)
		while (f->thread[i].state == ASKED) {
			freeze_take_answer(&f->thread[i]);
			if (f->thread[i].state != ASKED)
				break;
			if (now() > until)
				return freeze_too_late(f, &f->thread[i], err);
			nanosleep(&pause, NULL);
			if (pause.tv_nsec < 1000 * 1000)
				pause.tv_nsec *= 2;
		}
	return ATW_OK;
}

int freeze_stop(struct freeze *f, uint32_t pid, struct atw_err *err)
{
	struct undertaker u = { .lock = PTHREAD_MUTEX_INITIALIZER, .f = f };
	uint64_t until = now() + 2 * SECOND;
	struct freeze_status st;
	bool moved = true;
	int r;

	if (!freeze_status(pid, &st))
		return freeze_no_process(pid, err);
	if (!st.tgid)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu32, pid);
	r = freeze_check_kin(st.tgid, &st, err);
	if (r < 0)
		return r;
	*f = (struct freeze){ .pid = st.tgid, .from = now() };
	/* Repeat until a pass finds no running thread: running threads start others. */
	while (moved && r == ATW_OK) {
		r = freeze_query_all(&u, &moved, err) ?:
		    freeze_wait_for_all(f, until, err);
		if (r == ATW_OK && moved && now() > until)
			r = atw_err_set(err, ATW_E_LIMIT,
					"process %" PRIu32 " cannot be stopped: it starts threads faster than they are stopped",
					f->pid);
	}
	freeze_end_burying(&u);
	for (size_t i = 0; i < f->n; i++)
		f->threads += f->thread[i].state == STOPPED;
	if (r == ATW_OK && !f->threads)
		r = atw_err_set(err, ATW_E_NONE, "process %" PRIu32 " has ended", f->pid);
	if (r < 0)
		freeze_thaw(f);
	return r;
}

/* ---- resuming ---- */

/*
 * Killed threads: their parent is notified only after the tracer has reaped them, and a
 * thread that calls execve(2) waits for that. They end in any order.
 */
static void freeze_bury_killed(struct freeze *f)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	uint64_t until = now() + 2 * SECOND;
	struct freeze_status st;
	/* The caller may be the parent, which reaps the process itself. */
	bool ours = freeze_status(f->pid, &st) && st.parent == (uint32_t)getpid();

	for (bool left = true; left && now() < until;) {
		left = false;
		for (size_t i = 0; i < f->n; i++) {
			struct frozen_thread *t = &f->thread[i];

			if (t->state != KILLED || (ours && t->tid == (pid_t)f->pid))
				continue;
			if (waitpid(t->tid, NULL, WNOHANG | __WALL))
				t->state = GONE;
			else
				left = true;
		}
		if (left)
			nanosleep(&pause, NULL);
	}
}

void freeze_thaw(struct freeze *f)
{
	bool killed = false;

	if (!f || !f->n)
		return;
	for (size_t i = 0; i < f->n; i++) {
		struct frozen_thread *t = &f->thread[i];

		/* It may have stopped since, and an ended one may not be reaped yet. */
		if (t->state == ASKED)
			freeze_take_answer(t);
		if (t->state != STOPPED)
			freeze_bury_dead(t->tid);
		if (t->state == STOPPED &&
		    ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal) < 0)
			t->state = KILLED;
		killed |= t->state == KILLED;
	}
	if (killed)
		freeze_bury_killed(f);
	f->ns = now() - f->from;
	free(f->thread);
	f->thread = NULL;
	f->n = f->cap = 0;
}
