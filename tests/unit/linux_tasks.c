/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks are listed in order with their facts, and a broken list is reported. */
#include "linux/process.h"

#include "linux/tasks.h"
#include "kernel_memory.h"
#include "test.h"

/* Tasks lie T_SIZE apart, signals behind them; 0 is init_task. */
enum { TASKS = 0x1000, SIGNALS = 0x8000 };

static uint64_t task(unsigned i) { return TASKS + i * T_SIZE; }
static uint64_t sig(unsigned i) { return SIGNALS + i * 64u; }

static void link_lists(struct kmemory *k, const uint64_t *link, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		kpoint(k, link[i], link[(i + 1) % n]);
		kpoint(k, link[(i + 1) % n] + 8, link[i]);
	}
}

static void number(struct kmemory *k, unsigned i, uint32_t pid, uint32_t tgid,
		   const char *name)
{
	kput(k, task(i) + T_PID, pid, 4);
	kput(k, task(i) + T_TGID, tgid, 4);
	kpoint(k, task(i) + T_PARENT, task(0));
	ktext(k, task(i) + T_COMM, name);
}

/* init_task; 1; 2, a kernel thread; 7 with threads 8 and 9. */
static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();
	uint64_t leaders[4], threads[4];

	ktask_layout(k);
	number(k, 0, 0, 0, "swapper/0");
	number(k, 1, 1, 1, "init");
	number(k, 2, 2, 2, "kthreadd");
	number(k, 3, 7, 7, "seven");
	number(k, 4, 8, 7, "eight");
	number(k, 5, 9, 7, "nine");
	kput(k, task(1) + T_STATE, 1, 4);
	kput(k, task(2) + T_STATE, 0x402, 4);
	kput(k, task(2) + T_FLAGS, 0x00200040, 4);
	kpoint(k, task(3) + T_PARENT, task(1));
	kput64(k, task(3) + T_MM, 0xffff888012345680);
	for (unsigned i = 0; i < 4; i++) {
		leaders[i] = task(i) + T_TASKS;
		kpoint(k, task(i) + T_SIGNAL, sig(i));
		threads[0] = sig(i) + SIG_HEAD;
		threads[1] = task(i) + T_NODE;
		link_lists(k, threads, 2);
	}
	link_lists(k, leaders, 4);
	/* exec(2) leaves a leader that is not the first of its threads. */
	threads[0] = sig(3) + SIG_HEAD;
	threads[1] = task(4) + T_NODE;
	threads[2] = task(3) + T_NODE;
	threads[3] = task(5) + T_NODE;
	link_lists(k, threads, 4);
	return k;
}

struct seen {
	char text[256];          /* "1 2 7+8+9 " */
	struct lnx_task t[16];
	unsigned n, errors;
	struct atw_err err;      /* the first */
};

static void some(struct kmemory *k, struct seen *s, bool leaders)
{
	struct atw_err err = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r = tasks_open_at(kmembers(k), KBASE + task(0), &tasks, &s->err);

	memset(s, 0, sizeof(*s));
	if (r < 0)
		return;
	if (leaders)
		tasks_leaders(tasks);
	while ((r = lnx_tasks_next(tasks, &t, &err)) != ATW_END && s->n + s->errors < 40) {
		size_t len = strlen(s->text);

		if (r < 0) {
			if (!s->errors++)
				s->err = err;
			continue;
		}
		if (s->n < 16)
			s->t[s->n++] = t;
		if (len < 240)
			snprintf(s->text + len, sizeof(s->text) - len, "%s%u",
				 t.leader ? " " : "+", t.pid);
	}
	lnx_tasks_close(tasks);
}

static void all(struct kmemory *k, struct seen *s)
{
	some(k, s, false);
}

