/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process.h - tasks, their address spaces and their VMAs from kernel structures.
 *
 * Needs no debug information: types come from the kernel's BTF, symbols from kallsyms.
 * Lists in hostile memory may loop: every iterator is bounded. Where it cannot continue,
 * it returns ATW_E_DAMAGED, _MISSING or another error once, and may be called again: it
 * returns what is still reachable, and finally ATW_END. Results before an error are
 * valid. ATW_E_LIMIT is final.
 */
#pragma once

#include "linux/linux.h"

struct lnx_task {
	uint64_t at;             /* virtual address of its task_struct */
	uint64_t mm;             /* address of its mm_struct: equal for tasks that
				  * share an address space; 0: it has none */
	uint64_t pgd;            /* of that, as read with the task; 0: not read yet */
	uint32_t pid, tgid, ppid;
	uint64_t start;          /* start time, ns since boot; 0: not known */
	char state;              /* as in /proc: R S D T t X Z P I; ? unknown */
	bool kernel;             /* a kernel thread */
	bool leader;             /* pid == tgid */
	bool has_ppid;           /* false: the parent could not be read */
	char name[17];           /* comm, terminated; any bytes */
	bool by_thread;          /* a leader that has ended: `mm` is that of its
				  * threads, which are still running */
};

struct lnx_tasks;
/*
 * Every task, threads after their leader, in the kernel's order, except for PID 0. Behind
 * a break in the list, from its end backwards.
 */
int lnx_tasks_open(struct atw_kernel *k, struct lnx_tasks **ret, struct atw_err *err);
int lnx_tasks_next(struct lnx_tasks *t, struct lnx_task *ret, struct atw_err *err);
void lnx_tasks_close(struct lnx_tasks *t);
/* By PID or TID. ATW_E_NONE: there is none. */
int lnx_task_by_pid(struct atw_kernel *k, uint32_t pid,
		    struct lnx_task *ret, struct atw_err *err);

/*
 * The page tables of an mm_struct. The lower half is translated by the tables of user
 * mode, the upper half by those of the kernel: under page-table isolation these are two
 * roots.
 */
struct atw_mm {
	struct mmu_space space;
	atw_pa root;             /* mm->pgd */
	atw_pa user_root;        /* of user mode; the same if not isolated */
	bool isolated;           /* page-table isolation: two different roots */
};
int atw_mm_open(struct atw_kernel *k, uint64_t mm, struct atw_mm *ret,
		struct atw_err *err);
/*
 * Those of a task. Of a running kernel, a walk ends when the task does, or replaces its
 * mm (execve); ATW_END if that happened before. mmu_space_lives() reports whether they
 * are still in use.
 */
int atw_mm_of(struct atw_kernel *k, const struct lnx_task *t,
	      struct atw_mm *ret, struct atw_err *err);

/*
 * State of a CPU as the kernel keeps it in memory, for sources without its registers. On
 * a running kernel it is out of date when it is returned.
 */
struct atw_cpu {
	uint64_t mm;             /* owner of the page tables; init_mm for the kernel's */
	struct atw_mm tables;
	uint64_t cr3, cr4;       /* x86, as last written; 0: not known */
};
/* ATW_E_MISSING: there is no such CPU. */
int atw_cpu_of(struct atw_kernel *k, unsigned cpu, struct atw_cpu *ret,
	       struct atw_err *err);

/* A VMA. Flags are VM_*: include/linux/mm.h. */
struct atw_area {
	uint64_t at;             /* virtual address of its vm_area_struct */
	atw_va start, end;       /* half open */
	uint64_t flags;          /* vm_flags, unchanged */
	bool read, write, exec, shared;
	bool rights_unknown;     /* none of the first three is known */
	uint64_t offset;         /* in the file, bytes */
	uint32_t major, minor;   /* device of the file; 0:0 none */
	uint64_t inode;
	bool file;               /* it maps a file */
	bool unread;             /* its file or name could not be read: offset, device,
				  * inode and name may be missing */
	char name[4200];         /* as in /proc/PID/maps, not escaped: a path,
				  * "[heap]", ..., or empty */
};
/*
 * The VMAs of an mm in ascending order. For a VMA that cannot be read, ATW_E_DAMAGED or
 * _MISSING is returned, and the next call continues behind it if possible.
 */
struct atw_areas;
int atw_areas_open(struct atw_kernel *k, uint64_t mm,
		   struct atw_areas **ret, struct atw_err *err);
int atw_areas_next(struct atw_areas *a, struct atw_area *ret, struct atw_err *err);
/* The reason for `unread` of the last VMA. */
const struct atw_err *atw_areas_error(const struct atw_areas *a);
void atw_areas_close(struct atw_areas *a);
