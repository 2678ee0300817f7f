/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lookup.c - fast translation of very many addresses of one address space.
 *
 * What the upper levels lead to is decoded once and kept, by the address bits above the
 * lowest tables, so a translation mostly reads one word: the lowest entry. The bits that
 * make such a word a leaf are converted once into a pattern, see sure.c. Any other word is
 * decoded by paging/entry.h, so the tables of the mode remain the only definition.
 *
 * Of many addresses, the entries of a block are prefetched before the first is read.
 * Addresses with unknown upper levels are walked together, level by level, so that the CPU
 * waits for the entries of all of them at once.
 */
#include <stdlib.h>
#include <string.h>

#include "paging/entry.h"
#include "walk/memory.h"
#include "walk/space.h"

enum {
	BLOCK = 64,              /* addresses that are translated at a time */
	FIRST_BITS = 6, LAST_BITS = 16,  /* log2 of known[] */
	GROWTH_BITS = 5,
	MEMO_BITS = 6,           /* as many as there are rights */
};

/*
 * The rights of leaves with these bits. The index is a hash of the bits, xor the rights
 * of the tables above: the same bits below other rights are found elsewhere.
 */
struct lookup_memo {
	uint64_t bits;
	uint8_t rights;
};

/*
 * The key of a known end of the upper levels: the address bits above the lowest tables,
 * and below them what the last entry is.
 */
enum {
	KEY_RIGHTS = 0, KEY_LEVEL = 6, KEY_KIND = 9, KEY_LOSS = 11,
	KEY_TABLE = 1 << 14,     /* a lowest table, `at` is its first word */
	KEY_BITS = 16,
};

struct lookup_known {
	uint64_t key;
	uint64_t at;             /* KEY_TABLE: address of the words in this process if
				  * the source is mapped, else in the source; LEAF: what
				  * the slot maps to */
};

struct mmu_lookup {
	struct mmu_space sp;
	struct sure table[ATW_MAX_LEVELS];
	struct sure leaf;                /* of level 0 */
	uint64_t in_place;               /* address bits of these leaves that are not moved */
	bool moves;                      /* others are */
	uint64_t bits;                   /* of these leaves, that determine their rights */
	struct lookup_memo memo[1 << MEMO_BITS];
	unsigned above;                  /* shift of the addresses of the lowest tables */
	unsigned shift;                  /* of the slots of these tables */
	uint64_t low;                    /* bits of an address within such a slot */
	uint32_t slots;                  /* of a lowest table: a bit mask */
	bool live;                       /* the source changes */
	bool keep;                       /* what upper tables lead to is kept */
	struct mapped *mapped;           /* NULL: words are read by other means */

	struct lookup_known *known, first[1 << FIRST_BITS];
	uint64_t mask;                   /* size of known[] - 1 */
	uint64_t misses;                 /* since it has this size */
};

/* ---- opening ---- */

/* No leaf has all bits set. */
static void lookup_find_leaf_rights(struct mmu_lookup *l)
{
	const struct atw_paging *pg = &l->sp.paging;

	for (const struct atw_right_rule *r = pg->rights; r->clear; r++)
		if (r->kinds & ATW_K(ATW_LEAF) && r->levels & ATW_L(0))
			l->bits |= r->mask & ~pg->ignore;
	memset(l->memo, 0xff, sizeof(l->memo));
}

/* No address has all bits of a key set: none is known. */
static void lookup_forget(struct mmu_lookup *l, struct lookup_known *known, unsigned bits)
{
	memset(known, 0xff, sizeof(*known) << bits);
	l->known = known;
	l->mask = ((uint64_t)1 << bits) - 1;
}

int mmu_lookup_open(const struct mmu_space *sp, struct mmu_lookup **ret,
		    struct atw_err *err)
{
	const struct atw_paging *pg = &sp->paging;
	struct mmu_lookup *l = calloc(1, sizeof(*l));

	if (!l)
		return atw_err_nomem(err);
	l->sp = *sp;
	l->above = pg->level[0].shift + pg->level[0].bits;
	l->shift = pg->level[0].shift;
	l->low = ((uint64_t)1 << l->shift) - 1;
	l->slots = (1u << pg->level[0].bits) - 1;
	l->live = atw_source_is_live(sp->mem);
	l->keep = pg->nlevels > 1 && !l->live;
	if (l->keep && sp->mem->ops->peek == mapped_peek)
		l->mapped = sp->mem->impl;
	for (unsigned i = 1; i < pg->nlevels; i++)
		if (!sure_find(pg, i, ATW_TABLE, &l->table[i]))
			l->table[i] = SURE_NONE;
	lookup_find_leaf_rights(l);
	if (!~l->bits || !sure_find(pg, 0, ATW_LEAF, &l->leaf) || !l->leaf.value)
		l->leaf = SURE_NONE;
	for (unsigned i = 0; i < SURE_PIECES; i++)
		if (l->leaf.piece[i].left)
			l->moves = true;
		else
			l->in_place |= l->leaf.piece[i].mask;
	lookup_forget(l, l->first, FIRST_BITS);
	*ret = l;
	return ATW_OK;
}

