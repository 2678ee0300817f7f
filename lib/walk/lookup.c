/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lookup.c - fast translation of very many addresses of one address space.
 *
 * For each level, the tables of the mode are converted once into bit patterns: bits that
 * make a word a table or a leaf whatever the others are, its address bits, and the
 * permissions it clears. A lookup then takes so few instructions that a CPU overlaps the
 * cache misses of several. Any other word is decoded by mmu_translate(), so the tables
 * remain the only definition.
 */
#include <stdlib.h>

#include "paging/entry.h"
#include "walk/memory.h"
#include "walk/space.h"

enum { RIGHTS = 8 };

struct right {
	uint64_t mask, value;
	uint8_t clear, needs;
};

struct code {
	uint8_t shift;
	uint32_t slots;                  /* a bit mask */
	struct sure table, leaf;
	/* Bits of a table's word that clear permissions by being 0, or 1. */
	uint64_t by_zero, by_one;
	struct right right[RIGHTS];      /* of leaves */
	unsigned nrights;
};

struct mmu_lookup {
	struct mmu_space sp;
	struct code code[ATW_MAX_LEVELS];
	/*
	 * Permissions that tables clear are computed once for the whole path: one is
	 * cleared if its bit was 0 (or 1) at any level, so the AND and OR of the words
	 * suffice.
	 */
	struct right above[RIGHTS];
	unsigned nabove;
	/* An address is canonical if all bits from here up equal the sign, or zero. */
	uint8_t sign;
	bool negative;

	struct mapped *mapped;           /* NULL: words are borrowed by other means */
	const char *bytes;               /* of the last extent */
	uint64_t start, words;           /* a word may begin at start up to start +
					  * words */
};

/* ---- conversion of the tables ---- */

static bool lookup_find_leaf_rights(const struct atw_paging *pg, unsigned level,
				    struct code *c)
{
	for (const struct atw_right_rule *r = pg->rights; r->clear; r++) {
		if (!(r->kinds & ATW_K(ATW_LEAF)) || !(r->levels & ATW_L(level)))
			continue;
		if (c->nrights == RIGHTS)
			return false;
		c->right[c->nrights++] = (struct right){
			r->mask & ~pg->ignore, r->value, r->clear,
			r->kinds & IF_USER_WRITES ? ATW_UW : 0,
		};
	}
	return true;
}

/* Works for rules that test a single bit, as those of tables do. */
static bool lookup_find_table_rights(const struct atw_paging *pg, struct mmu_lookup *l)
{
	for (const struct atw_right_rule *r = pg->rights; r->clear; r++) {
		bool zero = !r->value;

		if (!(r->kinds & ATW_K(ATW_TABLE)))
			continue;
		if (l->nabove == RIGHTS || r->kinds & IF_USER_WRITES || !r->mask ||
		    r->mask & (r->mask - 1) || r->mask & pg->ignore)
			return false;
		l->above[l->nabove++] = (struct right){ r->mask, r->value, r->clear, 0 };
		for (unsigned i = 0; i < pg->nlevels; i++)
			if (r->levels & ATW_L(i))
				*(zero ? &l->code[i].by_zero : &l->code[i].by_one) |= r->mask;
	}
	return true;
}

int mmu_lookup_open(const struct mmu_space *sp, struct mmu_lookup **ret,
		    struct atw_err *err)
{
	const struct atw_paging *pg = &sp->paging;
	struct mmu_lookup *l = calloc(1, sizeof(*l));
	bool tables;

	if (!l)
		return atw_err_nomem(err);
	l->sp = *sp;
	l->negative = pg->halves != ATW_FLAT;
	l->sign = (uint8_t)(pg->va_bits - (pg->halves == ATW_SIGNED));
	if (sp->mem->ops->peek == mapped_peek)
		l->mapped = sp->mem->impl;
	tables = lookup_find_table_rights(pg, l);
	for (unsigned i = 0; i < pg->nlevels; i++) {
		struct code *c = &l->code[i];

		c->shift = pg->level[i].shift;
		c->slots = (1u << pg->level[i].bits) - 1;
		if (!tables || !i || !sure_find(pg, i, ATW_TABLE, &c->table))
			c->table = SURE_NONE;
		if (!lookup_find_leaf_rights(pg, i, c) ||
		    !sure_find(pg, i, ATW_LEAF, &c->leaf))
			c->leaf = SURE_NONE;
	}
	*ret = l;
	return ATW_OK;
}

