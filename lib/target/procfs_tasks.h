/* SPDX-License-Identifier: GPL-2.0-or-later */
/* procfs_tasks.h - cursor over the tasks that /proc lists. */
#pragma once

#include "target/target.h"

struct procfs_tasks;

int procfs_tasks_open(struct procfs_tasks **ret, struct atw_err *err);
/*
 * Processes in the order of their numbers, each with its threads behind it. Those that
 * ended meanwhile are left out.
 */
int procfs_tasks_next(struct procfs_tasks *l, struct target_task *ret, struct atw_err *err);
/* NULL is accepted. */
void procfs_tasks_close(struct procfs_tasks *l);
/*
 * Pure: a task from the text of its file `stat`; `hz`: ticks a second. ATW_E_FORMAT: not
 * such a text.
 */
int procfs_tasks_parse(struct atw_blob text, uint32_t tgid, uint64_t hz,
		       struct target_task *ret);
