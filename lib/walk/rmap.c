/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rmap.c - search of page tables for entries that map given memory. */
#include "walk/rmap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/sorted.h"
#include "paging/entry.h"
#include "walk/memory.h"
#include "walk/walk_live.h"

/* ---- requests ---- */

static int rmap_by_first(const void *a, const void *b)
{
	const struct rmap_range *x = a, *y = b;

	return ORDER(x->first, y->first) ?: ORDER(x->at, y->at);
}

static void rmap_index_init(struct rmap_index *x, const struct rmap_ranges *w)
{
	enum { PAGE_SHIFT = 12, TIMES = 16, MOST = 1 << 20 };
	uint64_t high, most = w->n < MOST / TIMES ? w->n * TIMES : MOST;
	size_t at = 0;

	*x = (struct rmap_index){ .shift = PAGE_SHIFT };
	if (w->n < 2 || w->n > UINT32_MAX)
		return;
	high = w->v[w->n - 1].max_last;
	while ((high >> x->shift) - (w->v[0].first >> x->shift) >= most)
		x->shift++;
	x->low = w->v[0].first >> x->shift << x->shift;
	x->n = (size_t)((high - x->low) >> x->shift) + 1;
	x->first = malloc((x->n + 1) * sizeof(*x->first));
	if (!x->first)
		return;
	for (size_t i = 0; i < x->n; i++) {
		while (w->v[at].max_last < x->low + ((uint64_t)i << x->shift))
			at++;
		x->first[i] = (uint32_t)at;
	}
	x->first[x->n] = (uint32_t)w->n;
}

void rmap_sort(struct rmap_ranges *w)
{
	uint64_t max = 0;
	size_t sorted = 1;

	/* They often come in order. */
	while (sorted < w->n && rmap_by_first(&w->v[sorted - 1], &w->v[sorted]) <= 0)
		sorted++;
	if (sorted < w->n)
		qsort(w->v, w->n, sizeof(*w->v), rmap_by_first);
	for (size_t i = 0; i < w->n; i++) {
		max = w->v[i].last > max ? w->v[i].last : max;
		w->v[i].max_last = max;
	}
	free(w->index.first);
	rmap_index_init(&w->index, w);
}

void rmap_ranges_deinit(struct rmap_ranges *w)
{
	free(w->index.first);
	w->index.first = NULL;
}

/* Index of the first request that reaches up to `pa` or behind it. */
static inline size_t rmap_first_reaching(const struct rmap_ranges *w, uint64_t pa)
{
	const struct rmap_index *x = &w->index;
	uint64_t i;
	size_t from;

	if (!x->first)
		return SORTED_BELOW(w->v, w->n, max_last, pa);
	if (pa < x->low)
		return 0;
	i = (pa - x->low) >> x->shift;
	if (i >= x->n)
		return w->n;
	from = x->first[i];
	if (w->v[from].max_last >= pa)
		return from;
	return from + SORTED_BELOW(w->v + from, x->first[i + 1] < w->n ?
				   x->first[i + 1] - from + 1 : w->n - from, max_last, pa);
}

bool rmap_wants(const struct rmap *f, uint64_t pa, uint64_t len)
{
	const struct rmap_ranges *w = f->want;

	for (size_t i = rmap_first_reaching(w, pa);
	     i < w->n && w->v[i].first <= pa + (len - 1); i++)
		if (w->v[i].last >= pa)
			return true;
	return false;
}

/* ---- results ---- */

static bool rmap_alike(const struct rmap_entry *a, const struct rmap_entry *b)
{
	return a->kind == b->kind && a->what == b->what && a->level == b->level &&
	       a->rights == b->rights && a->span == b->span && a->flagless == b->flagless &&
	       a->opaque == b->opaque &&
	       a->kind != ATW_TABLE;
}

/*
 * b continues a: adjacent pages at adjacent addresses, or the same page in consecutive
 * slots.
 */
