/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool.h - threads that do work ahead of the one that needs it, its owner.
 *
 * The owner adds jobs and takes them back in any order. A job that a thread has done is
 * done; one that none has begun is the owner's to do, in its own way; while a thread is
 * at it, the owner does another. So what depends on the order of the work, such as
 * errors, need not depend on threads.
 */
#pragma once

#include <stdatomic.h>
#include <sys/queue.h>

#include <atwalk/base.h>

enum pool_state { POOL_NONE, POOL_QUEUED, POOL_BUSY, POOL_DONE };

/* Part of what describes the work; begins zeroed. */
struct pool_job {
	TAILQ_ENTRY(pool_job) link;
	_Atomic(enum pool_state) state;
};

struct pool_ops {
	/* Called by several threads at once, each with a `state` of its own. */
	void (*work)(void *arg, void *state, struct pool_job *job);
	size_t state;            /* bytes of a state, which begins zeroed */
	void (*drop)(void *state);       /* NULL: nothing to free */
};

struct pool;
/*
 * With `threads` beside the owner, which are started with the first job, as far as that is
 * possible. NULL: no memory. All other functions are called by the owner.
 */
struct pool *pool_open(const struct pool_ops *ops, void *arg, unsigned threads);
/* Waits for jobs that are under way; the others are not begun. NULL is accepted. */
void pool_close(struct pool *p);

/* To be done; those added first are begun first. They are of state NONE or DONE. */
void pool_add(struct pool *p, struct pool_job *const *job, size_t n);
/* The job is the owner's again, and its state NONE. true: it was done. */
bool pool_take(struct pool *p, struct pool_job *job);
/* Is it the owner's? Without waiting: a job that is queued or under way is not. */
bool pool_has(const struct pool_job *job);