void mmu_lookup_keep(struct mmu_lookup *l)
{
	l->keep = l->sp.paging.nlevels > 1;
}

void mmu_lookup_close(struct mmu_lookup *l)
{
	if (!l)
		return;
	if (l->known != l->first)
		free(l->known);
	free(l);
}

/* ---- known ends of the upper levels ---- */

/*
 * Neighbours lie side by side, so the tables of one region do not displace each other;
 * those of other regions begin elsewhere.
 */
static inline struct lookup_known *lookup_slot(const struct mmu_lookup *l, uint64_t prefix)
{
	return &l->known[(prefix ^ prefix >> LAST_BITS) & l->mask];
}

/* Few lookups need few entries: more memory is only taken for those that miss. */
static void lookup_grow(struct mmu_lookup *l)
{
	unsigned bits = (unsigned)__builtin_popcountll(l->mask) + GROWTH_BITS;
	struct lookup_known *more;

	l->misses = 0;
	if (l->mask >> (LAST_BITS - 1))
		return;
	if (bits > LAST_BITS)
		bits = LAST_BITS;
	more = malloc(sizeof(*more) << bits);
	if (!more)
		return;
	if (l->known != l->first)
		free(l->known);
	lookup_forget(l, more, bits);
}

static struct lookup_known lookup_end(const struct mmu_lookup *l, atw_va va, unsigned level,
				      unsigned kind, unsigned loss, unsigned rights,
				      uint64_t at)
{
	return (struct lookup_known){
		.key = va.u >> l->above << KEY_BITS | rights << KEY_RIGHTS |
		       level << KEY_LEVEL | kind << KEY_KIND | loss << KEY_LOSS,
		.at = at,
	};
}

static void lookup_keep(struct mmu_lookup *l, atw_va va, const struct lookup_known *k)
{
	if (++l->misses >> 1 > l->mask)
		lookup_grow(l);
	*lookup_slot(l, va.u >> l->above) = *k;
}

/* ---- one address, completely ---- */

/* Keep what a translation found about the upper levels. */
static void lookup_keep_path(struct mmu_lookup *l, atw_va va, const struct mmu_seen *s)
{
	const struct mmu_step *last;
	struct lookup_known k;

	if (!s->level && !s->loss && !l->mapped) {
		last = &s->path[s->depth - 1];
		k = lookup_end(l, va, 0, ATW_TABLE, ATW_HAVE, last[-1].rights,
			       last->at.u - (uint64_t)last->index * l->sp.paging.word_size);
		k.key |= KEY_TABLE;
	} else if (s->level && (!l->live || (s->kind == ATW_LEAF && !s->loss))) {
		/* What is not mapped may be so soon. */
		k = lookup_end(l, va, s->level, s->kind, s->loss, s->rights, s->pa.u);
	} else {
		return;
	}
	lookup_keep(l, va, &k);
}

static int __attribute__((noinline))
lookup_the_long_way(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
		    struct atw_err *err)
{
	struct mmu_seen s;
	int r = mmu_translate(&l->sp, va, &s, err);

	if (r < 0) {
		*ret = (struct mmu_place){ .status = (int16_t)r };
		return r;
	}
	*ret = (struct mmu_place){
		.pa = ATW_PA(s.kind == ATW_LEAF && !s.loss ? s.pa.u + (va.u - s.va.u) : 0),
		.size = s.size, .level = s.level, .kind = s.kind,
		.loss = s.loss, .rights = s.rights,
	};
	if (l->keep)
		lookup_keep_path(l, va, &s);
	return ATW_OK;
}

/* ---- the lowest level ---- */

static unsigned __attribute__((noinline))
lookup_find_rights(struct mmu_lookup *l, unsigned above, uint64_t word, struct lookup_memo *m)
{
	*m = (struct lookup_memo){
		.bits = word & l->bits,
		.rights = (uint8_t)entry_rights(&l->sp.paging, 0, ATW_LEAF, word, above),
	};
	return m->rights;
}

