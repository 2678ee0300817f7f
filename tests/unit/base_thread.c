// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread that keeps off a CPU: which it may run on then. */
#include "base/thread.h"

#include <sched.h>

#include "test.h"

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_it(void *arg)
{
	pthread_mutex_lock(&held);
	pthread_mutex_unlock(&held);
	return arg;
}

static cpu_set_t may_run(pthread_t id)
{
	cpu_set_t set;

	CHECK_EQ(pthread_getaffinity_np(id, sizeof(set), &set), 0);
	return set;
}

TEST(it_keeps_off_one_after_the_other)
{
	cpu_set_t all = may_run(pthread_self()), now;
	pthread_t id;

	if (CPU_COUNT(&all) < 2)
		SKIP("there is one CPU");
	pthread_mutex_lock(&held);
	CHECK(thread_start(&id, wait_for_it, NULL));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		thread_keep_off(id, cpu);
		now = may_run(id);
		CHECK(!CPU_ISSET(cpu, &now));
		CPU_SET(cpu, &now);
		CHECK(CPU_EQUAL(&now, &all));
	}
	/* No CPUs: nothing changes. */
	now = may_run(id);
	thread_keep_off(id, -1);
	thread_keep_off(id, CPU_SETSIZE);
	all = may_run(id);
	CHECK(CPU_EQUAL(&now, &all));
	pthread_mutex_unlock(&held);
	CHECK_EQ(pthread_join(id, NULL), 0);
}

TEST(it_shares_the_only_one)
{
	cpu_set_t all = may_run(pthread_self()), one, now;
	int cpu = sched_getcpu();
	pthread_t id;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_mutex_lock(&held);
	CHECK(thread_start(&id, wait_for_it, NULL));
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	thread_keep_off(id, cpu);
	now = may_run(id);
	CHECK(CPU_EQUAL(&now, &one));
	CHECK_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
	pthread_mutex_unlock(&held);
	CHECK_EQ(pthread_join(id, NULL), 0);
}
