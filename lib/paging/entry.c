// SPDX-License-Identifier: GPL-2.0-or-later
/* entry.c - decoding of page-table entries; the inline functions are in entry.h. */
#include "paging/entry.h"

struct entry_pieces entry_pieces(const struct atw_paging *pg, unsigned level,
				 enum atw_kind kind)
{
	struct entry_pieces ret = { 0 };

	for (size_t i = 0; i < sizeof(pg->addr) / sizeof(pg->addr[0]); i++) {
		const struct atw_bits *b = &pg->addr[i];
		unsigned left = (unsigned)(b->to - b->lo);
		uint64_t mask;

		if (!b->hi)
			break;
		if (b->mask) {           /* see paging/paging.h */
			ret.more |= level && kind == ATW_LEAF;
			continue;
		}
		mask = BITS(b->hi, b->lo) & ~pg->ignore;
		if (kind == ATW_LEAF)    /* below its slot it has other bits */
			mask &= ~0ull << pg->level[level].shift >> left;
		if (!mask)
			continue;
		ret.piece[ret.n].mask = mask;
		ret.piece[ret.n++].left = (uint8_t)left;
	}
	return ret;
}

bool entry_may_replace(const struct atw_paging *pg, unsigned level)
{
	for (const struct atw_span_rule *s = pg->spans; s && s->shift; s++)
		if (s->replaces && s->levels & ATW_L(level))
			return true;
	return false;
}

unsigned atw_entry_span(const struct atw_paging *pg, unsigned level, uint64_t word)
{
	const struct atw_span_rule *s = entry_span_rule(pg, level, word);

	return s ? s->shift : pg->level[level].shift;
}

uint64_t atw_entry_flags(const struct atw_paging *pg, unsigned level,
			 enum atw_kind kind, uint64_t word)
{
	uint64_t ret = 0, bit = 1;

	word &= ~pg->ignore;
	for (const struct atw_flag *f = pg->flags; f->letter; f++, bit <<= 1)
		if ((word & f->mask) == f->value &&
		    (f->levels & ATW_L(level)) && (f->kinds & ATW_K(kind)))
			ret |= bit;
	return ret;
}

unsigned atw_entry_properties(const struct atw_paging *pg, unsigned level,
			      enum atw_kind kind, uint64_t word)
{
	unsigned ret = 0;

	word &= ~pg->ignore;
	for (const struct atw_property_rule *p = pg->properties; p && p->has; p++)
		if ((word & p->mask) == p->value && p->levels & ATW_L(level) &&
		    p->kinds & ATW_K(kind))
			ret |= p->has;
	if (kind != ATW_LEAF)
		return ret;
	if (entry_span_rule(pg, level, word))
		ret |= ATW_CONTIGUOUS;
	return atw_entry_span(pg, level, word) > pg->page_shift ? ret | ATW_LARGE : ret;
}

unsigned atw_known_properties(const struct atw_paging *pg)
{
	unsigned ret = ATW_LARGE | ATW_CONTIGUOUS;

	for (const struct atw_property_rule *p = pg->properties; p && p->has; p++)
		ret |= p->has;
	return ret;
}

/*
 * All bits that any table of the mode tests. They include address bits that a table
 * tests: PPN[3:0] at level 0 of RISC-V, which is significant if N is set.
 */
uint64_t atw_leaf_attrs(const struct atw_paging *pg, unsigned level)
{
	const struct atw_bits *b = pg->addr;
	uint32_t here = ATW_L(level);
	uint64_t ret = 0;

	for (const struct atw_rule *r = pg->rules; ; r++) {
		if (r->levels & here)
			ret |= r->mask | r->nonzero;
		if (r->levels == ATW_L_ALL && !r->mask && !r->nonzero)
			break;
	}
	for (const struct atw_right_rule *q = pg->rights; q->clear; q++)
		if ((q->levels & here) && (q->kinds & K_LEAF))
			ret |= q->mask;
	for (const struct atw_flag *f = pg->flags; f->letter; f++)
		if ((f->levels & here) && (f->kinds & K_LEAF))
			ret |= f->mask;
	for (const struct atw_span_rule *s = pg->spans; s && s->shift; s++)
		if (s->levels & here)
			ret |= s->mask;
	for (size_t i = 0; level && i < sizeof(pg->addr) / sizeof(*b); i++)
		ret |= b[i].mask;
	return ret & ~pg->ignore;
}

void atw_rights_letters(unsigned rights, char ret[5])
{
	bool user = rights & USER_ALL;

	ret[0] = rights & (user ? ATW_UR : ATW_KR) ? 'r' : '-';
	ret[1] = rights & (user ? ATW_UW : ATW_KW) ? 'w' : '-';
	ret[2] = rights & (user ? ATW_UX : ATW_KX) ? 'x' : '-';
	ret[3] = user ? 'u' : '-';
	ret[4] = '\0';
}
