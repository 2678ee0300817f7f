/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_task.h - lookup of page tables by PID. */
#pragma once

#include "format/btf.h"
#include "host/bpf.h"

/* Required members, from the kernel's BTF. */
struct bpf_types {
	uint32_t task_mm, task_flags, task_tasks, task_tgid, task_leader;
	uint32_t mm_pgd;
	uint32_t task_real_parent;
	uint32_t task_signal, task_thread_node, signal_thread_head;
	/* BTF ids of functions that programs may call; 0: not in this kernel. */
	uint32_t task_from_vpid, task_from_pid, task_release;
};

int bpf_types_find(const struct btf *b, struct bpf_types *ret, struct atw_err *err);
/* What that looks for, as one text. */
const char *bpf_types_names(void);

/* Method of finding tasks; LIVE_TASK_AUTO is replaced at the first use. */
enum bpf_task_way { LIVE_TASK_AUTO, LIVE_TASK_KFUNC, LIVE_TASK_LIST };

struct bpf_tasks {
	struct host_bpf *bpf;    /* borrowed */
	struct bpf_types types;
	enum bpf_task_way way;
	int prog;                /* LIVE_TASK_KFUNC */
	bool from_vpid;          /* prog uses PIDs of our own PID namespace */
};

void bpf_tasks_close(struct bpf_tasks *t);

/*
 * Virtual address of the mm_struct of process `pid`, a number in our PID namespace.
 * ATW_E_MISSING: no such process, or it has no address space of its own.
 */
int bpf_task_mm(struct bpf_tasks *t, uint64_t pid, uint64_t *ret, struct atw_err *err);
/* Virtual address of the first task, the one that is its own parent. */
int bpf_init_task(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err);
/* mm_struct of the calling process, found without a search; and its root table. */
int bpf_own_mm(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err);
int bpf_own_pgd(struct bpf_tasks *t, uint64_t *ret, struct atw_err *err);
