/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * huge.h - large arrays that are filled fast or read in random order, in huge pages if
 * the kernel provides them (madvise(2)): this saves page faults and TLB misses.
 */
#pragma once

#include <atwalk/base.h>

/* Returns zeroed memory. `huge` false: in pages of the usual size. NULL: no memory. */
void *huge_alloc(size_t bytes, bool huge);
/* NULL is accepted. */
void huge_free(void *p, size_t bytes);

/* As array_reserve(); the array must be freed by huge_free(). */
bool huge_reserve(void **array, size_t *cap, size_t need, size_t elem, bool huge);
