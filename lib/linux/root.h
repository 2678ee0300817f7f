/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root.h - paging mode and root table of a kernel, from VMCOREINFO or from its first task.
 * root.c verifies the result by a walk.
 */
#pragma once

#include "linux/linux.h"
#include "walk/walk.h"
#include "linux/kernel.h"

struct layout_guess {
	struct atw_paging paging;
	atw_pa root;             /* of the kernel's half, or of both */
	uint64_t text_va;        /* SYMBOL(_stext) */
	atw_pa text_pa;          /* physical address of the kernel image's text */
};

/* ATW_E_UNSUPPORTED names the key that is missing or invalid. */
int layout_from_vmcoreinfo(const struct atw_vmcoreinfo *vi,
			   struct layout_guess *ret, struct atw_err *err);

/* ---- root.c ---- */

/* The space of the kernel has this root. */
static inline void root_set(struct mmu_space *sp, atw_pa root)
{
	struct mmu_root r = { root, true };

	/* Arm's lower half has a root of its own, which belongs to a process. */
	if (sp->paging.halves == ATW_SPLIT)
		sp->high = r;
	else
		sp->low = r;
}

/* ---- root_task.c ---- */

/*
 * Search for the kernel's root without VMCOREINFO: by the kernel's types
 * and its first task.
 */
struct root_task {
	struct atw_paging paging;
	atw_pa root;
	uint64_t init_task;      /* its virtual address */
	uint64_t task_at;        /* and its physical one */
	uint64_t stext;          /* start of the kernel's text */
	char release[65];        /* "6.1.0-50-amd64", or empty */
	/* Physical ranges that the result depends on. */
	struct { uint64_t pa, len; } used[10];
	unsigned nused;
	uint64_t mm_at;          /* pgd of init_mm, and the length around it that is
				  * needed */
};
enum { ROOT_TASK_AROUND = 8192 };

/*
 * ATW_E_MISSING: no types, no first task, or no mode that maps its address to it.
 * Searches memory twice, so it is the last method.
 */
int root_by_task(struct atw_source *mem, struct meter *meter, struct root_task *ret,
		 struct atw_err *err);
/*
 * The root that init_mm has by now, and its mode; `pgd_at` is the mm_at of before. A walk
 * leads to the task. Nothing is searched.
 */
bool root_of_task(struct atw_source *mem, uint64_t task, uint64_t task_at, uint64_t pgd_at,
		  struct atw_paging *ret_paging, atw_pa *ret);