static bool rmap_join(struct rmap_entry *a, const struct rmap_entry *b)
{
	if (!rmap_alike(a, b))
		return false;
	if (a->times == 1 && b->times == 1 && !a->byte && !b->byte &&
	    a->va + a->bytes == b->va && a->pa + a->bytes == b->pa) {
		a->bytes += b->bytes;
		a->count += b->count;
		a->flags &= b->flags;
		a->properties &= b->properties;
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

static int rmap_push(struct rmap *f, const struct rmap_entry *h)
{
	if (!ARRAY_ROOM(f->hit, f->n, f->cap))
		return ATW_E_NOMEM;
	f->hit[f->n++] = *h;
	return ATW_OK;
}

/* Only within one table, so that no result extends into a range that a fold repeats. */
static int rmap_append(struct rmap *f, const struct rmap_entry *h, bool new_table)
{
	if (!f->all && !new_table && f->n && rmap_join(&f->hit[f->n - 1], h))
		return ATW_OK;
	return rmap_push(f, h);
}

void rmap_merge(struct rmap *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n && !f->all; i++)
		if (!n || !rmap_join(&f->hit[n - 1], &f->hit[i]))
			f->hit[n++] = f->hit[i];
	if (!f->all)
		f->n = n;
}

/*
 * The `span` bytes before `va` repeat n times from there on. Results in them that repeat
 * already, with gaps, are listed once per repetition, because a result cannot express
 * nested repeats.
 */
static int rmap_fold(struct rmap *f, const struct mmu_seen *s)
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
			if (rmap_push(f, &copy) < 0)
				return ATW_E_NOMEM;
		}
	for (size_t i = from; i < old; i++)
		f->hit[i].what &= 0x7f;
	return ATW_OK;
}

/* ---- one piece of a walk ---- */

struct rmap_at {
	struct rmap *f;
	const struct mmu_space *sp;
	const struct mmu_seen *s;
	uint64_t slot;
	bool fresh;              /* its table has no result so far */
	struct leaf_bits bits[ATW_MAX_LEVELS];
};

/* `like` describes all `slot` bytes: adds a result per request that overlaps. */
static int rmap_add_wanted(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
			   size_t k, bool *fresh)
{
	const struct rmap_ranges *w = f->want;
	uint64_t pa = like->pa, last = pa + (slot - 1);

	for (; k < w->n && w->v[k].first <= last; k++) {
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
		r = rmap_append(f, &h, *fresh);
		*fresh = false;
		if (r < 0)
			return r;
	}
	return ATW_OK;
}

int rmap_add(struct rmap *f, const struct rmap_entry *like, uint64_t slot,
	       struct atw_err *err)
{
	bool fresh = false;
	int r = rmap_add_wanted(f, like, slot, rmap_first_reaching(f->want, like->pa),
				&fresh);

	return r < 0 ? atw_err_nomem(err) : r;
}

/* Entry i, which maps `slot` bytes at `pa`. */
static int rmap_match(struct rmap_at *a, uint32_t i, uint64_t pa, uint64_t word,
		      uint8_t what)
{
	const struct mmu_seen *s = a->s;
	const struct mmu_step *p = &s->path[s->depth - 1];
	const struct atw_paging *pg = &a->sp->paging;
	const struct rmap_ranges *w = a->f->want;
	size_t k = rmap_first_reaching(w, pa);
	struct rmap_entry h;

	if (k == w->n || w->v[k].first > pa + (a->slot - 1))
		return ATW_OK;
	h = (struct rmap_entry){
		.va = s->va.u + i * a->slot, .pa = pa, .word = word,
		.index = (uint16_t)(p->index + i),
		.entry_at = p->at.u + (uint64_t)i * pg->word_size,
		.level = s->level, .kind = s->kind, .rights = s->rights, .what = what,
	};

	if (s->kind == ATW_LEAF) {
		h.flags = atw_entry_flags(pg, s->level, s->kind, word);
		h.properties = (uint8_t)atw_entry_properties(pg, s->level, s->kind, word);
		h.span = (uint8_t)atw_entry_span(pg, s->level, word);
	}
	return rmap_add_wanted(a->f, &h, a->slot, k, &a->fresh);
}

static int rmap_leaves(struct rmap_at *a)
{
	const struct mmu_seen *s = a->s;
	const struct atw_paging *pg = &a->sp->paging;
	const struct rmap_ranges *w = a->f->want;
	uint64_t lo = w->v[0].first & ~(a->slot - 1), hi = w->v[w->n - 1].max_last;
	const struct leaf_bits *b = &a->bits[s->level];
	const bool plain = leaf_bits_decide(b, pg, s->level, s->path[s->depth - 1].word);
	int r = ATW_OK;

	for (uint32_t i = 0; i < s->count && r == ATW_OK; i++) {
		uint64_t word = load_word(s->words, pg->word_size, i), pa;

		pa = plain ? leaf_bits_pa(b, word) : mmu_seen_pa(a->sp, s, i).u;
		if (pa - lo <= hi - lo)
			r = rmap_match(a, i, pa, word, 0);
	}
	a->f->leaves += s->count;
	return r;
}

