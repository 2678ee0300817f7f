/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranges.c - walk entries merged into ranges while they agree in what the caller
 * selected.
 *
 * Only one range is held back at a time, so memory does not grow with the listing. Folds
 * of the walker are merged if the preceding range describes them completely (one page
 * mapped over and over, as in a KASAN shadow), and unfolded otherwise.
 */
#include <stdlib.h>

#include "walk/memory.h"
#include "walk/space.h"

struct mmu_ranges {
	struct mmu_walk *walk;
	struct mmu_space sp;
	unsigned split;
	struct leaf_bits bits[ATW_MAX_LEVELS];
	struct mmu_range held;
	bool holding;
	bool mixed;                      /* the held range merges slots of several
					  * sizes */
	const struct mmu_seen *seen;     /* a piece that is partly consumed */
	uint32_t at;                     /* entries of it consumed */
	bool known;                      /* its addresses are in the `bits` of its level */
	uint64_t in_place;               /* and these are words of 8 bytes but for other
					  * bits; 0: they are not */
	struct mmu_range part;           /* an entry of it, but for its addresses */
};

int mmu_ranges_open(const struct mmu_space *sp, const struct mmu_walk_opts *o,
		    unsigned split, struct mmu_ranges **ret, struct atw_err *err)
{
	struct mmu_walk_opts wo = { .last = ATW_VA(UINT64_MAX) };
	struct mmu_ranges *r = calloc(1, sizeof(*r));
	int rc;

	if (o)
		wo = *o;
	if (!r)
		return atw_err_nomem(err);
	r->sp = *sp;
	r->split = split;
	if (!(split & MMU_SPLIT_EACH))
		wo.flags |= MMU_WALK_FOLD;
	rc = mmu_walk_open(sp, &wo, &r->walk, err);
	if (rc < 0) {
		free(r);
		return rc;
	}
	for (unsigned l = 0; l < sp->paging.nlevels; l++)
		r->bits[l] = leaf_bits_of(&sp->paging, l);
	*ret = r;
	return ATW_OK;
}

void mmu_ranges_close(struct mmu_ranges *r)
{
	if (!r)
		return;
	mmu_walk_close(r->walk);
	free(r);
}

const struct mmu_walk *mmu_ranges_walk(const struct mmu_ranges *r)
{
	return r->walk;
}

/* ---- parts of a piece ---- */

/* What entry i of the piece maps to. */
static inline uint64_t ranges_pa(const struct mmu_ranges *r, const struct mmu_seen *s,
				 uint32_t i)
{
	if (r->in_place)
		return get_le64((const char *)s->words + 8 * (size_t)i) & r->in_place;
	if (r->known)
		return leaf_bits_pa(&r->bits[s->level],
				    load_word(s->words, r->sp.paging.word_size, i));
	return mmu_seen_pa(&r->sp, s, i).u;
}

/* The entry behind those from `from` on that map `step` bytes more each. */
static inline uint32_t ranges_end(const struct mmu_ranges *r, const struct mmu_seen *s,
				  uint32_t from, uint64_t pa, uint64_t step)
{
	uint32_t i = from + 1;

	while (i < s->count && ranges_pa(r, s, i) == (pa += step))
		i++;
	return i;
}

static void ranges_begin(struct mmu_ranges *r)
{
	const struct atw_paging *pg = &r->sp.paging;
	const struct mmu_seen *s = r->seen;
	const struct leaf_bits *b = &r->bits[s->level];
	uint64_t word, slot = (uint64_t)1 << pg->level[s->level].shift;

	r->at = 0;
	r->in_place = 0;
	r->part = (struct mmu_range){
		.level = s->level, .kind = s->kind, .loss = s->loss, .rights = s->rights,
		.page = slot, .size = slot, .entries = 1, .repeat_of = s->repeat_of,
	};
	if (s->kind != ATW_LEAF || s->loss)
		return;
	word = mmu_seen_word(&r->sp, s, 0);
	r->known = leaf_bits_decide(b, pg, s->level, word);
	if (r->known && pg->word_size == 8 && !b->mask[1] && !b->left[0])
		r->in_place = b->mask[0];
	r->part.page = (uint64_t)1 << atw_entry_span(pg, s->level, word);
	r->part.flags = atw_entry_flags(pg, s->level, ATW_LEAF, word);
	r->part.properties = (uint8_t)atw_entry_properties(pg, s->level, ATW_LEAF, word);
}

