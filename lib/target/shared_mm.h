/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shared_mm.h - processes that have one address space together: CLONE_VM, vfork(2). */
#ifndef TARGET_SHARED_MM_H
#define TARGET_SHARED_MM_H

#include <atwalk/base.h>

/*
 * Of each process the first one in the list that has its memory: itself, mostly.
 * Of those that we may not compare nothing is known, and each is itself.
 */
int share_find(const uint32_t *pid, size_t n, size_t *ret, struct atw_err *err);

#endif
