// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * entry.c - reads the tables of a mode for one entry.
 *
 * Nothing in here knows a CPU. `level` is below pg->nlevels throughout. Kind
 * and address are on the path of every translation, five times over: the
 * tables put the common words first.
 */
#include "paging/tables.h"

enum atw_kind atw_entry_kind(const struct atw_paging *pg, unsigned level,
			     uint64_t word)
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

static const struct atw_span_rule *span_of(const struct atw_paging *pg,
					   unsigned level, uint64_t word)
{
	const struct atw_span_rule *s = pg->spans;

	for (; s && s->shift; s++)
		if ((word & s->mask) == s->value && (s->levels & ATW_L(level)))
			return s;
	return NULL;
}

atw_pa atw_entry_addr(const struct atw_paging *pg, unsigned level,
		      enum atw_kind kind, uint64_t word)
{
	const struct atw_bits *b = pg->addr;
	const struct atw_bits *end = b + sizeof(pg->addr) / sizeof(pg->addr[0]);
	const struct atw_span_rule *s;
	unsigned shift;
	uint64_t pa = 0;

	word &= ~pg->ignore;
	for (; b < end && b->hi; b++) {
		if (b->mask && (!level || (word & b->mask) != b->value))
			continue;
		pa |= word << (63 - b->hi) >> (63 - b->hi + b->lo) << b->to;
	}
	if (kind == ATW_TABLE)
		return ATW_PA(pa);

	/* Below the leaf's size the entry has other bits than address. */
	shift = pg->level[level].shift;
	s = span_of(pg, level, word);
	if (s && s->replaces)
		shift = s->shift;
	return ATW_PA(pa & ~0ull << shift);
}

unsigned atw_entry_span(const struct atw_paging *pg, unsigned level,
			uint64_t word)
{
	const struct atw_span_rule *s = span_of(pg, level, word & ~pg->ignore);

	return s ? s->shift : pg->level[level].shift;
}

bool atw_entry_replaces(const struct atw_paging *pg, unsigned level,
			uint64_t word)
{
	const struct atw_span_rule *s = span_of(pg, level, word & ~pg->ignore);

	return s && s->replaces;
}

unsigned atw_entry_rights(const struct atw_paging *pg, unsigned level,
			  enum atw_kind kind, uint64_t word, unsigned above)
{
	const struct atw_right_rule *r = pg->rights;

	word &= ~pg->ignore;
	for (; r->clear; r++) {
		if (!(r->kinds & ATW_K(kind))) {
			if ((r->kinds & LEAVES_FROM_HERE) && kind != ATW_LEAF)
				break;
			continue;
		}
		if ((word & r->mask) != r->value || !(r->levels & ATW_L(level)))
			continue;
		if ((r->kinds & IF_USER_WRITES) && !(above & ATW_UW))
			continue;
		above &= ~(unsigned)r->clear;
	}
	return above;
}

uint64_t atw_entry_flags(const struct atw_paging *pg, unsigned level,
			 enum atw_kind kind, uint64_t word)
{
	const struct atw_flag *f = pg->flags;
	uint64_t ret = 0, bit = 1;

	word &= ~pg->ignore;
	for (; f->letter; f++, bit <<= 1)
		if ((word & f->mask) == f->value &&
		    (f->levels & ATW_L(level)) && (f->kinds & ATW_K(kind)))
			ret |= bit;
	return ret;
}

/*
 * Whatever any table looks at. Address bits are among them where a table looks
 * at those too: PPN[3:0] at level 0 of RISC-V, for N set makes them matter.
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
