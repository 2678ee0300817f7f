/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ram.h - ranges of RAM, and its size. */
#ifndef LINUX_RAM_H
#define LINUX_RAM_H

#include "linux/kernel.h"
#include "source/extents.h"

/*
 * The ranges that /proc/iomem lists as System RAM, from the kernel's tree of resources.
 * ATW_E_MISSING: the tree cannot be found, or has no such range.
 */
int kernel_ram(struct atw_kernel *k, struct extents *ret, struct atw_err *err);
/* MemTotal of /proc/meminfo, in pages. */
int kernel_ram_pages(struct atw_kernel *k, uint64_t *ret, struct atw_err *err);

#endif
