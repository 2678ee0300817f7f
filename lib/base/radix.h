/* SPDX-License-Identifier: GPL-2.0-or-later */
/* radix.h - very many numbers, put in order without comparing them. */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <atwalk/base.h>

/*
 * Sort by the bits from `shift` on; those that agree there stay as they were. Both
 * arrays have `n` elements; which of the two it ends up in is returned.
 */
uint64_t *radix_sort(uint64_t *v, uint64_t *other, size_t n, unsigned shift);

#endif
