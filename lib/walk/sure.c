// SPDX-License-Identifier: GPL-2.0-or-later
/* sure.c - derivation of bit patterns from the tables of a paging mode. */
#include "walk/memory.h"

/*
 * Make `s` exclude the words that `e` matches. Fails if no bit distinguishes the two and
 * no further bit can be required.
 */
static bool sure_exclude(struct sure *s, uint64_t mask, uint64_t value, uint64_t nonzero)
{
	uint64_t shared = s->mask & mask, free;

	if ((s->value ^ value) & shared)
		return true;
	if (nonzero) {                   /* require that all of these are zero */
		if (s->value & nonzero)
			return false;
		s->mask |= nonzero;
		return true;
	}
	free = mask & ~s->mask;
	if (!free)
		return false;
	free &= ~free + 1;               /* one differing bit is sufficient */
	s->mask |= free;
	s->value |= ~value & free;
	return true;
}

static bool sure_words(const struct atw_paging *pg, unsigned level,
		       enum atw_kind kind, struct sure *s)
{
	for (const struct atw_rule *r = pg->rules;; r++) {
		bool last = r->levels == ATW_L_ALL && !r->mask && !r->nonzero;

		if (r->levels & ATW_L(level) && r->kind == kind && !r->nonzero) {
			bool ok = true;

			s->mask = r->mask;
			s->value = r->value;
			for (const struct atw_rule *e = pg->rules; e < r && ok; e++)
				if (e->levels & ATW_L(level))
					ok = sure_exclude(s, e->mask, e->value, e->nonzero);
			return ok;
		}
		if (last)
			return false;
	}
}

static bool sure_find_address(const struct atw_paging *pg, unsigned level,
			 enum atw_kind kind, struct sure *s)
{
	const struct entry_pieces e = entry_pieces(pg, level, kind);

	if (e.more || e.n > SURE_PIECES)
		return false;
	for (unsigned i = 0; i < e.n; i++) {
		s->piece[i].mask = e.piece[i].mask;
		s->piece[i].left = e.piece[i].left;
	}
	if (kind == ATW_TABLE)
		return true;
	for (const struct atw_span_rule *r = pg->spans; r && r->shift; r++)
		if (r->replaces && r->levels & ATW_L(level) &&
		    !sure_exclude(s, r->mask, r->value, 0))
			return false;
	return true;
}

bool sure_find(const struct atw_paging *pg, unsigned level, enum atw_kind kind, struct sure *ret)
{
	struct sure s = { 0 };

	/* An encryption bit may be set or clear, so a pattern cannot include it. */
	if (!sure_words(pg, level, kind, &s) || !sure_find_address(pg, level, kind, &s) ||
	    s.value & pg->ignore)
		return false;
	s.mask &= ~pg->ignore;
	*ret = s;
	return true;
}

struct leaf_bits leaf_bits_of(const struct atw_paging *pg, unsigned level)
{
	const struct entry_pieces e = entry_pieces(pg, level, ATW_LEAF);
	struct leaf_bits ret = {
		.all = !e.more && e.n <= SURE_PIECES,
		.spans = entry_may_replace(pg, level),
	};

	for (unsigned i = 0; i < e.n && i < SURE_PIECES; i++) {
		ret.mask[i] = e.piece[i].mask;
		ret.left[i] = e.piece[i].left;
	}
	return ret;
}
