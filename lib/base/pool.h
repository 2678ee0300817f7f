/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - a few threads that run tasks in the order in which they were added.
 *
 * A task is the caller's: it is added, waited for, and may be added again then. What a
 * task reads and writes belongs to it from pool_add() until pool_wait() or pool_help()
 * returns. So results that are used in the order of their tasks are the same for any
 * number of threads. A pool belongs to one thread, which adds and waits; tasks do not.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <atwalk/base.h>

struct pool;

enum pool_state { POOL_IDLE, POOL_QUEUED, POOL_RUNNING, POOL_DONE };

/* Zeroed before it is added for the first time. */
struct pool_task {
	void (*run)(void *arg);
	void *arg;
	/* The pool's. */
	enum pool_state state;
	struct pool_task *before, *next;
};

/* How many threads `asked` stands for; 0: the number of CPUs that this process may use. */
unsigned pool_jobs(uint64_t asked);

/*
 * With so many threads beside the caller's; or fewer where there can be no more. With
 * none, tasks run inside of pool_add(). With one, no two tasks run at once.
 */
int pool_open(unsigned threads, struct pool **ret, struct atw_err *err);
/* How many threads there are. */
unsigned pool_threads(const struct pool *p);
void pool_add(struct pool *p, struct pool_task *t);
/* Returns when the task has ended. One that was never added has. */
void pool_wait(struct pool *p, struct pool_task *t);
/* The same, but a task that has not begun runs in the thread of the caller. */
void pool_help(struct pool *p, struct pool_task *t);
/* Waits for all tasks. NULL is fine. */
void pool_close(struct pool *p);

#endif
