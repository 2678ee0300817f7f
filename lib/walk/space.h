/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - helpers for an address space that every reader needs. */
#ifndef WALK_SPACE_H
#define WALK_SPACE_H

#include "walk/walk.h"

#include "paging/check.h"
#include "paging/entry.h"

/* Enough not to crash: cheap. A caller of the library may give one of zeroes. */
static inline bool space_has_all(const struct mmu_space *sp)
{
	return sp && sp->mem && sp->mem->ops && paging_has(&sp->paging, 0);
}

/* ATW_E_USAGE: there is no source, or no paging mode, in it. */
int space_check(const struct mmu_space *sp, struct atw_err *err);

/*
 * Of a piece of a walk that is not given back so far: is its entry i still the word that it
 * was, and do the tables lead to it? The entry is read first, then those above it. false:
 * maybe not.
 */
bool space_still_leads(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i);

static inline struct mmu_root space_root(const struct mmu_space *sp, atw_va va)
{
	return va.u >> 63 && (sp->paging.halves == ATW_SPLIT || sp->high.have)
	       ? sp->high : sp->low;
}

/* What the first byte of the slot at `va` maps to. */
static inline atw_pa space_leaf_pa(const struct mmu_space *sp, unsigned level,
				   uint64_t word, uint64_t va)
{
	const struct atw_paging *pg = &sp->paging;
	atw_pa pa = entry_addr(pg, level, ATW_LEAF, word);
	const struct atw_span_rule *s = entry_span_rule(pg, level, word);
	uint64_t slot = (uint64_t)1 << pg->level[level].shift;

	/* One translation for the whole run: the VA says where in it we are. */
	if (s && s->replaces)
		pa.u |= va & (((uint64_t)1 << s->shift) - 1) & ~(slot - 1);
	return pa;
}

#endif
