/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROCESS_MM_H
#define PROCESS_MM_H

#include <atwalk/process.h>

/*
 * Of x86: is the page behind the root table `kernel` the table that user mode
 * has? Both have 512 words; `swapper` is what lies behind the kernel's own
 * root, or NULL. Pure.
 */
bool mm_is_user_copy(const void *kernel, const void *user, const void *swapper);

#endif