TEST(leaders_and_their_threads)
{
	struct kmemory *k = machine();
	struct seen s;

	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8+9");
	CHECK_EQ(s.errors, 0);
	CHECK_STR(s.t[0].name, "init");
	CHECK_EQ(s.t[0].state, 'S');
	CHECK(!s.t[0].kernel && s.t[0].leader);
	CHECK_EQ(s.t[1].state, 'I');
	CHECK(s.t[1].kernel);
	CHECK_EQ(s.t[2].ppid, 1);
	CHECK(s.t[2].has_ppid && s.t[0].has_ppid);
	CHECK_EQ(s.t[2].mm, 0xffff888012345680);
	CHECK_EQ(s.t[2].at, KBASE + task(3));
	CHECK_EQ(s.t[4].tgid, 7);
	CHECK(!s.t[4].leader);
	kmemory_free(k);
}

/* Its main thread called pthread_exit(3): of 7, 8, and 9 the last alone has memory. */
TEST(a_process_goes_on_without_its_main_thread)
{
	struct kmemory *k = machine();
	struct seen s;

	kput64(k, task(3) + T_MM, 0);
	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8+9");
	CHECK_EQ(s.t[2].mm, 0);
	CHECK(!s.t[2].by_thread);
	kput64(k, task(5) + T_MM, 0xffff888012345680);
	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8+9");
	CHECK_EQ(s.errors, 0);
	CHECK_EQ(s.t[2].pid, 7);
	CHECK_EQ(s.t[2].mm, 0xffff888012345680);
	CHECK(s.t[2].by_thread);
	CHECK_STR(s.t[2].name, "seven");
	CHECK_EQ(s.t[3].mm, 0);
	CHECK(!s.t[4].by_thread);
	/* A thread of the kernel's has a process's for a while at most. */
	kput(k, task(3) + T_FLAGS, 0x00200000, 4);
	all(k, &s);
	CHECK_EQ(s.t[2].mm, 0);
	kmemory_free(k);
}

TEST(leaders_alone)
{
	struct kmemory *k = machine();
	struct seen s;

	some(k, &s, true);
	CHECK_STR(s.text, " 1 2 7");
	CHECK_EQ(s.t[2].mm, 0xffff888012345680);
	/* Threads are asked for the memory that a leader no longer has. */
	kput64(k, task(3) + T_MM, 0);
	kput64(k, task(5) + T_MM, 0xffff888012345680);
	some(k, &s, true);
	CHECK_STR(s.text, " 1 2 7");
	CHECK_EQ(s.t[2].mm, 0xffff888012345680);
	CHECK(s.t[2].by_thread);
	kmemory_free(k);
}

TEST(of_a_parent_that_is_not_there_nothing_is_known)
{
	struct kmemory *k = machine();
	struct seen s;

	kput64(k, task(3) + T_PARENT, 0xffff888055550000);
	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8+9");
	CHECK(!s.t[2].has_ppid && s.t[3].has_ppid);
	kmemory_free(k);
}