/* Of a piece of leaves: the part from r->at on, and its number of entries. */
static inline uint32_t ranges_cut_leaves(const struct mmu_ranges *r, uint64_t slot,
					 struct mmu_range *g)
{
	const struct mmu_seen *s = r->seen;
	uint32_t left = s->count - r->at;
	uint64_t pa = ranges_pa(r, s, r->at), next;

	g->word = load_word(s->words, r->sp.paging.word_size, r->at);
	g->pa = ATW_PA(pa);
	if (left == 1 || r->split & MMU_SPLIT_EACH)
		return 1;
	next = ranges_pa(r, s, r->at + 1);
	if (!(r->split & MMU_SPLIT_PHYSICAL)) {
		g->scattered = ranges_end(r, s, r->at, pa, slot) < s->count;
		return left;
	}
	if (next != pa && next != pa + slot)
		return 1;
	g->same_pa = next == pa;
	return ranges_end(r, s, r->at, pa, next - pa) - r->at;
}

/* The next part of the partly consumed piece, as a range of its own. */
static inline void ranges_cut(struct mmu_ranges *r, struct mmu_range *g)
{
	const struct mmu_seen *s = r->seen;
	uint64_t slot = (uint64_t)1 << r->sp.paging.level[s->level].shift;
	uint32_t n = s->count - r->at;

	*g = r->part;
	g->va = ATW_VA(s->va.u + r->at * slot);
	if (s->kind == ATW_LEAF && !s->loss) {
		n = ranges_cut_leaves(r, slot, g);
	} else {
		if (r->split & MMU_SPLIT_EACH)
			n = 1;
		if (s->words)
			g->word = mmu_seen_word(&r->sp, s, r->at);
		if (!s->words || s->kind == ATW_TABLE)   /* or the missing table */
			g->pa = s->pa;
	}
	g->entries = n;
	g->size = n * slot;
	r->at += n;
}

/* ---- merging ---- */

static bool ranges_agree(const struct mmu_ranges *r, const struct mmu_range *a,
			 const struct mmu_range *b)
{
	uint64_t gap = b->pa.u - a->pa.u;

	if (r->split & MMU_SPLIT_EACH || a->repeat_of || b->repeat_of ||
	    a->va.u + a->size != b->va.u ||
	    a->kind != b->kind || a->loss != b->loss)
		return false;
	if (a->loss)
		return a->loss != ATW_LOST_DAMAGED;
	if (a->kind != ATW_LEAF)         /* non-present and bad words are not merged */
		return false;
	if (r->split & MMU_SPLIT_RIGHTS && a->rights != b->rights)
		return false;
	if (r->split & MMU_SPLIT_LEVEL && (a->level != b->level || a->page != b->page))
		return false;
	if (r->split & MMU_SPLIT_FLAGS && a->flags != b->flags)
		return false;
	if (!(r->split & MMU_SPLIT_PHYSICAL))
		return true;
	if (a->level == b->level && !gap &&
	    (a->same_pa || a->entries == 1) && (b->same_pa || b->entries == 1))
		return true;
	return !a->same_pa && !b->same_pa && gap == a->size;
}

static void ranges_merge(struct mmu_ranges *r, const struct mmu_range *b)
{
	struct mmu_range *a = &r->held;

	a->scattered |= b->scattered || (a->kind == ATW_LEAF && b->pa.u != a->pa.u + a->size);
	r->mixed |= a->level != b->level;
	if (a->level == b->level && a->pa.u == b->pa.u && a->kind == ATW_LEAF &&
	    r->split & MMU_SPLIT_PHYSICAL)
		a->same_pa = true;
	if (a->same_pa)
		a->scattered = false;
	a->size += b->size;
	a->entries += b->entries;
	a->flags &= b->flags;
	a->properties &= b->properties;
	a->mixed_rights |= b->mixed_rights || a->rights != b->rights;
	a->rights &= b->rights;
	if (b->page != a->page)
		a->page = 0;
	if (b->level < a->level)
		a->level = b->level;
}

/*
 * A few repeats are walked; many become one row with their number, which --all
 * (MMU_SPLIT_EACH) expands.
 */
enum { FEW_REPEATS = 8 };

