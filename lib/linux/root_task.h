/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root_task.h - the kernel's root where no VMCOREINFO is left: by the kernel's
 * types and its first task.
 */
#ifndef LINUX_ROOT_TASK_H
#define LINUX_ROOT_TASK_H

#include "walk/walk.h"

#include "linux/meter.h"

struct root_task {
	struct atw_paging paging;
	atw_pa root;
	uint64_t init_task;      /* its virtual address */
	uint64_t stext;          /* where the kernel's text begins */
	char release[65];        /* "6.1.0-50-amd64", or empty */
	/* What was read on the way, of all that was looked at. */
	struct { uint64_t pa, len; } used[10];
	unsigned nused;
	uint64_t mm_at;          /* init_mm's pgd; so much around it must be there */
};
enum { ROOT_TASK_AROUND = 8192 };

/*
 * ATW_E_MISSING: no types, no first task, or no mode under which its addresses
 * lead to it. Searches memory twice, so it comes last.
 */
int root_by_task(struct atw_source *mem, struct meter *meter, struct root_task *ret,
		 struct atw_err *err);

#endif