TEST(letters_of_states)
{
	static const struct { uint64_t state; uint32_t exit; char letter; } want[] = {
		{ 0, 0, 'R' }, { 1, 0, 'S' }, { 2, 0, 'D' }, { 0x102, 0, 'D' },
		{ 0x104, 0, 'T' }, { 0x108, 0, 't' }, { 0x80, 0x10, 'X' },
		{ 0x80, 0x20, 'Z' }, { 0x40, 0, 'P' }, { 0x402, 0, 'I' },
		{ 0x2402, 0, 'I' },      /* and freezable */
		{ 0x2001, 0, 'S' }, { 0x1000, 0, 'D' }, { 0x8000, 0, 'D' },
		{ 0x200, 0, 'R' },       /* woken, not yet on a queue */
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CHECK_EQ(task_state_letter(want[i].state, want[i].exit), want[i].letter);
}

TEST(old_state_is_wider)
{
	struct kmemory *k = machine();
	struct seen s;

	/* 5.10: long, and then the flags are elsewhere. */
	kset(k, N_task_state, T_STATE, 8);
	kset(k, N_task_flags, T_SIZE - 8, 4);
	kput64(k, task(1) + T_STATE, 2);
	all(k, &s);
	CHECK_EQ(s.t[0].state, 'D');
	k->n.member[N_task_state] = NEED_NONE;
	all(k, &s);
	CHECK_EQ(s.t[0].state, '?');
	kmemory_free(k);
}

TEST(a_break_is_gone_round)
{
	struct kmemory *k = machine();
	struct seen s;

	/* Behind 1 the list leads to where no memory is. */
	kput64(k, task(1) + T_TASKS, KBASE + KSIZE + 64);
	all(k, &s);
	CHECK_STR(s.text, " 1 7+8+9 2");
	CHECK_EQ(s.errors, 1);
	CHECK_EQ(s.err.status, ATW_E_MISSING);
	CHECK(strstr(s.err.text, "broken at the task at 0xffff888000001060"));
	kmemory_free(k);
}

TEST(a_link_must_lead_back)
{
	struct kmemory *k = machine();
	struct seen s;

	/* A circle that leaves out init_task: 2 leads to 1. */
	kpoint(k, task(2) + T_TASKS, task(1) + T_TASKS);
	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8+9");
	CHECK_EQ(s.err.status, ATW_E_DAMAGED);
	kmemory_free(k);

	k = machine();
	kpoint(k, task(1) + T_TASKS, task(1) + T_TASKS);
	kpoint(k, task(3) + T_TASKS + 8, task(3) + T_TASKS);
	all(k, &s);                      /* nothing in between can be had */
	CHECK_STR(s.text, " 1 7+8+9");
	CHECK_EQ(s.errors, 2);
	kmemory_free(k);
}

TEST(nothing_at_all)
{
	struct kmemory *k = machine();
	struct seen s;

	k->hole_at = task(0);
	k->hole_len = T_SIZE;
	all(k, &s);
	CHECK_STR(s.text, "");
	CHECK(s.errors);
	k->hole_len = 0;
	kpoint(k, task(0) + T_TASKS, task(0) + T_TASKS);
	kpoint(k, task(0) + T_TASKS + 8, task(0) + T_TASKS);
	all(k, &s);
	CHECK_EQ(s.n + s.errors, 0);
	kmemory_free(k);
}

TEST(threads_that_are_broken)
{
	struct kmemory *k = machine();
	struct seen s;

	kput64(k, task(4) + T_NODE, 0);
	all(k, &s);
	CHECK_STR(s.text, " 1 2 7+8");
	CHECK_EQ(s.errors, 1);
	CHECK(strstr(s.err.text, "threads of process 7"));
	kmemory_free(k);

	/* The threads of another process. */
	k = machine();
	kpoint(k, task(1) + T_SIGNAL, sig(3));
	all(k, &s);
	CHECK_EQ(s.err.status, ATW_E_DAMAGED);
	CHECK_EQ(s.t[0].pid, 1);
	kmemory_free(k);
}

TEST(numbers_that_cannot_be)
{
	static const uint32_t bad[] = { 0, 4 * 1024 * 1024 + 1, UINT32_MAX };
	struct kmemory *k = machine();
	struct seen s;

	for (size_t i = 0; i < 3; i++) {
		kput(k, task(2) + T_PID, bad[i], 4);
		all(k, &s);
		CHECK_STR(s.text, " 1 7+8+9");
		CHECK_EQ(s.err.status, ATW_E_DAMAGED);
	}
	kmemory_free(k);
}

TEST(a_kernel_without_the_types)
{
	struct kmemory *k = machine();
	struct lnx_tasks *t;
	struct atw_err err = { 0 };

	k->n.member[N_task_tgid] = NEED_NONE;
	CHECK_EQ(tasks_open_at(kmembers(k), KBASE + task(0), &t, &err), ATW_E_UNSUPPORTED);
	CHECK(strstr(err.text, "task_struct.tgid"));
	kmemory_free(k);
}
