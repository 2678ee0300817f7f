// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * modes.c - the list of paging modes, from modes.def, and their canonical addresses.
 *
 * The meaning of the bits above the translated ones is an enum atw_halves. Tags in the
 * top byte (arm64 TBI, x86 LAM) are not removed: the caller clears the tag of a tagged
 * pointer first.
 */
#include <string.h>

#include "paging/tables.h"

static const struct atw_paging *const modes[] = {
#define MODE(id) &atw_mode_##id,
#include "paging/modes.def"
#include "paging/paging.h"
#undef MODE
};

const struct atw_paging *atw_paging_at(size_t i)
{
	return i < sizeof(modes) / sizeof(modes[0]) ? modes[i] : NULL;
}

const struct atw_paging *atw_paging_find(const char *name)
{
	const struct atw_paging *pg;

	for (size_t i = 0; name && (pg = atw_paging_at(i)); i++)
		if (!strcmp(pg->name, name))
			return pg;
	return NULL;
}

/* ---- canonical virtual addresses ---- */

atw_va atw_va_canonical(const struct atw_paging *pg, uint64_t low, bool high_half)
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
