/* SPDX-License-Identifier: GPL-2.0-or-later */
/* soft.h - swap types and offsets by themselves, as /proc/PID/pagemap has them. */
#ifndef KERNEL_SOFT_H
#define KERNEL_SOFT_H

#include <atwalk/kernel.h>

/* What a kernel was built with, by the functions it has. */
void soft_configured(struct atw_soft_abi *abi, const char *release,
		     bool (*has)(void *arg, const char *name), void *arg);
struct atw_soft_word soft_swap(const struct atw_soft_abi *abi, const struct atw_paging *pg,
			       unsigned type, uint64_t offset);

#endif
