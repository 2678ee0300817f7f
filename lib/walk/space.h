/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - validation and decoding helpers for an address space. */
#pragma once

#include "walk/walk.h"

#include "paging/entry.h"

/*
 * For a piece of a live walk: is its entry i unchanged, and do the tables still lead to
 * it? The entry is re-read first, then those above it. false: perhaps not.
 */
bool space_still_leads(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i);

static inline struct mmu_root space_root(const struct mmu_space *sp, atw_va va)
{
	return va.u >> 63 && (sp->paging.halves == ATW_SPLIT || sp->high.have)
	       ? sp->high : sp->low;
}

/* The physical address of the first byte of the slot at `va`. */
static inline atw_pa space_leaf_pa(const struct mmu_space *sp, unsigned level,
				   uint64_t word, uint64_t va)
{
	const struct atw_paging *pg = &sp->paging;
	atw_pa pa = entry_addr(pg, level, ATW_LEAF, word);
	const struct atw_span_rule *s = entry_span_rule(pg, level, word);
	uint64_t slot = (uint64_t)1 << pg->level[level].shift;

	/* A contiguous range is one translation: the VA selects the offset in it. */
	if (s && s->replaces)
		pa.u |= va & (((uint64_t)1 << s->shift) - 1) & ~(slot - 1);
	return pa;
}
