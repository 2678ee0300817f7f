/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of tasks that changes while it is followed is read without repeats and without
 * gaps.
 */
#include "linux/process.h"

#include "linux/tasks.h"
#include "kernel_memory.h"
#include "test.h"

enum { HEAD = 0x100, TASKS = 0x1000, START = 88, POISON = 0x122 };

static uint64_t task(unsigned i) { return TASKS + i * T_SIZE; }
static uint64_t link(unsigned i) { return i ? task(i) + T_TASKS : HEAD; }

/* Something happens when the kernel is read for the n-th time. */
static struct {
	uint64_t at;
	void (*run)(struct kmemory *k);
} event;

static ssize_t live_read(struct atw_source *s, atw_pa pa, void *buf, size_t len,
			 struct atw_err *err)
{
	struct kmemory *k = (struct kmemory *)s;

	if (event.run && pa.u < KSIZE && !event.at--) {
		event.run(k);
		event.run = NULL;
	}
	return kmemory_read(s, pa, buf, len, err);
}

static const struct atw_source_ops live_ops = {
	.name = "live kmemory", .help = "runs",
	.read = live_read, .extent = kmemory_extent, .fact = kmemory_fact, .live = true,
};

static uint64_t word(const struct kmemory *k, uint64_t at)
{
	uint64_t v;

	memcpy(&v, k->bytes + at, 8);
	return v - KBASE;
}

static void list_add_tail(struct kmemory *k, unsigned i, uint64_t start)
{
	uint64_t last = word(k, HEAD + 8);

	kput(k, task(i) + T_PID, i, 4);
	kput(k, task(i) + T_TGID, i, 4);
	kput64(k, task(i) + START, start);
	kpoint(k, link(i), HEAD);
	kpoint(k, link(i) + 8, last);
	kpoint(k, last, link(i));
	kpoint(k, HEAD + 8, link(i));
}

/* list_del_rcu() */
static void list_del(struct kmemory *k, unsigned i)
{
	uint64_t next = word(k, link(i)), prev = word(k, link(i) + 8);

	kpoint(k, next + 8, prev);
	kpoint(k, prev, next);
	kput64(k, link(i) + 8, POISON);
}

static struct kmemory *machine(unsigned n)
{
	struct kmemory *k = kmemory_new();

	k->s.ops = &live_ops;
	event.run = NULL;
	ktask_layout(k);
	kset(k, N_task_start, START, 8);
	kpoint(k, HEAD, HEAD);
	kpoint(k, HEAD + 8, HEAD);
	for (unsigned i = 1; i <= n; i++)
		list_add_tail(k, i, 1000 + i);
	return k;
}

/* "1 2 3 ", with `run` before the `at`-th read. */
static const char *follow(struct kmemory *k, uint64_t at, void (*run)(struct kmemory *k))
{
	static char text[256];
	struct links l = { .v = kmembers(k), .offset = T_TASKS };
	struct atw_err err = { 0 };
	uint64_t t;
	size_t n = 0;
	int r;

	text[0] = 0;
	event.at = at;
	event.run = run;
	links_begin(&l, KBASE + HEAD);
	while ((r = links_next(&l, &t, &err)) == ATW_OK && n < 200)
		if (links_hold(&l))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%d ",
					      (int)((t - KBASE - TASKS) / T_SIZE));
	if (r < 0)
		snprintf(text + n, sizeof(text) - n, "%s", err.text);
	links_deinit(&l);
	return text;
}

TEST(one_that_holds_still)
{
	struct kmemory *k = machine(4);

	CHECK_STR(follow(k, 0, NULL), "1 2 3 4 ");
	kmemory_free(k);
	k = machine(0);
	CHECK_STR(follow(k, 0, NULL), "");
	kmemory_free(k);
}

static void remove_2(struct kmemory *k) { list_del(k, 2); }
static void remove_2_and_3(struct kmemory *k) { list_del(k, 2); list_del(k, 3); }

static void remove_all_but_4(struct kmemory *k)
{
	for (unsigned i = 1; i < 4; i++)
		list_del(k, i);
}

/* The memory of 2 is another task's, at the end of the list. */
static void reuse_2(struct kmemory *k)
{
	list_del(k, 2);
	list_add_tail(k, 2, 9999);
}

/* Whenever it happens: those that stay are met once, and in their order. */
TEST(tasks_go_at_any_moment)
{
	static const struct {
		void (*run)(struct kmemory *k);
		const char *without;     /* at the beginning */
	} events[] = {
		{ remove_2, "1 3 4 " }, { remove_2_and_3, "1 4 " }, { remove_all_but_4, "4 " },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		for (uint64_t at = 0; at < 60; at++) {
			struct kmemory *k = machine(4);
			const char *text = follow(k, at, events[i].run);
			bool before = at < 2;

			/* All processes that lived throughout. */
			CHECK(strstr(text, "4 ") && !strstr(strstr(text, "4 ") + 1, "4 "));
			CHECK(i == 2 || !strncmp(text, "1 ", 2));
			CHECK(i || strstr(text, "3 "));
			/* No process twice, and none out of order. */
			for (const char *s = text; *s && s[2]; s += 2)
				CHECK(s[2] > s[0]);
			if (before)
				CHECK_STR(text, events[i].without);
			kmemory_free(k);
		}
}

TEST(memory_of_one_becomes_another)
{
	for (uint64_t at = 0; at < 60; at++) {
		struct kmemory *k = machine(4);
		const char *text = follow(k, at, reuse_2);

		/* Never from 2, which is the last by then, to the end. */
		CHECK(strstr(text, "3 4 "));
		CHECK(!strncmp(text, "1 ", 2));
		kmemory_free(k);
	}
}

static void break_3(struct kmemory *k) { kput64(k, link(3) + 8, 12345); }

TEST(one_that_is_broken_ends)
{
	struct kmemory *k = machine(4);
	const char *text = follow(k, 0, break_3);

	CHECK(strstr(text, "does not hold still, or is broken"));
	kmemory_free(k);
}

TEST(what_a_task_said_before_it_went_is_forgotten)
{
	struct kmemory *k = machine(4);
	struct lnx_tasks *tasks;
	struct lnx_task t;
	char text[64] = "";
	size_t n = 0;

	CHECK_EQ(tasks_open_at(kmembers(k), KBASE + HEAD - T_TASKS, &tasks, NULL), ATW_OK);
	CHECK_EQ(lnx_tasks_next(tasks, &t, NULL), ATW_OK);
	CHECK_EQ(t.start, 1001);
	/* While 2's members are read it goes, and comes again as another. */
	event.at = 6;
	event.run = reuse_2;
	while (lnx_tasks_next(tasks, &t, NULL) != ATW_END && n < 50)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u@%d ", t.pid, (int)t.start);
	lnx_tasks_close(tasks);
	CHECK_STR(text, "3@1003 4@1004 2@9999 ");
	kmemory_free(k);
}
