/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINUX_MM_H
#define LINUX_MM_H

#include "linux/process.h"

/*
 * Of x86: is the page behind the root table `kernel` the table that user mode
 * has? Both have 512 words; `swapper` is what lies behind the kernel's own
 * root, or NULL. Pure.
 */
bool mm_is_user_copy(const void *kernel, const void *user, const void *swapper);

/*
 * Page-table isolation of x86, by the kernel's own root: 1 it is on, 0 it is off, less
 * than 0: its tables are not there, or it is another architecture.
 */
int mm_kernel_isolated(const struct atw_kernel *k);

#endif
