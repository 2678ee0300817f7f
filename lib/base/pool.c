/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/pool.h"

#include <sched.h>
#include <stdlib.h>

#include "base/thread.h"

struct pool_thread {
	struct pool *p;
	pthread_t id;
	void *state;
};

struct pool {
	const struct pool_ops *ops;
	void *arg;
	/* Of the queue, of jobs that are queued or under way, and of what follows. */
	pthread_mutex_t lock;
	pthread_cond_t queued, done;
	TAILQ_HEAD(pool_queue, pool_job) queue;
	unsigned idle;                   /* threads that wait for work */
	bool closing;
	/* The owner's. */
	struct pool_thread *thread;
	size_t most, n;                  /* of them; that run */
	int off;                         /* the CPU that they keep off; -1: none */
	void *own;                       /* state */
};

/* With the lock held. NULL: nothing is queued. */
static struct pool_job *pool_next(struct pool *p)
{
	struct pool_job *job = TAILQ_FIRST(&p->queue);

	if (job) {
		TAILQ_REMOVE(&p->queue, job, link);
		job->state = POOL_BUSY;
	}
	return job;
}

/* With the lock held, which is released meanwhile. */
static void pool_work(struct pool *p, void *state, struct pool_job *job)
{
	pthread_mutex_unlock(&p->lock);
	p->ops->work(p->arg, state, job);
	pthread_mutex_lock(&p->lock);
	job->state = POOL_DONE;
	pthread_cond_signal(&p->done);
}

static void *pool_run(void *arg)
{
	const struct pool_thread *t = arg;
	struct pool *p = t->p;

	pthread_mutex_lock(&p->lock);
	while (!p->closing) {
		struct pool_job *job = pool_next(p);

		if (job) {
			pool_work(p, t->state, job);
			continue;
		}
		p->idle++;
		pthread_cond_wait(&p->queued, &p->lock);
		p->idle--;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- threads ---- */

static bool pool_start(struct pool_thread *t)
{
	bool started;

	t->state = calloc(1, t->p->ops->state + 1);
	started = t->state && thread_start(&t->id, pool_run, t);
	if (!started)
		free(t->state);
	return started;
}

/* With the first job: what needs none costs no threads. Fewer if some cannot be started. */
static void pool_start_all(struct pool *p)
{
	for (; p->n < p->most; p->n++) {
		p->thread[p->n].p = p;
		if (!pool_start(&p->thread[p->n])) {
			p->most = p->n;
			break;
		}
	}
}

/* ---- the owner's ---- */

/*
 * Threads may run where the owner may, but for one CPU; -1: none.
 *
 * By itself, Linux often wakes a thread on the CPU of the one that wakes it, although another
 * is idle: in a KVM guest vcpu_is_preempted() is true of a CPU that is halted, so that
 * available_idle_cpu() is false. Both share a CPU then until the load is balanced, for 3 to
 * 30 ms. So threads keep off the CPU on which the owner adds jobs, until it has to wait.
 * Where there are many, one that waits is no loss.
 */
static void pool_keep_off(struct pool *p, int cpu)
{
	enum { FEW = 8 };
	cpu_set_t set;

	if (cpu == p->off)
		return;
	p->off = cpu;
	if (p->n > FEW || sched_getaffinity(0, sizeof(set), &set))
		return;
	if (cpu >= 0 && cpu < CPU_SETSIZE && (size_t)CPU_COUNT(&set) > p->n)
		CPU_CLR(cpu, &set);
	for (size_t i = 0; i < p->n; i++)
		pthread_setaffinity_np(p->thread[i].id, sizeof(set), &set);
}

void pool_add(struct pool *p, struct pool_job *const *job, size_t n)
{
	pool_start_all(p);
	pool_keep_off(p, sched_getcpu());
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < n; i++) {
		job[i]->state = POOL_QUEUED;
		TAILQ_INSERT_TAIL(&p->queue, job[i], link);
	}
	if (n > 1 && p->idle > 1)
		pthread_cond_broadcast(&p->queued);
	else if (n && p->idle)
		pthread_cond_signal(&p->queued);
	pthread_mutex_unlock(&p->lock);
}

/* No thread changes a job that is done or was not added, so this takes no lock. */
bool pool_has(const struct pool_job *job)
{
	enum pool_state state = atomic_load_explicit(&job->state, memory_order_acquire);

	return state == POOL_NONE || state == POOL_DONE;
}

/* A job that is queued or under way. */
static void pool_claim(struct pool *p, struct pool_job *job)
{
	pthread_mutex_lock(&p->lock);
	if (job->state == POOL_QUEUED) {
		TAILQ_REMOVE(&p->queue, job, link);
		job->state = POOL_NONE;
	}
	while (job->state == POOL_BUSY) {
		struct pool_job *other = pool_next(p);

		if (other) {
			pool_work(p, p->own, other);
		} else if (p->off >= 0) {
			pthread_mutex_unlock(&p->lock);
			pool_keep_off(p, -1);
			pthread_mutex_lock(&p->lock);
		} else {
			pthread_cond_wait(&p->done, &p->lock);
		}
	}
	pthread_mutex_unlock(&p->lock);
}

bool pool_take(struct pool *p, struct pool_job *job)
{
	bool done;

	if (!pool_has(job))
		pool_claim(p, job);
	done = job->state == POOL_DONE;
	job->state = POOL_NONE;
	return done;
}

/* ---- opening ---- */

struct pool *pool_open(const struct pool_ops *ops, void *arg, unsigned threads)
{
	struct pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->ops = ops;
	p->off = -1;
	p->arg = arg;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->queued, NULL);
	pthread_cond_init(&p->done, NULL);
	TAILQ_INIT(&p->queue);
	/* One byte more: calloc() of 0 bytes may be NULL. */
	p->own = calloc(1, ops->state + 1);
	p->thread = calloc(threads + 1, sizeof(*p->thread));
	if (!p->own || !p->thread) {
		pool_close(p);
		return NULL;
	}
	p->most = threads;
	return p;
}

static void pool_drop(const struct pool *p, void *state)
{
	if (state && p->ops->drop)
		p->ops->drop(state);
	free(state);
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = true;
	pthread_cond_broadcast(&p->queued);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->n; i++) {
		pthread_join(p->thread[i].id, NULL);
		pool_drop(p, p->thread[i].state);
	}
	pool_drop(p, p->own);
	pthread_cond_destroy(&p->queued);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	free(p);
}
