/* SPDX-License-Identifier: GPL-2.0-or-later */
/* translate.c - translation of single addresses, and reads by virtual address. */
#include <inttypes.h>

#include "walk/walk_live.h"
#include "walk/memory.h"
#include "walk/space.h"
#include "base/message.h"

uint64_t mmu_seen_word(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i)
{
	return s->words ? load_word(s->words, sp->paging.word_size, i) : 0;
}

atw_pa mmu_seen_pa(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i)
{
	uint64_t va = s->va.u + ((uint64_t)i << sp->paging.level[s->level].shift);

	return space_leaf_pa(sp, s->level, mmu_seen_word(sp, s, i), va);
}

/* Tables of a mapped dump may be unaligned. */
typedef uint64_t translate_pair __attribute__((vector_size(16), aligned(1), may_alias));

/* Address bits that lie in place, in two words at once: -O2 does not vectorise this. */
static void translate_masked(const char *words, uint32_t n, uint64_t mask, atw_pa *ret)
{
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4) {
		const translate_pair *p = (const void *)(words + 8 * (size_t)i);
		translate_pair *to = (void *)(ret + i);

		to[0] = p[0] & mask;
		to[1] = p[1] & mask;
	}
	for (; i < n; i++)
		ret[i] = ATW_PA(load_word(words, 8, i) & mask);
}

void mmu_seen_pas(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t from,
		  uint32_t n, atw_pa *ret)
{
	enum { FEW = 8 };        /* are not worth the search for the bits */
	const struct atw_paging *pg = &sp->paging;
	unsigned ws = pg->word_size;
	struct leaf_bits b = { .all = false };
	const char *words = (const char *)s->words + (size_t)from * ws;

	if (n >= FEW)
		b = leaf_bits_of(pg, s->level);
	if (n < FEW || !leaf_bits_decide(&b, pg, s->level, load_word(words, ws, 0)))
		for (uint32_t i = 0; i < n; i++)
			ret[i] = mmu_seen_pa(sp, s, from + i);
	else if (ws == 8 && !b.mask[1] && !b.left[0])
		translate_masked(words, n, b.mask[0], ret);
	else
		for (uint32_t i = 0; i < n; i++)
			ret[i] = ATW_PA(leaf_bits_pa(&b, load_word(words, ws, i)));
}

void mmu_seen_one(const struct mmu_space *sp, const struct mmu_seen *s,
		  uint32_t i, struct mmu_seen *ret)
{
	size_t off = (size_t)i * sp->paging.word_size;
	unsigned shift = sp->paging.level[s->level].shift;
	struct mmu_step *last;

	*ret = *s;
	ret->va.u += (uint64_t)i << shift;
	ret->size = (uint64_t)1 << shift;
	ret->count = 1;
	/* No entry was reached: the path ends at the table. */
	if (s->loss || !s->words || !s->depth)
		return;
	ret->words = (const char *)s->words + off;
	if (s->kind == ATW_LEAF)
		ret->pa = mmu_seen_pa(sp, s, i);
	last = &ret->path[s->depth - 1];
	last->index = (uint16_t)(last->index + i);
	last->at.u += off;
	last->word = mmu_seen_word(sp, s, i);
}

/*
 * An entry that cannot be borrowed, or NULL with *loss set. Rare, so it is not inlined.
 */
static const void *__attribute__((noinline, cold))
translate_copy_entry(struct atw_source *mem, atw_pa at, unsigned word_size,
		     uint64_t *copy, enum mmu_loss *loss, struct atw_err *err)
{
	if (memory_copied(mem, at, word_size, copy, loss, err) == word_size)
		return copy;
	if (*loss == ATW_HAVE)
		*loss = ATW_LOST;
	return NULL;
}

static int translate_translate(const struct mmu_space *sp, atw_va va,
			       struct mmu_seen *ret, struct atw_err *err)
{
	const struct atw_paging *pg = &sp->paging;
	unsigned rights = ATW_RIGHTS_ALL, level = pg->nlevels - 1u, depth = 0;
	enum atw_kind kind = ATW_TABLE;
	enum mmu_loss loss = ATW_HAVE;
	struct mmu_root root;
	uint64_t word = 0, slot, copy;
	atw_pa pa;

	if (!atw_va_valid(pg, va))
		return atw_err_set(err, ATW_E_USAGE,
				   "0x%" PRIx64 " is not an address that %s can translate (%u bits)",
				   va.u, pg->name, pg->va_bits);
	root = space_root(sp, va);
	if (!root.have)
		return atw_err_set(err, ATW_E_MISSING,
				   "no page tables are known for the %s half of the address space",
				   va.u >> 63 ? _("upper") : _("lower"));
	for (pa = root.pa;; level--) {
		unsigned index = atw_index(pg, level, va);
		atw_pa at = ATW_PA(pa.u + index * pg->word_size);
		const void *p = memory_lent(sp->mem, at, pg->word_size, err);

		if (!p)
			p = translate_copy_entry(sp->mem, at, pg->word_size, &copy, &loss,
						 err);
		if (!p)
			break;
		word = load_word(p, pg->word_size, 0);
		kind = entry_kind(pg, level, word);
		if (kind == ATW_TABLE)
			rights = entry_rights(pg, level, ATW_TABLE, word, rights);
		else if (kind == ATW_LEAF)
			rights = entry_rights(pg, level, ATW_LEAF, word, rights);
		ret->path[depth++] = (struct mmu_step){
			.level = (uint8_t)level, .kind = (uint8_t)kind,
			.rights = (uint8_t)rights, .index = (uint16_t)index,
			.at = at, .word = word,
		};
		if (kind != ATW_TABLE || !level)
			break;
		pa = entry_addr(pg, level, ATW_TABLE, word);
	}
	slot = (uint64_t)1 << pg->level[level].shift;
	ret->va = ATW_VA(va.u & ~(slot - 1));
	ret->size = slot;
	ret->pa = loss ? pa : kind == ATW_LEAF ?
		  space_leaf_pa(sp, level, word, ret->va.u) : ATW_PA(0);
	ret->count = 1;
	ret->level = (uint8_t)level;
	ret->kind = (uint8_t)(loss ? ATW_TABLE : kind);
	ret->loss = (uint8_t)loss;
	ret->depth = (uint8_t)depth;
	ret->rights = (uint8_t)rights;
	ret->repeat_of = 0;
	ret->words = depth ? &ret->path[depth - 1].word : NULL;
	return ATW_OK;
}

