/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mm.h - detection of page-table isolation. */
#ifndef LINUX_MM_H
#define LINUX_MM_H

#include "linux/process.h"

/*
 * For x86: is the page behind the root table `kernel` the root table of user mode? Both
 * have 512 words; `swapper` is what follows the kernel's own root, or NULL. Pure.
 */
bool mm_is_user_copy(const void *kernel, const void *user, const void *swapper);

/*
 * Page-table isolation of x86, from the kernel's own root: 1 on, 0 off, less than 0: its
 * tables are missing, or it is another architecture.
 */
int mm_kernel_isolated(const struct atw_kernel *k);

#endif
