// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpus.c - current task and page tables of each CPU, from kernel memory.
 *
 * Every task has the number of its last CPU. The run queue, a per-CPU variable, has the
 * CPU's current task; types or symbols give the offsets of other per-CPU variables. On
 * x86 one of them, cpu_tlbstate, has the loaded address space: arch/x86/mm/tlb.c.
 */
#include <inttypes.h>

#include "linux/kernel.h"
#include "linux/tasks.h"

enum {
	SWITCHING = 1,           /* LOADED_MM_SWITCHING: temporarily unknown */
	TRIES = 64,
	CR4_PCIDE = 1 << 17,
};

static int cpus_find_queue(struct atw_kernel *k, const struct members *v, unsigned cpu,
			   uint64_t *ret, struct atw_err *err)
{
	uint64_t queue, of, most = 0;
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r = lnx_tasks_open(k, &tasks, err);

	if (r < 0)
		return r;
	/* If a task is unreadable, the next may have the value. */
	while ((r = lnx_tasks_next(tasks, &t, err)) != ATW_END && r != ATW_E_LIMIT) {
		if (r < 0 || member_get(v, t.at, N_task_cfs_rq, &queue, NULL) < 0 ||
		    member_get(v, queue, N_cfs_rq_rq, &queue, NULL) < 0 ||
		    member_get(v, queue, N_rq_cpu, &of, NULL) < 0)
			continue;
		if (of == cpu)
			break;
		most = of > most ? of : most;
	}
	lnx_tasks_close(tasks);
	if (r != ATW_OK)
		return atw_err_set(err, ATW_E_MISSING,
				   "no task was on CPU %u; the highest one is CPU %" PRIu64, cpu, most);
	*ret = queue;
	return ATW_OK;
}

/* The address of another per-CPU variable of the same CPU. */
static int cpus_beside(struct atw_kernel *k, uint64_t queue, const char *name,
		       uint64_t *ret)
{
	const struct btf *b;
	uint32_t from, to;
	uint64_t at, other;

	if (kernel_btf(k, &b, NULL) == ATW_OK && btf_variable(b, "runqueues", &from) == ATW_OK &&
	    btf_variable(b, name, &to) == ATW_OK)
		*ret = queue - from + to;
	else if (kernel_symbol(k, "runqueues", &at, NULL) == ATW_OK &&
		 kernel_symbol(k, name, &other, NULL) == ATW_OK)
		*ret = queue - at + other;
	else
		return ATW_E_MISSING;
	return ATW_OK;
}

static int cpus_loaded(struct atw_kernel *k, const struct members *v, uint64_t queue,
		       struct atw_cpu *ret)
{
	uint64_t at = 0, mm = SWITCHING, asid = 0, cr4 = 0;

	if (cpus_beside(k, queue, "cpu_tlbstate", &at) < 0 || !member_have(v, N_tlb_asid))
		return ATW_E_MISSING;
	for (unsigned i = 0; i < TRIES && mm == SWITCHING; i++)
		if (member_get(v, at, N_tlb_loaded_mm, &mm, NULL) < 0 ||
		    member_get(v, at, N_tlb_asid, &asid, NULL) < 0 ||
		    member_get(v, at, N_tlb_cr4, &cr4, NULL) < 0)
			return ATW_E_MISSING;
	if (mm <= SWITCHING || atw_mm_open(k, mm, &ret->tables, NULL) < 0)
		return ATW_E_MISSING;
	ret->mm = mm;
	ret->cr4 = cr4;
	/* build_cr3(), kern_pcid() */
	ret->cr3 = ret->tables.root.u | (cr4 & CR4_PCIDE ? asid + 1 : 0);
	return ATW_OK;
}

int atw_cpu_of(struct atw_kernel *k, unsigned cpu, struct atw_cpu *ret, struct atw_err *err)
{
	struct members v = { 0 };
	struct atw_cpu c = { .mm = 0 };
	uint64_t queue = 0, task = 0;
	int r = kernel_access(k, FOR_CPUS, &v, err) ?:
		cpus_find_queue(k, &v, cpu, &queue, err);

	if (r == ATW_OK && cpus_loaded(k, &v, queue, &c) < 0)
		r = member_get(&v, queue, N_rq_curr, &task, err) ?:
		    member_get(&v, task, N_task_active_mm, &c.mm, err) ?:
		    atw_mm_open(k, c.mm, &c.tables, err);
	if (r == ATW_OK)
		*ret = c;
	return r;
}

int cpu_task(struct atw_kernel *k, unsigned cpu, struct lnx_task *ret, struct atw_err *err)
{
	struct members v = { 0 };
	struct lnx_task t = { .at = 0 };
	uint64_t queue = 0, pid = 0, tgid = 0;
	int r = kernel_access(k, FOR_CPUS, &v, err) ?:
		cpus_find_queue(k, &v, cpu, &queue, err) ?:
		member_get(&v, queue, N_rq_curr, &t.at, err) ?:
		member_get(&v, t.at, N_task_pid, &pid, err) ?:
		member_get(&v, t.at, N_task_tgid, &tgid, err) ?:
		kmem_text(v.m, t.at + v.n->member[N_task_comm], t.name, sizeof(t.name),
			  err);

	if (r < 0)
		return r;
	t.pid = (uint32_t)pid;
	t.tgid = (uint32_t)tgid;
	*ret = t;
	return ATW_OK;
}

bool kernel_started_efer(struct atw_kernel *k, uint64_t *ret)
{
	const struct needs *n = kernel_needs(k);
	uint64_t header;
	uint8_t b[8];
	uint32_t at;
	struct kmem *m;
	atw_pa pa;

	if (!n->types || !n->symbol[Y_real_mode] || n->member[N_real_trampoline] == NEED_NONE ||
	    n->member[N_trampoline_efer] == NEED_NONE || kernel_kmem(k, &m, NULL) < 0 ||
	    kmem_u64(m, n->symbol[Y_real_mode], &header, NULL) < 0 || !header ||
	    kmem_u32(m, header + n->member[N_real_trampoline], &at, NULL) < 0 || !at)
		return false;
	pa = ATW_PA((uint64_t)at + n->member[N_trampoline_efer]);
	if (atw_read(k->mem, pa, b, sizeof(b), NULL) != sizeof(b) || !get_le64(b))
		return false;
	kmem_touch(m, pa, sizeof(b));
	*ret = get_le64(b);
	return true;
}
