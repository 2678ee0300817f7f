/* SPDX-License-Identifier: GPL-2.0-or-later */
/* task_list.h - cursor over the tasks of a target; TARGET_TASKS. */
#ifndef TARGET_TASK_LIST_H
#define TARGET_TASK_LIST_H

#include "target/target.h"

enum target_task_has {
	TASK_TGID = 1,
	TASK_PPID = 2,
	TASK_STATE = 4,
	TASK_AT = 8,
	TASK_KIND = 16, /* `kernel` is known */
};

struct target_task {
	struct lnx_task task; /* mm 0: none, or not known */
	uint32_t have;        /* TASK_...: which members are known */
};

/* Several may be open at once. */
struct target_tasks {
	struct target *target;
	struct lnx_tasks *walk; /* of memory */
	size_t at;              /* of a capture */
};

int target_tasks_open(struct target *t, struct target_tasks *ret, struct atw_err *err);
/*
 * ATW_END after the last. After any other failure but ATW_E_LIMIT the cursor goes on
 * behind what could not be read.
 */
int target_tasks_next(struct target_tasks *c, struct target_task *ret,
		      struct atw_err *err);
void target_tasks_close(struct target_tasks *c);

#endif