/*
 * Do the first n entries still lead to the same tables? The lowest is re-read first, and
 * before it, unless it is NULL, the entry of `slot`, which must not have changed.
 */
static bool translate_path_holds(const struct mmu_space *sp, const struct mmu_step *path,
				 unsigned n, const struct mmu_step *slot)
{
	const struct atw_paging *pg = &sp->paging;
	struct atw_piece piece[ATW_MAX_LEVELS + 1];
	uint64_t word[ATW_MAX_LEVELS + 1] = { 0 };
	unsigned first = slot ? 1 : 0;
	bool holds;

	if (slot)
		piece[0] = (struct atw_piece){ slot->at, &word[0], pg->word_size, 0 };
	for (unsigned i = first, d = n; d-- > 0; i++)
		piece[i] = (struct atw_piece){ path[d].at, &word[i], pg->word_size, 0 };
	atw_read_many(sp->mem, piece, first + n, NULL);
	holds = !slot || (piece[0].got == pg->word_size && word[0] == slot->word);
	for (unsigned i = first, d = n; d-- > 0 && holds; i++)
		holds = piece[i].got == pg->word_size &&
			live_same(pg, path[d].level, path[d].word, word[i]);
	return holds;
}

bool space_still_leads(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i)
{
	struct mmu_step slot;

	if (!s->depth || s->loss || !s->words || i >= s->count)
		return false;
	slot = s->path[s->depth - 1];
	slot.at.u += (uint64_t)i * sp->paging.word_size;
	slot.word = mmu_seen_word(sp, s, i);
	return translate_path_holds(sp, s->path, s->depth - 1u, &slot);
}

int mmu_translate(const struct mmu_space *sp, atw_va va, struct mmu_seen *ret,
		  struct atw_err *err)
{
	int r = translate_translate(sp, va, ret, err);

	if (r < 0 || !atw_source_is_live(sp->mem))
		return r;
	for (int i = 0; i < LIVE_TRIES && r == ATW_OK; i++) {
		unsigned tables = ret->depth;

		/* The last entry leads to no table, unless that cannot be read. */
		if (tables && ret->path[tables - 1].kind != ATW_TABLE)
			tables--;
		if (translate_path_holds(sp, ret->path, tables, NULL))
			return r;
		r = translate_translate(sp, va, ret, err);
	}
	if (r == ATW_OK) {
		ret->loss = ATW_LOST_UNSTABLE;
		ret->kind = ATW_TABLE;
	}
	return r;
}

ssize_t mmu_space_read(const struct mmu_space *sp, atw_va va, void *buf,
		       size_t len, struct atw_err *err)
{
	struct mmu_seen seen;
	size_t done = 0;

	while (done < len) {
		uint64_t at = va.u + done, off;
		size_t n = len - done;
		ssize_t got;
		int r;

		/* The range ends at the last address. */
		if (at < va.u)
			break;
		r = mmu_translate(sp, ATW_VA(at), &seen, err);
		if (r < 0)
			return done ? (ssize_t)done : r;
		if (seen.kind != ATW_LEAF || seen.loss)
			break;
		off = at - seen.va.u;
		if (n > seen.size - off)
			n = (size_t)(seen.size - off);
		got = atw_read(sp->mem, ATW_PA(seen.pa.u + off),
			       (char *)buf + done, n, err);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += (size_t)got;
		if ((size_t)got < n)
			break;
	}
	return (ssize_t)done;
}

/* ---- words of tables ---- */

enum mmu_loss memory_loss(struct atw_source *mem, atw_pa pa, ssize_t got)
{
	struct atw_extent e;

	if (got < 0)
		return ATW_LOST_DAMAGED;
	if (atw_extent_at(mem, pa, &e) == ATW_OK && e.start.u <= pa.u &&
	    e.kind == ATW_EXCLUDED)
		return ATW_LOST_EXCLUDED;
	return ATW_LOST;
}

size_t memory_copied(struct atw_source *mem, atw_pa pa, size_t len, void *scratch,
		     enum mmu_loss *loss, struct atw_err *err)
{
	ssize_t n = atw_read(mem, pa, scratch, len, err);

	if (n > 0)
		return (size_t)n;
	*loss = memory_loss(mem, pa, n);
	return 0;
}
