/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/stat is parsed whatever the name holds, and
 * missing differs from forbidden.
 */
#include "target/procfs.h"
#include "target/procfs_tasks.h"

#include <sys/resource.h>
#include <unistd.h>

#include "test.h"

static int parse(const char *text, struct proc_stat *ret)
{
	return proc_stat_parse((struct atw_blob){ text, strlen(text) }, ret);
}

TEST(names_may_hold_anything)
{
	struct proc_stat st;

	CHECK_EQ(parse("12 (a) S (b c) S 1 12 12 0 -1 4194560 1 2 3", &st), ATW_OK);
	CHECK_STR(st.name, "a) S (b c");
	CHECK(!st.kernel);
	CHECK_EQ(st.start, 0);
	CHECK_EQ(parse("7 (a) S 1 7 7 0 -1 0 10 11 12 13 14 15 16 17 18 19 20 21 2233 24", &st), ATW_OK);
	CHECK_EQ(st.start, 2233);
	CHECK_EQ(parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0", &st), ATW_OK);
	CHECK(st.kernel);
	CHECK_EQ(parse("9 (x) Z 1 9 9 0 -1 4 0", &st), ATW_OK);
	CHECK(st.kernel);
	CHECK(!st.headless);
	/* The main thread has ended: of three threads, and of one. */
	CHECK_EQ(parse("9 (x) Z 1 9 9 0 -1 4 1 2 3 4 5 6 7 8 20 0 3 0 2233 24", &st), ATW_OK);
	CHECK(st.kernel && st.headless);
	CHECK_EQ(st.start, 2233);
	CHECK_EQ(parse("9 (x) Z 1 9 9 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 2233 24", &st), ATW_OK);
	CHECK(st.kernel && !st.headless);
	CHECK_EQ(parse("9 (x) S 1 9 9 0 -1 0 1 2 3 4 5 6 7 8 20 0 3 0 2233 24", &st), ATW_OK);
	CHECK(!st.kernel && !st.headless);
	/* kworkers have longer ones */
	CHECK_EQ(parse("9 (kworker/R-long-name-of-one) I 2 0 0 0 -1 69238880 0", &st), ATW_OK);
	CHECK_STR(st.name, "kworker/R-long-n");
}

static int parse_task(const char *text, uint32_t tgid, struct target_task *ret)
{
	return procfs_tasks_parse((struct atw_blob){ text, strlen(text) }, tgid, 100, ret);
}

TEST(tasks_are_what_their_stat_has)
{
	struct target_task t = { 0 };

	CHECK_EQ(parse_task("13 (a) S (b c) D 5 12 12 0 -1 0 1 2 3 4 5 6 7 8 20 0 3 0 2233 24", 12, &t),
		 ATW_OK);
	CHECK_EQ(t.have, TASK_TGID | TASK_PPID | TASK_STATE | TASK_KIND);
	CHECK_EQ(t.task.pid, 13);
	CHECK_EQ(t.task.tgid, 12);
	CHECK_EQ(t.task.ppid, 5);
	CHECK_EQ(t.task.state, 'D');
	CHECK_EQ(t.task.start, UINT64_C(22330000000));
	CHECK(!t.task.leader && !t.task.kernel && t.task.has_ppid);
	CHECK_STR(t.task.name, "a) S (b c");
	/* What a worker works on stands behind its name. */
	CHECK_EQ(parse_task("3 (kworker/R-rcu_gp) I 2 0 0 0 -1 2129984 0", 3, &t), ATW_OK);
	CHECK(t.task.leader && t.task.kernel);
	CHECK_STR(t.task.name, "kworker/R-rcu_g");
	CHECK_EQ(t.task.start, 0);
	CHECK_EQ(parse_task("", 3, &t), ATW_E_FORMAT);
	CHECK_EQ(parse_task("3 (x) S", 3, &t), ATW_E_FORMAT);
	CHECK_EQ(parse_task("x (x) S 1 2 3 4 5 6 7", 3, &t), ATW_E_FORMAT);
	CHECK_EQ(parse_task("4294967296 (x) S 1 2 3 4 5 6 7", 3, &t), ATW_E_FORMAT);
	CHECK_EQ(parse_task("3 (x) S 4294967296 2 3 4 5 6 7", 3, &t), ATW_E_FORMAT);
	CHECK_EQ(t.task.pid, 3);
}

TEST(what_is_no_stat)
{
	static const char *const bad[] = {
		"", "1", "1 (", "1 )(", "1 (a)", "1 (a) S", "1 (a) S 1 2 3 4 5",
		"1 (a) S 1 2 3 4 5 6", "1 (a) S 1 2 3 4 5 x 7",
	};
	struct proc_stat st;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &st) != ATW_E_FORMAT)
			TEST_FAIL("'%s' is one", bad[i]);
}

TEST(ourselves)
{
	struct proc_stat st;
	uint32_t tgid;

	CHECK_EQ(proc_stat((uint32_t)getpid(), &st, NULL), ATW_OK);
	CHECK(!st.kernel);
	CHECK_EQ(st.thread, getpid());
	CHECK_EQ(proc_tgid((uint32_t)gettid(), &tgid, NULL), ATW_OK);
	CHECK_EQ(tgid, getpid());
	CHECK_EQ(proc_allowed((uint32_t)getpid(), NULL), ATW_OK);
	CHECK_EQ(proc_stat(UINT32_MAX, &st, NULL), ATW_E_NONE);
}

/* Without a free file descriptor nothing is known about any process. */
TEST(what_cannot_be_asked_is_not_missing)
{
	struct atw_err err = { 0 };
	struct rlimit old, none;
	struct proc_stat st;
	uint32_t tgid;

	CHECK(!getrlimit(RLIMIT_NOFILE, &old));
	none = (struct rlimit){ 0, old.rlim_max };
	CHECK(!setrlimit(RLIMIT_NOFILE, &none));
	CHECK_EQ(proc_tgid((uint32_t)getpid(), &tgid, &err), ATW_E_IO);
	CHECK(strstr(err.text, "Too many open files"));
	CHECK_EQ(proc_stat((uint32_t)getpid(), &st, &err), ATW_E_IO);
	CHECK(!setrlimit(RLIMIT_NOFILE, &old));
	CHECK_EQ(proc_tgid(4194305, &tgid, &err), ATW_E_NONE);
	CHECK_STR(err.text, "there is no process 4194305");
}
