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
	uint64_t plain[ATW_MAX_LEVELS];  /* mask of address bits that are stored in
					  * place; 0 if others are not */
	struct mmu_range held;
	bool holding;
	bool mixed;                      /* the held range merges slots of several
					  * sizes */
	const struct mmu_seen *seen;     /* a piece that is partly consumed */
	uint32_t at;                     /* entries of it consumed */
	uint64_t flags, page;            /* common to all its entries */
	uint8_t properties;              /* likewise */
};

/*
 * If the address bits of a level are stored in place, neighbours are contiguous if their
 * words differ by exactly the slot size: no decoding is needed.
 */
static uint64_t ranges_plain_mask(const struct atw_paging *pg, unsigned level)
{
	const struct entry_pieces e = entry_pieces(pg, level, ATW_LEAF);
	bool plain = e.n == 1 && !e.piece[0].left && !e.more;

	return plain && !entry_may_replace(pg, level) ? e.piece[0].mask : 0;
}

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
		r->plain[l] = ranges_plain_mask(&sp->paging, l);
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

/* The number of entries from `from` on that map consecutive pages. */
static uint32_t ranges_contiguous(const struct mmu_ranges *r, const struct mmu_seen *s,
				  uint32_t from)
{
	uint64_t slot = (uint64_t)1 << r->sp.paging.level[s->level].shift;
	uint64_t mask = r->plain[s->level], want;
	unsigned ws = r->sp.paging.word_size;
	uint32_t i = from + 1;

	if (mask) {
		want = (load_word(s->words, ws, from) & mask) + slot;
		for (; i < s->count; i++, want += slot)
			if ((load_word(s->words, ws, i) & mask) != want)
				break;
		return i - from;
	}
	want = mmu_seen_pa(&r->sp, s, from).u + slot;
	for (; i < s->count; i++, want += slot)
		if (mmu_seen_pa(&r->sp, s, i).u != want)
			break;
	return i - from;
}

/* The number of entries from `from` on that map the same page. */
static uint32_t ranges_same_page(const struct mmu_ranges *r, const struct mmu_seen *s,
				 uint32_t from)
{
	uint64_t pa = mmu_seen_pa(&r->sp, s, from).u;
	uint32_t i = from + 1;

	while (i < s->count && mmu_seen_pa(&r->sp, s, i).u == pa)
		i++;
	return i - from;
}

/* The next part of the partly consumed piece, as a range of its own. */
static struct mmu_range ranges_cut(struct mmu_ranges *r)
{
	const struct atw_paging *pg = &r->sp.paging;
	const struct mmu_seen *s = r->seen;
	uint64_t slot = (uint64_t)1 << pg->level[s->level].shift, word = 0;
	uint32_t n = s->count - r->at;
	struct mmu_range g = {
		.va = ATW_VA(s->va.u + r->at * slot),
		.level = s->level, .kind = s->kind, .loss = s->loss,
		.rights = s->rights, .page = slot, .repeat_of = s->repeat_of,
	};

	if (r->split & MMU_SPLIT_EACH)
		n = 1;
	if (s->kind == ATW_LEAF && !s->loss) {
		word = mmu_seen_word(&r->sp, s, r->at);
		g.pa = mmu_seen_pa(&r->sp, s, r->at);
		if (!r->at) {
			r->page = (uint64_t)1 << atw_entry_span(pg, s->level, word);
			r->flags = atw_entry_flags(pg, s->level, ATW_LEAF, word);
			r->properties = (uint8_t)atw_entry_properties(pg, s->level, ATW_LEAF,
								      word);
		}
		g.page = r->page;
		g.flags = r->flags;
		g.properties = r->properties;
		if (r->split & MMU_SPLIT_PHYSICAL && n > 1) {
			uint32_t c = ranges_contiguous(r, s, r->at);

			if (c == 1) {
				c = ranges_same_page(r, s, r->at);
				g.same_pa = c > 1;
			}
			n = c;
		} else if (n > 1) {
			g.scattered = ranges_contiguous(r, s, r->at) < n;
		}
	} else if (s->words) {
		word = mmu_seen_word(&r->sp, s, r->at);
		if (s->kind == ATW_TABLE)
			g.pa = s->pa;
	} else {
		g.pa = s->pa;            /* of the missing table */
	}
	g.word = word;
	g.entries = n;
	g.size = n * slot;
	r->at += n;
	return g;
}

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
	if (r->split & MMU_SPLIT_LEVEL &&
	    (a->level != b->level || a->page != b->page))
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

int mmu_ranges_next(struct mmu_ranges *r, struct mmu_range *ret,
		    struct atw_err *err)
{
	struct mmu_range g;
	int rc;

	for (;;) {
		if (!r->seen) {
			rc = mmu_walk_next(r->walk, &r->seen, err);
			if (rc != ATW_OK) {
				r->seen = NULL;
				if (!r->holding)
					return rc;
				/* Return the complete ranges first, then the failure. */
				r->holding = false;
				*ret = r->held;
				return ATW_OK;
			}
			r->at = 0;
		}
		if (r->seen->repeat_of) {
			if (ranges_covers(r, r->seen)) {
				r->held.entries += r->seen->size >>
					r->sp.paging.level[r->held.level].shift;
				r->held.size += r->seen->size;
				r->seen = NULL;
				continue;
			}
			if (r->seen->count < FEW_REPEATS) {
				mmu_walk_unfold(r->walk);
				r->seen = NULL;
				continue;
			}
		}
		g = ranges_cut(r);
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