void mmu_lookup_close(struct mmu_lookup *l)
{
	free(l);
}

/* ---- lookup ---- */

static inline unsigned lookup_rights_left(const struct mmu_lookup *l,
					  const struct code *c, uint64_t ands,
					  uint64_t ors, uint64_t word)
{
	unsigned rights = ATW_RIGHTS_ALL;

	for (unsigned i = 0; i < l->nabove; i++)
		if ((l->above[i].value ? ors : ~ands) & l->above[i].mask)
			rights &= ~(unsigned)l->above[i].clear;
	for (unsigned i = 0; i < c->nrights; i++)
		if ((word & c->right[i].mask) == c->right[i].value &&
		    (rights & c->right[i].needs) == c->right[i].needs)
			rights &= ~(unsigned)c->right[i].clear;
	return rights;
}

/* Tables lie in few extents: most words are in the same extent as the last. */
static inline const void *lookup_entry(struct mmu_lookup *l, uint64_t at, unsigned ws)
{
	const struct extent *e;

	if (at - l->start < l->words)
		return l->bytes + (at - l->start);
	if (!l->mapped)
		return memory_lent(l->sp.mem, ATW_PA(at), ws, NULL);
	e = extents_find(&l->mapped->map, at);
	if (!e || e->kind != ATW_DATA || e->len - (at - e->start) < ws)
		return NULL;
	l->bytes = (const char *)l->mapped->file.map.data + e->off;
	l->start = e->start;
	l->words = e->len - ws + 1;
	return l->bytes + (at - l->start);
}

static int __attribute__((noinline))
lookup_the_long_way(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
		    struct atw_err *err)
{
	struct mmu_seen s;
	int r = mmu_translate(&l->sp, va, &s, err);

	if (r < 0)
		return r;
	*ret = (struct mmu_place){
		.pa = ATW_PA(s.kind == ATW_LEAF && !s.loss ? s.pa.u + (va.u - s.va.u) : 0),
		.size = s.size, .level = s.level, .kind = s.kind,
		.loss = s.loss, .rights = s.rights,
	};
	return ATW_OK;
}

int mmu_lookup(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
	       struct atw_err *err)
{
	struct mmu_root root = space_root(&l->sp, va);
	int64_t upper = (int64_t)va.u >> l->sign;
	uint64_t at = root.pa.u, ands = ~0ull, ors = 0;
	unsigned ws = l->sp.paging.word_size;

	if (!root.have || (upper && !(upper == -1 && l->negative)))
		return lookup_the_long_way(l, va, ret, err);
	for (unsigned level = l->sp.paging.nlevels - 1u;; level--) {
		const struct code *c = &l->code[level];
		const void *p;
		uint64_t slot, word;

		at += (va.u >> c->shift & c->slots) * ws;
		p = lookup_entry(l, at, ws);
		if (!p)
			break;
		word = load_word(p, ws, 0);
		if (sure_is(&c->table, word)) {
			ands &= word | ~c->by_zero;
			ors |= word & c->by_one;
			at = sure_address(&c->table, word);
			continue;
		}
		if (!sure_is(&c->leaf, word))
			break;
		slot = (uint64_t)1 << c->shift;
		*ret = (struct mmu_place){
			.pa = ATW_PA(sure_address(&c->leaf, word) | (va.u & (slot - 1))),
			.size = slot,
			.level = (uint8_t)level,
			.kind = ATW_LEAF,
			.rights = (uint8_t)lookup_rights_left(l, c, ands, ors, word),
		};
		return ATW_OK;
	}
	return lookup_the_long_way(l, va, ret, err);
}
