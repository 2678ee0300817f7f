/* SPDX-License-Identifier: GPL-2.0-or-later */
/* radix.h - stable radix sort of large arrays of numbers. */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <atwalk/base.h>

/*
 * Sort by the bits from `shift` on; the sort is stable. Both arrays have `n` elements;
 * the one that holds the result is returned.
 */
uint64_t *radix_sort(uint64_t *v, uint64_t *other, size_t n, unsigned shift);

#endif