/* Non-present entries that keep a page: migration entries and others. */
static int rmap_kept(struct rmap_at *a)
{
	const struct mmu_seen *s = a->s;
	uint64_t word = s->path[s->depth - 1].word, pa = 0;
	uint8_t what = a->f->kept ? a->f->kept(a->f->kept_arg, a->sp, s, &pa) : 0;
	int r = ATW_OK;

	for (uint32_t i = 0; what && i < s->count && r == ATW_OK; i++)
		r = rmap_match(a, i, pa, word, what);
	return r;
}

static int rmap_table(struct rmap_at *a)
{
	const struct mmu_seen *s = a->s;
	const struct mmu_step *p = &s->path[s->depth - 1];
	const struct rmap_entry h = {
		.va = s->va.u, .pa = s->pa.u, .bytes = a->slot, .times = 1,
		.stride = a->slot, .end = s->va.u + a->slot, .word = p->word,
		.index = p->index, .count = 1, .entry_at = p->at.u, .level = s->level,
		.kind = ATW_TABLE, .rights = s->rights,
		.flags = atw_entry_flags(&a->sp->paging, s->level, ATW_TABLE, p->word),
		.properties = (uint8_t)atw_entry_properties(&a->sp->paging, s->level, ATW_TABLE,
							    p->word),
	};

	return rmap_wants(a->f, s->pa.u, atw_table_bytes(&a->sp->paging, s->level - 1u))
		       ? rmap_push(a->f, &h)
		       : ATW_OK;
}

static void rmap_lost(struct rmap *f, const struct mmu_seen *s, const struct mmu_walk *w)
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

int rmap_walk(struct rmap *f, const struct mmu_space *sp, uint64_t first, uint64_t last,
		unsigned depth, struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_TABLE), .depth = depth,
		.flags = MMU_WALK_SOFT | (f->all ? 0 : MMU_WALK_FOLD),
	};
	struct rmap_at a = { .f = f, .sp = sp };
	const struct mmu_seen *s;
	struct mmu_walk *w;
	uint64_t in = UINT64_MAX;        /* the table of the last piece */
	int r = mmu_walk_open(sp, &o, &w, err);

	if (r < 0)
		return r;
	for (unsigned l = 0; l < sp->paging.nlevels; l++)
		a.bits[l] = leaf_bits_of(&sp->paging, l);
	while (r == ATW_OK && (r = mmu_walk_next(w, &s, err)) == ATW_OK) {
		uint64_t here;

		if (s->loss) {
			rmap_lost(f, s, w);
			continue;
		}
		if (s->repeat_of) {
			r = rmap_fold(f, s);
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
			r = rmap_leaves(&a);
		else if (s->kind == ATW_ABSENT)
			r = rmap_kept(&a);
		else if (s->kind == ATW_TABLE)
			r = rmap_table(&a);
	}
	mmu_walk_close(w);
	if (r == ATW_E_NOMEM)
		atw_err_nomem(err);
	return r == ATW_END ? ATW_OK : r;
}

enum rmap_now rmap_look(const struct mmu_space *sp, struct rmap_entry *h)
{
	const struct atw_paging *pg = &sp->paging;
	char buf[8];
	uint64_t word;

	if (h->kind != ATW_TABLE || !atw_source_is_live(sp->mem))
		return RMAP_HOLDS;
	if (atw_read(sp->mem, ATW_PA(h->entry_at), buf, pg->word_size, NULL) !=
	    (ssize_t)pg->word_size)
		return RMAP_UNREAD;
	word = load_word(buf, pg->word_size, 0);
	if (live_same(pg, h->level, h->word, word))
		return RMAP_HOLDS;
	if (entry_kind(pg, h->level, word) != ATW_TABLE)
		return RMAP_GONE;
	if (h->times > 1 || h->count > 1)
		return RMAP_UNREAD;
	h->word = word;
	h->pa = entry_addr(pg, h->level, ATW_TABLE, word).u;
	h->flags = atw_entry_flags(pg, h->level, ATW_TABLE, word);
	h->properties = (uint8_t)atw_entry_properties(pg, h->level, ATW_TABLE, word);
	return RMAP_MOVED;
}
