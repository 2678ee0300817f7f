/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The task and the page tables of a CPU are found through the run queue of any task, and
 * init_task, the first one, by its name and its links where no symbol names it.
 */
#include "linux/tasks.h"

#include "linux/process.h"

#include "kernel_memory.h"
#include "test.h"

/* swapper/0, 1 and 2 lie T_SPACE apart; run queues behind them. */
enum {
	TASKS = 0x1000, T_SPACE = 0x100, T_CFS = 0xa0, T_ACTIVE = 0xa8,
	CFS = 0x4000, CFS_SPACE = 0x20, CFS_RQ = 8,
	QUEUES = 0x5000, RQ_SPACE = 0x40, RQ_CPU = 0, RQ_CURR = 8,
	MM = 0x6000, MM_PGD = 8, PGD = 0x7000,
};

static uint64_t task(unsigned i) { return TASKS + i * T_SPACE; }

static void one(struct kmemory *k, unsigned i, const char *name, unsigned queue)
{
	uint64_t next = task((i + 1) % 3) + T_TASKS;

	ktext(k, task(i) + T_COMM, name);
	kput(k, task(i) + T_PID, i, 4);
	kput(k, task(i) + T_TGID, i, 4);
	kpoint(k, task(i) + T_TASKS, next);
	kpoint(k, next + 8, task(i) + T_TASKS);
	kpoint(k, task(i) + T_CFS, CFS + queue * CFS_SPACE);
}

/* CPU 0 idles; on CPU 5 is task 2, and task 1 was. */
static struct kmemory *machine(void)
{
	struct kmemory *k = kmemory_new();

	ktask_layout(k);
	kset(k, N_task_cfs_rq, T_CFS, 8);
	kset(k, N_cfs_rq_rq, CFS_RQ, 8);
	kset(k, N_rq_cpu, RQ_CPU, 4);
	kset(k, N_rq_curr, RQ_CURR, 8);
	kset(k, N_task_active_mm, T_ACTIVE, 8);
	kset(k, N_mm_pgd, MM_PGD, 8);
	one(k, 0, "swapper/0", 0);
	one(k, 1, "init", 1);
	one(k, 2, "worker", 1);
	kpoint(k, CFS + CFS_RQ, QUEUES);
	kpoint(k, CFS + CFS_SPACE + CFS_RQ, QUEUES + RQ_SPACE);
	kpoint(k, QUEUES + RQ_CURR, task(0));
	kput(k, QUEUES + RQ_SPACE + RQ_CPU, 5, 4);
	kpoint(k, QUEUES + RQ_SPACE + RQ_CURR, task(2));
	kpoint(k, task(2) + T_ACTIVE, MM);
	kpoint(k, MM + MM_PGD, PGD);
	return k;
}

TEST(the_task_on_a_cpu)
{
	struct kmemory *k = machine();
	struct atw_kernel *kernel = kmemory_kernel(k);
	struct atw_err err = { 0 };
	struct lnx_task t;

	CHECK_EQ(cpu_task(kernel, 5, &t, &err), ATW_OK);
	CHECK_STR(err.text, "");
	CHECK_EQ(t.pid, 2);
	CHECK_EQ(t.tgid, 2);
	CHECK_EQ(t.at, KBASE + task(2));
	CHECK_STR(t.name, "worker");
	CHECK_EQ(cpu_task(kernel, 1, &t, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "no task was on CPU 1; the highest one is CPU 5");
	free(kernel);
	kmemory_free(k);
}

TEST(the_tables_on_a_cpu)
{
	struct kmemory *k = machine();
	struct atw_kernel *kernel = kmemory_kernel(k);
	struct atw_err err = { 0 };
	struct atw_cpu c = { 0 };

	CHECK_EQ(atw_cpu_of(kernel, 5, &c, &err), ATW_OK);
	CHECK_STR(err.text, "");
	CHECK_EQ(c.mm, KBASE + MM);
	CHECK_EQ(c.tables.root.u, PGD);
	CHECK_EQ(c.cr3, 0);
	/* Which of them it uses is not known there. */
	CHECK(atw_cpu_of(kernel, 0, &c, &err) < 0);
	CHECK_EQ(c.mm, KBASE + MM);
	CHECK_EQ(atw_cpu_of(NULL, 0, &c, &err), ATW_E_USAGE);
	kernel->needs.member[N_rq_curr] = UINT32_MAX;
	CHECK_EQ(atw_cpu_of(kernel, 5, &c, &err), ATW_E_UNSUPPORTED);
	CHECK_STR(err.text, "page tables of a CPU cannot be found: this kernel has no member rq.curr");
	free(kernel);
	kmemory_free(k);
}

static int init_task(struct kmemory *k, uint64_t *ret, struct atw_err *err)
{
	struct atw_kernel *kernel = kmemory_kernel(k);
	int r = kernel_init_task(kernel, ret, err);

	/* It is looked for once; what came of it is kept. */
	if (kernel_init_task(kernel, ret, NULL) != r)
		r = ATW_E_USAGE;
	free(kernel);
	return r;
}

TEST(init_task_by_name_and_links)
{
	struct kmemory *k = machine();
	struct atw_err err = { 0 };
	uint64_t at = 0;

	/* The name alone, ahead of it: no links, and links of another task. */
	ktext(k, 0x400 + T_COMM, "swapper/0");
	ktext(k, 0x800 + T_COMM, "swapper/0");
	kpoint(k, 0x800 + T_TASKS, task(1) + T_TASKS);
	kpoint(k, 0x800 + T_TASKS + 8, task(2) + T_TASKS);
	CHECK_EQ(init_task(k, &at, &err), ATW_OK);
	CHECK_EQ(at, KBASE + task(0));
	/* A machine with one CPU that cannot have more calls it so. */
	ktext(k, task(0) + T_COMM, "swapper");
	memset(k->bytes + task(0) + T_COMM + 8, 0, 8);
	at = 0;
	CHECK_EQ(init_task(k, &at, &err), ATW_OK);
	CHECK_EQ(at, KBASE + task(0));
	/* A list that does not lead back. */
	kpoint(k, task(1) + T_TASKS + 8, 0x800 + T_TASKS);
	CHECK_EQ(init_task(k, &at, &err), ATW_E_MISSING);
	CHECK_STR(err.text, "the first task (init_task) was not found: no symbol names it, and no task called swapper heads a list of tasks");
	k->n.symbol[Y_init_task] = 0x1234;
	CHECK_EQ(init_task(k, &at, &err), ATW_OK);
	CHECK_EQ(at, 0x1234);
	kmemory_free(k);
}
