/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * huge.h - large arrays that are filled fast or read in any order, in huge pages where the
 * kernel gives some to those that ask: there are fewer page faults, and fewer misses.
 */
#ifndef BASE_HUGE_H
#define BASE_HUGE_H

#include <atwalk/base.h>

/* Zeroed. `huge` false: in pages as usual. NULL: no memory. */
void *huge_alloc(size_t bytes, bool huge);
/* Fine on NULL. */
void huge_free(void *p, size_t bytes);

/* As array_reserve(); the array is given back by huge_free(). */
bool huge_reserve(void **array, size_t *cap, size_t need, size_t elem, bool huge);

#endif
