/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_task.h - lookup of page tables by PID. */
#ifndef SOURCE_LIVE_TASK_H
#define SOURCE_LIVE_TASK_H

#include "format/btf.h"
#include "source/live_bpf.h"

/* What of the kernel's types is needed, out of its BTF. */
struct live_types {
	uint32_t task_mm, task_flags, task_tasks, task_tgid, task_leader;
	uint32_t mm_pgd;
	uint32_t task_real_parent;
	uint32_t task_signal, task_thread_node, signal_thread_head;
	/* BTF ids of functions programs may call; 0: this kernel has none. */
	uint32_t task_from_vpid, task_from_pid, task_release;
};

int live_types_find(const struct btf *b, struct live_types *ret, struct atw_err *err);

/* How tasks are found; LIVE_TASK_AUTO is settled at the first question. */
enum live_task_way { LIVE_TASK_AUTO, LIVE_TASK_KFUNC, LIVE_TASK_LIST };

struct live_tasks {
	struct live_bpf *bpf;    /* borrowed */
	struct live_types types;
	enum live_task_way way;
	int prog;                /* LIVE_TASK_KFUNC */
	bool from_vpid;          /* prog speaks of our own PID namespace */
};

void live_tasks_close(struct live_tasks *t);

/*
 * Virtual address of the mm_struct of process `pid`, a number as we see it.
 * ATW_E_MISSING: no such process, or it has no address space of its own.
 */
int live_task_mm(struct live_tasks *t, uint64_t pid, uint64_t *ret,
		 struct atw_err *err);
/* Virtual address of the first task, the one that is its own parent. */
int live_init_task(struct live_tasks *t, uint64_t *ret, struct atw_err *err);
/* mm_struct of the calling process, found without a search; and its top table. */
int live_own_mm(struct live_tasks *t, uint64_t *ret, struct atw_err *err);
int live_own_pgd(struct live_tasks *t, uint64_t *ret, struct atw_err *err);

#endif