/* Does the held range describe a folded piece completely? */
static bool ranges_covers(const struct mmu_ranges *r, const struct mmu_seen *s)
{
	const struct mmu_range *h = &r->held;

	return r->holding && !r->mixed && h->va.u + h->size == s->va.u &&
	       h->size >= s->repeat_of &&
	       (h->loss ? h->loss != ATW_LOST_DAMAGED :
		h->kind == ATW_LEAF &&
		(h->same_pa || !(r->split & MMU_SPLIT_PHYSICAL)));
}

/*
 * Parts of one piece are never merged: each ends where the next entry does not continue it.
 * So only its first part can continue the held range, and only its last one is held for
 * the next piece.
 */
static bool ranges_middle(struct mmu_ranges *r, struct mmu_range *ret)
{
	if (!r->at)
		return false;
	if (r->holding) {
		r->holding = false;
		*ret = r->held;
		return true;
	}
	ranges_cut(r, ret);
	if (r->at < r->seen->count)
		return true;
	r->held = *ret;
	r->holding = true;
	r->mixed = false;
	r->seen = NULL;
	return false;
}

/* The next piece, or what is held back at the end. */
static int ranges_fetch(struct mmu_ranges *r, struct mmu_range *ret, bool *emit,
			struct atw_err *err)
{
	int rc = mmu_walk_next(r->walk, &r->seen, err);

	if (rc == ATW_OK) {
		ranges_begin(r);
		return rc;
	}
	r->seen = NULL;
	*emit = r->holding;
	if (!r->holding)
		return rc;
	/* Return the complete ranges first, then the failure. */
	r->holding = false;
	*ret = r->held;
	return ATW_OK;
}

/* Handle a piece that repeats what is before it, unless it is to be a range. */
static bool ranges_repeat(struct mmu_ranges *r)
{
	if (ranges_covers(r, r->seen)) {
		r->held.entries += r->seen->size >> r->sp.paging.level[r->held.level].shift;
		r->held.size += r->seen->size;
	} else if (r->seen->count < FEW_REPEATS) {
		mmu_walk_unfold(r->walk);
	} else {
		return false;
	}
	r->seen = NULL;
	return true;
}

/*
 * In the middle of a piece: an entry that is a range of its own. On scattered tables nearly
 * all are, so this path has no call and no copy but that of the common part.
 */
static inline bool ranges_single(struct mmu_ranges *r, struct mmu_range *ret)
{
	const struct mmu_seen *s = r->seen;
	uint64_t slot = r->part.size, word, pa, next;
	const char *words;

	if (!s || !r->at || r->holding || !r->in_place || r->at + 1 >= s->count)
		return false;
	words = (const char *)s->words + 8 * (size_t)r->at;
	word = get_le64(words);
	pa = word & r->in_place;
	next = get_le64(words + 8) & r->in_place;
	if (!(r->split & MMU_SPLIT_EACH) && (next == pa || next == pa + slot))
		return false;
	*ret = r->part;
	ret->va = ATW_VA(s->va.u + r->at++ * slot);
	ret->pa = ATW_PA(pa);
	ret->word = word;
	return true;
}

static int __attribute__((noinline))
ranges_any(struct mmu_ranges *r, struct mmu_range *ret, struct atw_err *err)
{
	struct mmu_range g;
	bool emit = false;
	int rc;

	for (;;) {
		if (r->seen && ranges_middle(r, ret))
			return ATW_OK;
		if (!r->seen) {
			rc = ranges_fetch(r, ret, &emit, err);
			if (rc != ATW_OK || emit)
				return rc;
		}
		if (r->seen->repeat_of && ranges_repeat(r))
			continue;
		ranges_cut(r, &g);
		if (r->at == r->seen->count)
			r->seen = NULL;
		if (!r->holding) {
			r->held = g;
			r->holding = true;
			r->mixed = false;
		} else if (ranges_agree(r, &r->held, &g)) {
			ranges_merge(r, &g);
		} else {
			*ret = r->held;
			r->held = g;
			r->mixed = false;
			return ATW_OK;
		}
	}
}

int mmu_ranges_next(struct mmu_ranges *r, struct mmu_range *ret, struct atw_err *err)
{
	return ranges_single(r, ret) ? ATW_OK : ranges_any(r, ret, err);
}
