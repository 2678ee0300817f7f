/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks of a pool: each runs once, for any number of threads. Also for `make tsan`. */
#include "base/pool.h"

#include <pthread.h>
#include <signal.h>

#include "test.h"

enum { TASKS = 300, ROUNDS = 20 };

struct square {
	struct pool_task task;
	uint64_t of, result;
	unsigned times;
	pthread_t by;
};

static void square_run(void *arg)
{
	struct square *s = arg;

	s->result = s->of * s->of;
	s->times++;
	s->by = pthread_self();
}

static struct square square[TASKS];

static void square_begin(void)
{
	memset(square, 0, sizeof(square));
	for (uint64_t i = 0; i < TASKS; i++) {
		square[i].of = i;
		square[i].task = (struct pool_task){ .run = square_run, .arg = &square[i] };
	}
}

static void check_each(unsigned threads, void (*wait)(struct pool *, struct pool_task *))
{
	struct pool *p;
	uint64_t wrong = 0;

	square_begin();
	CHECK_EQ(pool_open(threads, &p, NULL), ATW_OK);
	CHECK(pool_threads(p) <= threads);
	for (unsigned round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < TASKS; i++)
			pool_add(p, &square[i].task);
		for (int i = 0; i < TASKS; i++) {
			wait(p, &square[i].task);
			wrong += square[i].result != (uint64_t)i * i || square[i].times != round;
		}
	}
	pool_close(p);
	CHECK_EQ(wrong, 0);
}

TEST(each_task_runs_once_per_add)
{
	for (unsigned threads = 0; threads <= 4; threads++) {
		check_each(threads, pool_wait);
		check_each(threads, pool_help);
	}
}

TEST(without_threads_tasks_run_inside_of_add)
{
	struct pool *p;

	square_begin();
	CHECK_EQ(pool_open(0, &p, NULL), ATW_OK);
	CHECK_EQ(pool_threads(p), 0);
	pool_add(p, &square[7].task);
	CHECK_EQ(square[7].result, 49);
	CHECK(pthread_equal(square[7].by, pthread_self()));
	pool_close(p);
}

struct queue {
	unsigned n, met[TASKS];
};

struct place {
	struct pool_task task;
	struct queue *q;
	unsigned number;
};

static void place_run(void *arg)
{
	struct place *l = arg;

	l->q->met[l->q->n++] = l->number;
}

/* No lock protects the queue: two tasks at once would lose numbers. */
TEST(one_thread_keeps_the_order)
{
	static struct queue q;
	static struct place place[TASKS];
	struct pool *p;
	unsigned wrong = 0;

	CHECK_EQ(pool_open(1, &p, NULL), ATW_OK);
	for (unsigned i = 0; i < TASKS; i++) {
		place[i] = (struct place){
			.task = { .run = place_run, .arg = &place[i] }, .q = &q, .number = i,
		};
		pool_add(p, &place[i].task);
	}
	pool_wait(p, &place[TASKS - 1].task);
	CHECK_EQ(q.n, TASKS);
	for (unsigned i = 0; i < q.n; i++)
		wrong += q.met[i] != i;
	CHECK_EQ(wrong, 0);
	pool_close(p);
}

TEST(closing_waits_for_all_tasks)
{
	struct pool *p;
	uint64_t wrong = 0;

	square_begin();
	CHECK_EQ(pool_open(2, &p, NULL), ATW_OK);
	for (int i = 0; i < TASKS; i++)
		pool_add(p, &square[i].task);
	pool_close(p);
	for (int i = 0; i < TASKS; i++)
		wrong += square[i].times != 1;
	CHECK_EQ(wrong, 0);
}

TEST(a_task_that_was_never_added_has_ended)
{
	struct pool_task t = { .run = square_run };
	struct pool *p;

	CHECK_EQ(pool_open(1, &p, NULL), ATW_OK);
	pool_wait(p, &t);
	pool_help(p, &t);
	pool_close(p);
	pool_close(NULL);
}

/* A helper is needed: the only thread waits until the caller has run another task. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool open;
};

static void gate_pass(void *arg)
{
	struct gate *g = arg;

	pthread_mutex_lock(&g->lock);
	while (!g->open)
		pthread_cond_wait(&g->change, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void gate_open(void *arg)
{
	struct gate *g = arg;

	pthread_mutex_lock(&g->lock);
	g->open = true;
	pthread_cond_broadcast(&g->change);
	pthread_mutex_unlock(&g->lock);
}

TEST(the_caller_runs_a_task_that_has_not_begun)
{
	struct gate g = { .lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };
	struct pool_task pass = { .run = gate_pass, .arg = &g };
	struct pool_task open = { .run = gate_open, .arg = &g };
	struct pool *p;

	CHECK_EQ(pool_open(1, &p, NULL), ATW_OK);
	pool_add(p, &pass);
	pool_add(p, &open);
	if (pool_threads(p))
		pool_help(p, &open);
	pool_wait(p, &pass);
	CHECK(g.open);
	pool_close(p);
}

static sigset_t mask_there;

static void mask_run(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, &mask_there);
}

TEST(signals_are_for_other_threads)
{
	struct pool_task t = { .run = mask_run };
	struct pool *p;

	CHECK_EQ(pool_open(1, &p, NULL), ATW_OK);
	pool_add(p, &t);
	pool_wait(p, &t);
	CHECK(!pool_threads(p) || sigismember(&mask_there, SIGINT) == 1);
	pool_close(p);
	CHECK_EQ(sigismember(&mask_there, SIGKILL), 0);
}

TEST(jobs_default_to_the_cpus)
{
	CHECK_EQ(pool_jobs(1), 1);
	CHECK_EQ(pool_jobs(3), 3);
	CHECK(pool_jobs(0) >= 1);
	CHECK(pool_jobs(UINT64_MAX) >= 1 && pool_jobs(UINT64_MAX) <= 4096);
}
