// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * va.c - canonical virtual addresses of a mode.
 *
 * The meaning of the bits above the translated ones is an enum atw_halves. Tags in the
 * top byte (arm64 TBI, x86 LAM) are not removed: the caller clears the tag of a tagged
 * pointer first.
 */
#include "paging/paging.h"

atw_va atw_va_canonical(const struct atw_paging *pg, uint64_t low,
			bool high_half)
{
	uint64_t above;
	bool ones = false;

	if (!pg || !pg->va_bits || pg->va_bits >= 64)
		return ATW_VA(low);      /* the mode translates all 64 bits */
	above = ~0ull << pg->va_bits;
	if (pg->halves == ATW_SPLIT)
		ones = high_half;
	else if (pg->halves == ATW_SIGNED)
		ones = low >> (pg->va_bits - 1) & 1;
	return ATW_VA(ones ? low | above : low & ~above);
}

bool atw_va_valid(const struct atw_paging *pg, atw_va va)
{
	return pg && pg->va_bits && atw_va_canonical(pg, va.u, va.u >> 63).u == va.u;
}