static inline unsigned lookup_rights(struct mmu_lookup *l, unsigned above, uint64_t word)
{
	uint64_t bits = word & l->bits;
	struct lookup_memo *m = &l->memo[(bits * UINT64_C(0x9e3779b97f4a7c15) >>
					  (64 - MEMO_BITS)) ^ above];

	if (__builtin_expect(m->bits == bits, 1))
		return m->rights;
	return lookup_find_rights(l, above, word, m);
}

/* A word of a lowest table that the pattern does not match. */
static void __attribute__((noinline))
lookup_decode(const struct mmu_lookup *l, unsigned above, uint64_t word, atw_va va,
	      struct mmu_place *ret)
{
	const struct atw_paging *pg = &l->sp.paging;
	uint64_t low = l->low;
	enum atw_kind kind = entry_kind(pg, 0, word);
	unsigned rights = above;

	if (kind == ATW_LEAF || kind == ATW_TABLE)
		rights = entry_rights(pg, 0, kind, word, above);
	*ret = (struct mmu_place){
		.size = low + 1, .kind = (uint8_t)kind, .rights = (uint8_t)rights,
	};
	if (kind == ATW_LEAF)
		ret->pa = ATW_PA(space_leaf_pa(&l->sp, 0, word, va.u & ~low).u + (va.u & low));
}

static inline void lookup_word(struct mmu_lookup *l, uint64_t key, uint64_t word,
			       atw_va va, struct mmu_place *ret)
{
	unsigned above = key & ATW_RIGHTS_ALL;
	uint64_t pa = word & l->in_place;

	if (__builtin_expect(!sure_is(&l->leaf, word), 0)) {
		lookup_decode(l, above, word, va, ret);
		return;
	}
	if (l->moves)
		pa = sure_address(&l->leaf, word);
	*ret = (struct mmu_place){
		.pa = ATW_PA(pa | (va.u & l->low)), .size = l->low + 1, .kind = ATW_LEAF,
		.rights = (uint8_t)lookup_rights(l, above, word),
	};
}

/* The walk ended above the lowest tables. */
static void __attribute__((noinline))
lookup_above(const struct mmu_lookup *l, const struct lookup_known *k, atw_va va,
	     struct mmu_place *ret)
{
	unsigned level = k->key >> KEY_LEVEL & 7, kind = k->key >> KEY_KIND & 3;
	unsigned loss = k->key >> KEY_LOSS & 7;
	uint64_t slot = (uint64_t)1 << l->sp.paging.level[level].shift;

	*ret = (struct mmu_place){
		.pa = ATW_PA(kind == ATW_LEAF && !loss ? k->at + (va.u & (slot - 1)) : 0),
		.size = slot, .level = (uint8_t)level, .kind = (uint8_t)kind,
		.loss = (uint8_t)loss, .rights = k->key & ATW_RIGHTS_ALL,
	};
}

static inline uint64_t lookup_offset(const struct mmu_lookup *l, atw_va va, unsigned ws)
{
	return (va.u >> l->shift & l->slots) * ws;
}

/* The word of a lowest table, in a source that is mapped. */
static inline const char *lookup_at(const struct mmu_lookup *l, const struct lookup_known *k,
				    atw_va va, unsigned ws)
{
	return (const char *)(uintptr_t)k->at + lookup_offset(l, va, ws);
}

/* The word of a lowest table, in a source that is not mapped. false: it cannot be read. */
static bool lookup_read(struct mmu_lookup *l, const struct lookup_known *k, atw_va va,
			struct mmu_place *ret)
{
	unsigned ws = l->sp.paging.word_size;
	atw_pa at = ATW_PA(k->at + lookup_offset(l, va, ws));
	char copy[8];

	if (atw_read(l->sp.mem, at, copy, ws, NULL) != (ssize_t)ws)
		return false;
	lookup_word(l, k->key, load_word(copy, ws, 0), va, ret);
	return true;
}

/* ---- the upper levels of several addresses of a mapped source ---- */

struct lookup_block {
	const atw_va *va;
	struct lookup_known known[BLOCK];        /* `at`: plus the offset of the word */
	uint8_t miss[BLOCK];             /* indices of those that were not known */
	unsigned nmiss;
};

enum { LOOKUP_UNKNOWN = 0 };             /* a key: the long way is left */

