/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * init_task.c - search for init_task, the head of the list of tasks.
 *
 * Kernels without CONFIG_KALLSYMS_ALL have no symbols of data. But init_task is named
 * "swapper/0" or "swapper", and both links of its neighbours in the list of tasks contain
 * its virtual address.
 */

#include "linux/kernel.h"
#include "linux/search.h"

struct init_task_hunt {
	struct atw_kernel *k;
	struct kmem *m;
	const struct needs *n;
	uint64_t found;
};

/*
 * The link of the next task points back to this one. `at` is the physical address of the
 * task's name, so both links can be read there.
 */
static int init_task_on_name(void *arg, atw_pa at, struct search *s)
{
	struct init_task_hunt *h = arg;
	uint32_t comm = h->n->member[N_task_comm], tasks = h->n->member[N_task_tasks];
	char links[16];
	uint64_t next, prev, back, task;
	atw_pa pa;

	if (at.u < comm || search_read(s, ATW_PA(at.u - comm + tasks), links, 16) != 16)
		return 0;
	next = get_le64(links);
	prev = get_le64(links + 8);
	if (!next || kmem_u64(h->m, next + 8, &back, NULL) < 0)
		return 0;
	/*
	 * The first and the last link of the list point to the same address: this task's.
	 */
	if (kmem_u64(h->m, prev, &task, NULL) < 0 || task != back ||
	    kmem_physical(h->m, back, &pa, NULL) < 0 || pa.u != at.u - comm + tasks)
		return 0;
	h->found = back - tasks;
	return 1;
}

static int init_task_by_looks(struct init_task_hunt *h, struct atw_err *err)
{
	int r = needs_check(h->n, FOR_TASKS, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < SEARCH_FIRST_TASKS && !h->found; i++)
		search_kernel(h->k, search_first_task[i], SEARCH_COMM,
			      h->n->member[N_task_comm] % 8 ? 1 : 8, init_task_on_name,
			      h);
	return h->found ? ATW_OK :
		atw_err_set(err, ATW_E_MISSING,
			    "the first task (init_task) was not found: no symbol names it, and no task called swapper heads a list of tasks");
}

static int init_task_find(struct atw_kernel *k, struct atw_err *err)
{
	struct init_task_hunt h = {.k = k, .n = kernel_members(k)};
	int r = ATW_OK;

	if (atw_fact_u64(k->mem, "init_task", &h.found) < 0)
		h.found = kernel_needs(k)->symbol[Y_init_task];
	if (!h.found)
		r = kernel_kmem(k, &h.m, err);
	if (r == ATW_OK && !h.found)
		r = init_task_by_looks(&h, err);
	k->init_task = h.found;
	return r;
}

int kernel_init_task(struct atw_kernel *k, uint64_t *ret, struct atw_err *err)
{
	int r = sought_once(&k->sought_init, k, init_task_find, err);

	if (r == ATW_OK)
		*ret = k->init_task;
	return r;
}
