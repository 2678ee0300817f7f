// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of a pool: where they may run while the owner adds jobs and while it waits. */
#include "base/pool.h"

#include <sched.h>
#include <unistd.h>

#include "test.h"

struct job {
	struct pool_job job;
	int until;               /* it goes on until its thread may run on so many CPUs */
	bool done;
	int before, after;       /* CPUs that its thread might run on */
};

static int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? -1 : CPU_COUNT(&set);
}

static void work(void *arg, void *state, struct pool_job *job)
{
	struct job *j = (struct job *)job;

	(void)arg;
	(void)state;
	__atomic_store_n(&j->before, cpus(), __ATOMIC_RELAXED);
	for (int i = 0; i < 10000 && cpus() < j->until; i++)
		usleep(1000);
	j->after = cpus();
	j->done = true;
}

static const struct pool_ops ops = { .work = work };

static bool wait_until_it_has(const struct job *j)
{
	for (int i = 0; i < 10000; i++) {
		if (pool_has(&j->job))
			return true;
		usleep(1000);
	}
	return false;
}

TEST(one_thread_keeps_off_the_owners_cpu_until_it_waits)
{
	struct job a = { .until = 0 }, b = { .until = cpus() };
	struct pool_job *of_a = &a.job, *of_b = &b.job;
	struct pool *p = pool_open(&ops, NULL, 1);
	int all = cpus(), others = all > 1 ? all - 1 : 1;

	CHECK(p && all > 0);
	pool_add(p, &of_a, 1);
	CHECK(wait_until_it_has(&a));
	CHECK(pool_take(p, &a.job) && a.done);
	CHECK_EQ(a.after, others);
	pool_add(p, &of_b, 1);
	/* Not before a thread has begun: else it is the owner's to do. */
	for (int i = 0; i < 10000 && !__atomic_load_n(&b.before, __ATOMIC_RELAXED); i++)
		usleep(100);
	CHECK(pool_take(p, &b.job) && b.done);
	CHECK_EQ(b.before, others);
	CHECK_EQ(b.after, all);
	CHECK_EQ(cpus(), all);
	pool_close(p);
}

TEST(as_many_threads_as_cpus_run_on_all)
{
	int all = cpus();
	struct pool *p = all > 0 && all <= 64 ? pool_open(&ops, NULL, (unsigned)all) : NULL;
	struct job j[64] = { { .until = 0 } };
	struct pool_job *job[64];

	if (!p)
		SKIP("more than 64 CPUs");
	for (int i = 0; i < 64; i++)
		job[i] = &j[i].job;
	pool_add(p, job, 64);
	for (int i = 0; i < 64; i++)
		CHECK(wait_until_it_has(&j[i]));
	for (int i = 0; i < 64; i++) {
		CHECK(pool_take(p, &j[i].job) && j[i].done);
		CHECK_EQ(j[i].before, all);
		/* Once only. */
		CHECK(!pool_take(p, &j[i].job));
	}
	pool_close(p);
}

TEST(what_no_thread_has_begun_is_the_owners)
{
	struct job j = { .until = 0 };
	struct pool_job *job = &j.job;
	struct pool *p = pool_open(&ops, NULL, 0);

	CHECK(p && pool_has(&j.job));
	pool_add(p, &job, 1);
	CHECK(!pool_has(&j.job));
	CHECK(!pool_take(p, &j.job));
	CHECK(pool_has(&j.job) && !j.done);
	pool_close(p);
}
