/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entry.h - decoder of one entry, driven by the tables of a mode.
 *
 * It has no code per CPU. `level` is below pg->nlevels throughout. It is called for every
 * level of every translation, so it is inline for callers that decode every entry, and
 * the tables list frequent words first.
 */
#pragma once

#include "paging/tables.h"

static inline enum atw_kind entry_kind(const struct atw_paging *pg,
				       unsigned level, uint64_t word)
{
	const struct atw_rule *r = pg->rules;
	uint32_t here = ATW_L(level);

	word &= ~pg->ignore;
	for (;; r++) {
		if ((word & r->mask) != r->value || !(r->levels & here))
			continue;
		if (!r->nonzero || (word & r->nonzero))
			return r->kind;
	}
}

static inline const struct atw_span_rule *entry_span_rule(const struct atw_paging *pg,
							  unsigned level, uint64_t word)
{
	const struct atw_span_rule *s = pg->spans;

	word &= ~pg->ignore;
	for (; s && s->shift; s++)
		if ((word & s->mask) == s->value && (s->levels & ATW_L(level)))
			return s;
	return NULL;
}

/* Do the low address bits of its span come from the virtual address? */
static inline bool entry_replaces(const struct atw_paging *pg, unsigned level, uint64_t word)
{
	const struct atw_span_rule *s = entry_span_rule(pg, level, word);

	return s && s->replaces;
}

/*
 * The address in an entry: of the next table, or the one that the first byte of the
 * leaf's slot maps to (for a leaf with a span that replaces address bits: the first byte
 * of the whole run).
 */
static inline atw_pa entry_addr(const struct atw_paging *pg, unsigned level,
				enum atw_kind kind, uint64_t word)
{
	const struct atw_span_rule *s;
	unsigned shift;
	uint64_t pa = 0;

	word &= ~pg->ignore;
	for (unsigned i = 0; i < sizeof(pg->addr) / sizeof(pg->addr[0]); i++) {
		const struct atw_bits *b = &pg->addr[i];

		if (!b->hi)
			break;
		if (b->mask && (!level || (word & b->mask) != b->value))
			continue;
		pa |= word << (63 - b->hi) >> (63 - b->hi + b->lo) << b->to;
	}
	if (kind == ATW_TABLE)
		return ATW_PA(pa);

	/* Below the size of the leaf the entry has bits other than address bits. */
	shift = pg->level[level].shift;
	s = entry_span_rule(pg, level, word);
	if (s && s->replaces)
		shift = s->shift;
	return ATW_PA(pa & ~0ull << shift);
}

/*
 * Where the words of a level have address bits regardless of their other bits: the mask
 * of each field, shifted by `left`. Computed once, for callers that are too hot to search
 * the tables for every word.
 */
struct entry_pieces {
	struct { uint64_t mask; uint8_t left; } piece[4];
	unsigned n;
	bool more;               /* some leaves have further address bits elsewhere */
};
struct entry_pieces entry_pieces(const struct atw_paging *pg, unsigned level,
				 enum atw_kind kind);
/* Does the level have leaves with low address bits that come from the VA? */
bool entry_may_replace(const struct atw_paging *pg, unsigned level);

/* The permissions of `above` that remain below this entry. */
static inline unsigned entry_rights(const struct atw_paging *pg, unsigned level,
				    enum atw_kind kind, uint64_t word, unsigned above)
{
	const struct atw_right_rule *r = pg->rights;

	word &= ~pg->ignore;
	for (; r->clear; r++) {
		if ((r->kinds & LEAVES_FROM_HERE) && kind != ATW_LEAF)
			break;
		if ((word & r->mask) != r->value || !(r->kinds & ATW_K(kind)) ||
		    !(r->levels & ATW_L(level)))
			continue;
		if ((r->kinds & IF_USER_WRITES) && !(above & ATW_UW))
			continue;
		above &= ~(unsigned)r->clear;
	}
	return above;
}