/* An entry of address i of the block decides what its addresses lead to. */
static void lookup_block_end(struct mmu_lookup *l, struct lookup_block *b, unsigned i,
			     unsigned level, uint64_t word, unsigned rights)
{
	const struct atw_paging *pg = &l->sp.paging;
	enum atw_kind kind = entry_kind(pg, level, word);
	uint64_t slot = (uint64_t)1 << pg->level[level].shift, at = 0;

	if (kind == ATW_LEAF) {
		rights = entry_rights(pg, level, kind, word, rights);
		at = space_leaf_pa(&l->sp, level, word, b->va[i].u & ~(slot - 1)).u;
	}
	b->known[i] = lookup_end(l, b->va[i], level, kind, ATW_HAVE, rights, at);
	lookup_keep(l, b->va[i], &b->known[i]);
	b->known[i].at += lookup_offset(l, b->va[i], pg->word_size);
}

/* Entries of the root tables; returns how many walks have begun. */
static unsigned lookup_block_roots(struct mmu_lookup *l, struct lookup_block *b,
				   const char *entry[BLOCK])
{
	const struct atw_paging *pg = &l->sp.paging;
	unsigned n = 0, ws = pg->word_size;

	for (unsigned k = 0; k < b->nmiss; k++) {
		unsigned i = b->miss[k];
		struct mmu_root root = space_root(&l->sp, b->va[i]);
		uint64_t off = (uint64_t)atw_index(pg, pg->nlevels - 1u, b->va[i]) * ws;

		b->known[i].key = LOOKUP_UNKNOWN;
		if (!root.have || !atw_va_valid(pg, b->va[i]))
			continue;
		entry[n] = mapped_at(l->mapped, ATW_PA(root.pa.u + off), ws);
		if (!entry[n])
			continue;
		__builtin_prefetch(entry[n]);
		b->miss[n++] = (uint8_t)i;
	}
	return n;
}

/* All of them descend together: each level is prefetched for all before the next one. */
static void __attribute__((noinline))
lookup_block_descend(struct mmu_lookup *l, struct lookup_block *b)
{
	const struct atw_paging *pg = &l->sp.paging;
	const char *entry[BLOCK];
	uint8_t rights[BLOCK];
	unsigned ws = pg->word_size, n = lookup_block_roots(l, b, entry);

	memset(rights, ATW_RIGHTS_ALL, sizeof(rights));
	for (unsigned level = pg->nlevels - 1u; level > 0; level--) {
		unsigned left = 0;

		for (unsigned k = 0; k < n; k++) {
			unsigned i = b->miss[k], down = level - 1;
			uint64_t word = load_word(entry[k], ws, 0);
			uint64_t table = sure_address(&l->table[level], word);
			size_t len = down ? ws : atw_table_bytes(pg, 0);
			unsigned has;

			if (!sure_is(&l->table[level], word)) {
				if (entry_kind(pg, level, word) != ATW_TABLE) {
					lookup_block_end(l, b, i, level, word, rights[k]);
					continue;
				}
				table = entry_addr(pg, level, ATW_TABLE, word).u;
			}
			has = entry_rights(pg, level, ATW_TABLE, word, rights[k]);
			if (down)
				table += (uint64_t)atw_index(pg, down, b->va[i]) * ws;
			entry[left] = mapped_at(l->mapped, ATW_PA(table), len);
			if (!entry[left])
				continue;
			__builtin_prefetch(entry[left] + (down ? 0 : lookup_offset(l, b->va[i], ws)));
			if (!down) {
				b->known[i] = lookup_end(l, b->va[i], 0, ATW_TABLE, ATW_HAVE,
							 has, (uintptr_t)entry[left]);
				b->known[i].key |= KEY_TABLE;
				lookup_keep(l, b->va[i], &b->known[i]);
				b->known[i].at += lookup_offset(l, b->va[i], ws);
			}
			rights[left] = (uint8_t)has;
			b->miss[left++] = (uint8_t)i;
		}
		n = left;
	}
}

/* ---- lookups ---- */

/* What the known end of address i of the block leads to. */
static int lookup_block_place(struct mmu_lookup *l, const struct lookup_block *b, unsigned i,
			      struct mmu_place *ret, struct atw_err *err)
{
	unsigned ws = l->sp.paging.word_size;
	struct lookup_known k = b->known[i];
	atw_va va = b->va[i];

	if (k.key == LOOKUP_UNKNOWN)
		return lookup_the_long_way(l, va, ret, err);
	if (k.key & KEY_TABLE) {
		lookup_word(l, k.key, load_word((const void *)(uintptr_t)k.at, ws, 0), va,
			    ret);
	} else {
		k.at -= lookup_offset(l, va, ws);
		lookup_above(l, &k, va, ret);
	}
	return ATW_OK;
}

