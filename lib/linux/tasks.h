/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.h - iterator over the list of tasks. */
#pragma once

#include "linux/process.h"
#include "linux/kernel.h"

/* The list headed by init_task, read through `v`. */
int tasks_open_at(struct members v, uint64_t init_task, struct lnx_tasks **ret,
		  struct atw_err *err);
/* Processes only: their threads are read only if the leader has no memory. */
void tasks_leaders(struct lnx_tasks *t);
/* Task 0, the head of the list: init_task itself, idle on CPU 0. */
int tasks_idle(struct atw_kernel *k, struct lnx_task *ret, struct atw_err *err);
/* The state letter of /proc: fs/proc/array.c, get_task_state(). Pure. */
char task_state_letter(uint64_t state, uint32_t exit_state);

/* ---- links.c: iterator over a list of tasks of a running kernel ---- */

/*
 * The kernel appends to the list and removes anywhere, and a removed task may soon be
 * another one, elsewhere in the list. So a task is identified by its address and start
 * time; if the current one has ended, the iterator steps back to the last that is still
 * in the list. The tasks behind that one have not been returned yet.
 */

struct task_link_mark {
	uint64_t link;
	uint64_t start;          /* of the task, from task_start() */
};

struct links {
	struct members v;
	uint64_t head;           /* not part of a task */
	uint32_t offset;         /* of the link in a task_struct */
	/* Tasks that were returned: the first n are the path to the current one. */
	struct task_link_mark *mark;
	size_t n, met, cap;
	unsigned tries;          /* attempts since the last one */
	struct kmem_list *list;  /* borrowed; NULL: tasks are read one by one */
	uint32_t first;          /* of a task_struct: where the list's part begins */
};

/* Set head and offset before; again for another list. */
static inline void links_begin(struct links *l, uint64_t head)
{
	l->head = head;
	l->n = l->met = 0;
	l->tries = 0;
}

/*
 * The next task, ATW_END, or an error: the list changed on every attempt, or is broken.
 */
int links_next(struct links *l, uint64_t *ret_task, struct atw_err *err);
/*
 * Is the task that was returned last unchanged? If not, what was read of it is invalid.
 */
bool links_hold(struct links *l);
void links_deinit(struct links *l);

/* Start time in ns; a less precise value if the kernel lacks the member. */
int task_start(const struct members *v, uint64_t task, uint64_t *ret);

/* ---- cpus.c: tasks that run on CPUs ---- */

/* The current task of a CPU: its TID, PID and name; 0 is idle. */
int cpu_task(struct atw_kernel *k, unsigned cpu, struct lnx_task *ret, struct atw_err *err);
/* x86: EFER as the kernel sets it when it starts CPUs: without LMA, which the CPU sets. */
bool kernel_started_efer(struct atw_kernel *k, uint64_t *ret);

/* ---- mm.c: page tables of tasks, and detection of their isolation ---- */

/*
 * As atw_mm_of(), but whether they are still in use is not found out: mmu_spaces_live()
 * does that for many tasks at once. An error may mean that the task has ended.
 */
int mm_of_listed(struct atw_kernel *k, const struct lnx_task *t, struct atw_mm *ret,
		 struct atw_err *err);

/*
 * For x86: is the page behind the root table `kernel` the root table of user mode? Both
 * have 512 words; `swapper` is what follows the kernel's own root, or NULL. Pure.
 */
bool mm_is_user_copy(const void *kernel, const void *user, const void *swapper);

/*
 * Page-table isolation of x86, from the kernel's own root: 1 on, 0 off, less than 0: its
 * tables are missing, or it is another architecture.
 */
int mm_kernel_isolated(const struct atw_kernel *k);
