/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * root_task.h - search for the kernel's root without VMCOREINFO: by the kernel's types
 * and its first task.
 */
#ifndef LINUX_ROOT_TASK_H
#define LINUX_ROOT_TASK_H

#include "walk/walk.h"

#include "linux/meter.h"

struct root_task {
	struct atw_paging paging;
	atw_pa root;
	uint64_t init_task;      /* its virtual address */
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

#endif