static int __attribute__((noinline))
lookup_unknown(struct mmu_lookup *l, atw_va va, struct mmu_place *ret, struct atw_err *err)
{
	struct lookup_block b;

	if (!l->mapped)
		return lookup_the_long_way(l, va, ret, err);
	b.va = &va;
	b.miss[0] = 0;
	b.nmiss = 1;
	lookup_block_descend(l, &b);
	return lookup_block_place(l, &b, 0, ret, err);
}

int mmu_lookup(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
	       struct atw_err *err)
{
	uint64_t prefix = va.u >> l->above;
	const struct lookup_known *k = lookup_slot(l, prefix);
	unsigned ws = l->sp.paging.word_size;

	if (__builtin_expect(k->key >> KEY_BITS != prefix, 0))
		return lookup_unknown(l, va, ret, err);
	if (!(k->key & KEY_TABLE))
		lookup_above(l, k, va, ret);
	else if (l->mapped)
		lookup_word(l, k->key, load_word(lookup_at(l, k, va, ws), ws, 0), va, ret);
	else if (!lookup_read(l, k, va, ret))
		return lookup_the_long_way(l, va, ret, err);
	return ATW_OK;
}

/* Where the lowest entries are. They arrive while those of other addresses are sought. */
static inline void lookup_block_seek(struct mmu_lookup *l, struct lookup_block *b,
					 unsigned n, const unsigned ws)
{
	unsigned nmiss = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t prefix = b->va[i].u >> l->above;
		const struct lookup_known *k = lookup_slot(l, prefix);
		uint64_t at = k->at + lookup_offset(l, b->va[i], ws);

		b->known[i].key = k->key;
		b->known[i].at = at;
		/* Of the end of a walk above the lowest tables, this is no address here. */
		__builtin_prefetch((const void *)(uintptr_t)at);
		if (__builtin_expect(k->key >> KEY_BITS != prefix, 0))
			b->miss[nmiss++] = (uint8_t)i;
	}
	b->nmiss = nmiss;
}

static void lookup_set(const struct mmu_place *p, atw_pa *pa, struct mmu_brief *ret)
{
	*pa = p->pa;
	*ret = (struct mmu_brief){ p->kind, p->loss, p->level, (int8_t)p->status };
}

/* An address of a block that no leaf of the lowest tables maps. */
static void __attribute__((noinline))
lookup_block_other(struct mmu_lookup *l, const struct lookup_block *b, unsigned i,
		   atw_pa *pa, struct mmu_brief *ret)
{
	struct mmu_place p;

	lookup_block_place(l, b, i, &p, NULL);
	lookup_set(&p, pa, ret);
}

static inline __attribute__((always_inline)) void
lookup_block(struct mmu_lookup *l, const atw_va *va, unsigned n, const unsigned ws,
	     atw_pa *pa, struct mmu_brief *ret)
{
	const struct mmu_brief leaf = { .kind = ATW_LEAF };
	struct lookup_block b;

	b.va = va;
	lookup_block_seek(l, &b, n, ws);
	if (b.nmiss)
		lookup_block_descend(l, &b);
	for (unsigned i = 0; i < n; i++) {
		const struct lookup_known *k = &b.known[i];
		uint64_t word = 0;

		if (__builtin_expect(k->key & KEY_TABLE, 1))
			word = load_word((const void *)(uintptr_t)k->at, ws, 0);
		/* A word of zero bits is no leaf in any mode. */
		if (__builtin_expect(!sure_is(&l->leaf, word), 0)) {
			lookup_block_other(l, &b, i, &pa[i], &ret[i]);
			continue;
		}
		word = l->moves ? sure_address(&l->leaf, word) : word & l->in_place;
		pa[i] = ATW_PA(word | (va[i].u & l->low));
		ret[i] = leaf;
	}
}

void mmu_lookup_many(struct mmu_lookup *l, const atw_va *va, size_t n, atw_pa *pa,
		     struct mmu_brief *ret)
{
	struct mmu_place p;

	for (size_t i = 0; !l->mapped && i < n; i++) {
		mmu_lookup(l, va[i], &p, NULL);
		lookup_set(&p, &pa[i], &ret[i]);
	}
	for (size_t i = 0; l->mapped && i < n; i += BLOCK) {
		unsigned some = n - i < BLOCK ? (unsigned)(n - i) : BLOCK;

		if (l->sp.paging.word_size == 8)
			lookup_block(l, va + i, some, 8, pa + i, ret + i);
		else
			lookup_block(l, va + i, some, 4, pa + i, ret + i);
	}
}
