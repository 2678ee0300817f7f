/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ram.h - which physical addresses are RAM, and how much of it the kernel has. */
#ifndef LINUX_RAM_H
#define LINUX_RAM_H

#include "linux/kernel.h"
#include "source/extents.h"

/*
 * What /proc/iomem calls System RAM: the kernel's own tree of resources.
 * ATW_E_MISSING: nothing leads there, or none of it is called so.
 */
int kernel_ram(struct atw_kernel *k, struct extents *ret, struct atw_err *err);
/* MemTotal of /proc/meminfo, in pages. */
int kernel_ram_pages(struct atw_kernel *k, uint64_t *ret, struct atw_err *err);

#endif
