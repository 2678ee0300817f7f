// SPDX-License-Identifier: GPL-2.0-or-later
/* finder.c - search of page tables for entries that map given memory. */
#include "linux/finder.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "walk/memory.h"

/* ---- requests ---- */

static int finder_by_first(const void *a, const void *b)
{
	const struct rmap_range *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void wanted_sort(struct rmap_ranges *w)
{
	uint64_t max = 0;

	qsort(w->v, w->n, sizeof(*w->v), finder_by_first);
	for (size_t i = 0; i < w->n; i++) {
		max = w->v[i].last > max ? w->v[i].last : max;
		w->v[i].max_last = max;
	}
}

/* The first request that may reach to `pa` or beyond. */
static size_t finder_first_reaching(const struct rmap_ranges *w, uint64_t pa)
{
	size_t lo = 0, hi = w->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (w->v[mid].max_last >= pa)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

bool finder_wants(const struct rmap *f, uint64_t pa, uint64_t len)
{
	const struct rmap_ranges *w = f->want;

	for (size_t i = finder_first_reaching(w, pa);
	     i < w->n && w->v[i].first <= pa + (len - 1); i++)
		if (w->v[i].last >= pa)
			return true;
	return false;
}

/* ---- results ---- */

static bool finder_alike(const struct rmap_entry *a, const struct rmap_entry *b)
{
	return a->kind == b->kind && a->what == b->what && a->level == b->level &&
	       a->rights == b->rights && a->span == b->span && a->flagless == b->flagless &&
	       a->kind != ATW_TABLE;
}

/*
 * b continues a: adjacent pages at adjacent addresses, or the same page in consecutive
 * slots.
 */
static bool finder_join(struct rmap_entry *a, const struct rmap_entry *b)
{
	if (!finder_alike(a, b))
		return false;
	if (a->times == 1 && b->times == 1 && !a->byte && !b->byte &&
	    a->va + a->bytes == b->va && a->pa + a->bytes == b->pa) {
		a->bytes += b->bytes;
		a->count += b->count;
		a->flags &= b->flags;
		a->end = b->end;
		return true;
	}
	if (a->word == b->word && a->pa == b->pa && a->bytes == b->bytes &&
	    a->byte == b->byte && a->count == 1 && b->count == 1 &&
	    a->stride == b->stride && b->va - a->va == a->times * a->stride) {
		a->times += b->times;
		return true;
	}
	return false;
}

static int finder_push(struct rmap *f, const struct rmap_entry *h)
{
	if (!array_reserve((void **)&f->hit, &f->cap, f->n + 1, sizeof(*f->hit)))
		return ATW_E_NOMEM;
	f->hit[f->n++] = *h;
	return ATW_OK;
}

/* Only within one table, so that no result extends into a range that a fold repeats. */
static int finder_append(struct rmap *f, const struct rmap_entry *h, bool new_table)
{
	if (!f->all && !new_table && f->n && finder_join(&f->hit[f->n - 1], h))
		return ATW_OK;
	return finder_push(f, h);
}

void finder_merge(struct rmap *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n && !f->all; i++)
		if (!n || !finder_join(&f->hit[n - 1], &f->hit[i]))
			f->hit[n++] = f->hit[i];
	if (!f->all)
		f->n = n;
}

/*
 * The `span` bytes before `va` repeat n times from there on. Results in them that repeat
 * already, with gaps, are listed once per repetition, because a result cannot express
 * nested repeats.
 */
static int finder_fold(struct rmap *f, const struct mmu_seen *s)
{
	uint64_t va = s->va.u, span = s->repeat_of, n = s->size / span;
	const size_t old = f->n;
	size_t from = old;

	/* Entries of tables above may begin at the same address, and are not repeated. */
	while (from && f->hit[from - 1].va >= va - span && f->hit[from - 1].va < va &&
	       f->hit[from - 1].level <= s->level)
		from--;
	for (size_t i = from; i < old; i++) {
		struct rmap_entry *h = &f->hit[i];

		if (h->times * h->stride == span && h->va < va - span + h->stride) {
			h->times *= n + 1;
		} else if (h->times == 1) {
			h->times = n + 1;
			h->stride = span;
		} else {
			h->what |= 0x80;         /* marked for the second pass */
		}
	}
	for (uint64_t turn = 1; turn <= n; turn++)
		for (size_t i = from; i < old; i++) {
			struct rmap_entry copy = f->hit[i];

			if (!(copy.what & 0x80))
				continue;
			copy.what &= 0x7f;
			copy.va += turn * span;
			copy.end += turn * span;
			if (finder_push(f, &copy) < 0)
				return ATW_E_NOMEM;
		}
	for (size_t i = from; i < old; i++)
		f->hit[i].what &= 0x7f;
	return ATW_OK;
}

/* ---- one piece of a walk ---- */

struct at {
	struct rmap *f;
	const struct mmu_space *sp;
	const struct mmu_seen *s;
	uint64_t slot;
	bool fresh;              /* its table has no result so far */
};

/* `like` describes all `slot` bytes: adds a result per request that overlaps. */
static int finder_add_wanted(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
			     bool *fresh)
{
	const struct rmap_ranges *w = f->want;
	uint64_t pa = like->pa, last = pa + (slot - 1);

	for (size_t k = finder_first_reaching(w, pa); k < w->n && w->v[k].first <= last;
	     k++) {
		const struct rmap_range *want = &w->v[k];
		uint64_t from = want->byte ? want->at : want->first > pa ? want->first : pa;
		uint64_t to = want->byte ? last : want->last < last ? want->last : last;
		struct rmap_entry h = *like;
		int r;

		if (want->last < pa)
			continue;
		h.va += from - pa;
		h.pa = from;
		h.bytes = want->byte ? slot : to - from + 1;
		h.times = 1;
		h.stride = slot;
		h.end = like->va + (to - pa) + 1;
		h.count = 1;
		h.byte = want->byte;
		r = finder_append(f, &h, *fresh);
		*fresh = false;
		if (r < 0)
			return r;
	}
	return ATW_OK;
}

int finder_add(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
	       struct atw_err *err)
{
	bool fresh = false;
	int r = finder_add_wanted(f, like, slot, &fresh);

	return r < 0 ? atw_err_nomem(err) : r;
}

/* Entry i, which maps `slot` bytes at `pa`. */
static int finder_match(struct at *a, uint32_t i, uint64_t pa, uint64_t word,
			const struct atw_soft_word *soft)
{
	const struct mmu_seen *s = a->s;
	const struct mmu_step *p = &s->path[s->depth - 1];
	const struct atw_paging *pg = &a->sp->paging;
	struct rmap_entry h = {
		.va = s->va.u + i * a->slot,
		.pa = pa,
		.word = word,
		.index = (uint16_t)(p->index + i),
		.entry_at = p->at.u + (uint64_t)i * pg->word_size,
		.level = s->level,
		.kind = s->kind,
		.rights = s->rights,
		.what = soft ? soft->what : 0,
	};

	if (!soft) {
		h.flags = atw_entry_flags(pg, s->level, s->kind, word);
		h.span = (uint8_t)atw_entry_span(pg, s->level, word);
	}
	return finder_add_wanted(a->f, &h, a->slot, &a->fresh);
}

/*
 * The address bits of a leaf of a single slot, if they are in at most two fields: a mask
 * and two shifts each. Other leaves are decoded one by one.
 */
struct finder_pieces {
	uint64_t mask[2];
	uint8_t down[2], up[2];
	bool have;
};

static struct finder_pieces finder_pieces_of(const struct atw_paging *pg, unsigned level)
{
	unsigned shift = pg->level[level].shift;
	struct finder_pieces p = {.have = !pg->addr[2].hi};

	for (unsigned i = 0; i < 2 && pg->addr[i].hi; i++) {
		const struct atw_bits *b = &pg->addr[i];
		unsigned from = b->lo + (shift > b->to ? shift - b->to : 0u);

		p.have &= !b->mask;
		if (from > b->hi)
			continue;
		p.mask[i] = ~(uint64_t)0 >> (63 - b->hi) & ~(uint64_t)0 << from & ~pg->ignore;
		p.down[i] = b->lo;
		p.up[i] = b->to;
	}
	return p;
}

static inline uint64_t finder_piece_address(const struct finder_pieces *p, uint64_t word)
{
	return (word & p->mask[0]) >> p->down[0] << p->up[0] |
	       (word & p->mask[1]) >> p->down[1] << p->up[1];
}

static int finder_leaves(struct at *a)
{
	const struct mmu_seen *s = a->s;
	const struct atw_paging *pg = &a->sp->paging;
	const struct rmap_ranges *w = a->f->want;
	uint64_t lo = w->v[0].first & ~(a->slot - 1), hi = w->v[w->n - 1].max_last;
	struct finder_pieces p = finder_pieces_of(pg, s->level);
	int r = ATW_OK;

	p.have &= atw_entry_span(pg, s->level, s->path[s->depth - 1].word) ==
		  pg->level[s->level].shift;
	for (uint32_t i = 0; i < s->count && r == ATW_OK; i++) {
		uint64_t word = load_word(s->words, pg->word_size, i), pa;

		pa = p.have ? finder_piece_address(&p, word) : mmu_seen_pa(a->sp, s, i).u;
		if (pa - lo <= hi - lo)
			r = finder_match(a, i, pa, word, NULL);
	}
	a->f->leaves += s->count;
	return r;
}

/* Non-present entries that keep a page: migration entries and others. */
static int finder_kept(struct at *a)
{
	const struct mmu_seen *s = a->s;
	uint64_t word = s->path[s->depth - 1].word;
	const struct atw_soft_word soft = atw_soft_decode_at(a->f->soft, &a->sp->paging,
							     s->va, s->level, word);
	int r = ATW_OK;

	if (soft.what != ATW_SOFT_PROTNONE && soft.what != ATW_SOFT_MIGRATION &&
	    soft.what != ATW_SOFT_POISON && soft.what != ATW_SOFT_DEVICE)
		return ATW_OK;
	for (uint32_t i = 0; i < s->count && r == ATW_OK; i++)
		r = finder_match(a, i, soft.pa.u, word, &soft);
	return r;
}

static int finder_table(struct at *a)
{
	const struct mmu_seen *s = a->s;
	const struct mmu_step *p = &s->path[s->depth - 1];
	const struct rmap_entry h = {
		.va = s->va.u,
		.pa = s->pa.u,
		.bytes = a->slot,
		.times = 1,
		.stride = a->slot,
		.end = s->va.u + a->slot,
		.word = p->word,
		.index = p->index,
		.count = 1,
		.entry_at = p->at.u,
		.level = s->level,
		.kind = ATW_TABLE,
		.rights = s->rights,
		.flags = atw_entry_flags(&a->sp->paging, s->level, ATW_TABLE, p->word),
	};

	return finder_wants(a->f, s->pa.u, atw_table_bytes(&a->sp->paging, s->level - 1u))
		       ? finder_push(a->f, &h)
		       : ATW_OK;
}

static void finder_lost(struct rmap *f, const struct mmu_seen *s,
			const struct mmu_walk *w)
{
	if (s->loss == ATW_LOST_EXCLUDED)
		f->excluded++;
	else if (s->loss == ATW_LOST_DAMAGED && !f->damaged++)
		f->damage = *mmu_walk_error(w);
	else if (s->loss == ATW_LOST_UNSTABLE)
		f->unstable++;
	else if (s->loss == ATW_LOST)
		f->lost++;
}

int finder_walk(struct rmap *f, const struct mmu_space *sp, uint64_t first, uint64_t last,
		unsigned depth, struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.size = sizeof(o), .first = ATW_VA(first), .last = ATW_VA(last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_TABLE), .depth = depth,
		.flags = MMU_WALK_SOFT | (f->all ? 0 : MMU_WALK_FOLD),
	};
	struct at a = { .f = f, .sp = sp };
	const struct mmu_seen *s;
	struct mmu_walk *w;
	uint64_t in = UINT64_MAX;        /* the table of the last piece */
	int r = mmu_walk_open(sp, &o, &w, err);

	if (r < 0)
		return r;
	while (r == ATW_OK && (r = mmu_walk_next(w, &s, err)) == ATW_OK) {
		uint64_t here;

		if (s->loss) {
			finder_lost(f, s, w);
			continue;
		}
		if (s->repeat_of) {
			r = finder_fold(f, s);
			in = UINT64_MAX;
			continue;
		}
		a.s = s;
		a.slot = (uint64_t)1 << sp->paging.level[s->level].shift;
		here = s->path[s->depth - 1].at.u - (uint64_t)s->path[s->depth - 1].index *
			sp->paging.word_size;
		a.fresh = here != in;
		in = here;
		if (s->kind == ATW_LEAF)
			r = finder_leaves(&a);
		else if (s->kind == ATW_ABSENT)
			r = finder_kept(&a);
		else if (s->kind == ATW_TABLE)
			r = finder_table(&a);
	}
	mmu_walk_close(w);
	if (r == ATW_E_NOMEM)
		atw_err_nomem(err);
	return r == ATW_END ? ATW_OK : r;
}
