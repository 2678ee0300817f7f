/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pool.c - threads that run tasks of one other thread. */
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

enum { POOL_MOST = 256 };        /* threads: more than that share memory badly */

struct pool {
	pthread_mutex_t lock;    /* of all below, and of the pool's part of tasks */
	pthread_cond_t added, ended;
	struct pool_task *first, *last;          /* that have not begun */
	bool closing;
	unsigned n;              /* written before any task is added */
	pthread_t thread[POOL_MOST];
};

unsigned pool_jobs(uint64_t asked)
{
	cpu_set_t set;
	int n = 0;

	if (asked)
		return asked < POOL_MOST ? (unsigned)asked : POOL_MOST;
	/* It fails with more CPUs than the set has room for. */
	if (!sched_getaffinity(0, sizeof(set), &set))
		n = CPU_COUNT(&set);
	if (n < 1)
		n = 1;
	return n < POOL_MOST ? (unsigned)n : POOL_MOST;
}

/* ---- the queue; the lock is held ---- */

static void pool_append(struct pool *p, struct pool_task *t)
{
	t->state = POOL_QUEUED;
	t->next = NULL;
	t->before = p->last;
	if (p->last)
		p->last->next = t;
	else
		p->first = t;
	p->last = t;
}

static void pool_remove(struct pool *p, struct pool_task *t)
{
	if (t->before)
		t->before->next = t->next;
	else
		p->first = t->next;
	if (t->next)
		t->next->before = t->before;
	else
		p->last = t->before;
	t->before = t->next = NULL;
}

static void pool_run(struct pool *p, struct pool_task *t)
{
	pool_remove(p, t);
	t->state = POOL_RUNNING;
	pthread_mutex_unlock(&p->lock);
	t->run(t->arg);
	pthread_mutex_lock(&p->lock);
	t->state = POOL_DONE;
	pthread_cond_signal(&p->ended);
}

static void *pool_work(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (p->first || !p->closing) {
		if (p->first)
			pool_run(p, p->first);
		else
			pthread_cond_wait(&p->added, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the caller's ---- */

int pool_open(unsigned threads, struct pool **ret, struct atw_err *err)
{
	struct pool *p = calloc(1, sizeof(*p));
	sigset_t all, before;

	if (!p)
		return atw_err_nomem(err);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->added, NULL);
	pthread_cond_init(&p->ended, NULL);
	if (threads > POOL_MOST)
		threads = POOL_MOST;
	/* Signals go to the threads of the program, which expects them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->n < threads && !pthread_create(&p->thread[p->n], NULL, pool_work, p))
		p->n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*ret = p;
	return ATW_OK;
}

unsigned pool_threads(const struct pool *p)
{
	return p->n;
}

void pool_add(struct pool *p, struct pool_task *t)
{
	if (!p->n) {
		t->run(t->arg);
		t->state = POOL_DONE;
		return;
	}
	pthread_mutex_lock(&p->lock);
	pool_append(p, t);
	pthread_cond_signal(&p->added);
	pthread_mutex_unlock(&p->lock);
}

static void pool_wait_for(struct pool *p, struct pool_task *t, bool help)
{
	pthread_mutex_lock(&p->lock);
	if (help && t->state == POOL_QUEUED)
		pool_run(p, t);
	while (t->state == POOL_QUEUED || t->state == POOL_RUNNING)
		pthread_cond_wait(&p->ended, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void pool_wait(struct pool *p, struct pool_task *t)
{
	pool_wait_for(p, t, false);
}

void pool_help(struct pool *p, struct pool_task *t)
{
	pool_wait_for(p, t, true);
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->added);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->n; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->ended);
	pthread_cond_destroy(&p->added);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
