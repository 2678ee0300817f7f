/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.h - iterator over the list of tasks. */
#ifndef LINUX_TASKS_H
#define LINUX_TASKS_H

#include "linux/process.h"

#include "linux/members.h"

/* The list headed by init_task, read through `v`. */
int tasks_open_at(struct members v, uint64_t init_task, struct lnx_tasks **ret,
		  struct atw_err *err);
/* Processes only: their threads are read only if the leader has no memory. */
void tasks_leaders(struct lnx_tasks *t);
/* Task 0, the head of the list: init_task itself, idle on CPU 0. */
int tasks_idle(struct atw_kernel *k, struct lnx_task *ret, struct atw_err *err);
/* The state letter of /proc: fs/proc/array.c, get_task_state(). Pure. */
char task_state_letter(uint64_t state, uint32_t exit_state);

#endif
