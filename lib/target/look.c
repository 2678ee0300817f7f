/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look.c - one pass over all page tables: mapcounts, and runs of frames of each space. */
#include "target/look.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/huge.h"
#include "walk/memory.h"
#include "walk/space.h"
#include "walk/sweep.h"

enum {
	STRIDE = LIST_STRIDE,    /* words that are skipped together if all are 0 */
	LIST_MOST = 1 << 22,     /* frames that are listed: of 16 GiB; more are runs */
	LIST_SOON = 48,          /* as COUNTS_SOON: no more is done with most of them */
};

struct look_looker {
	struct look *l;
	const struct look_opts *o;
	struct counts *counts;
	const struct mmu_space **sp;             /* that are swept */
	size_t *index;                           /* in look.space */
	size_t n, done;
	const struct atw_paging *pg;
	struct sure leaf;                        /* of the lowest level */
	uint64_t step;                           /* from a leaf to that of the next frame; 0: none */
	bool spans;                              /* of leaves of the lowest level */
	struct look_space now;
	size_t space;                            /* index in look.space */
	/* Small pages of the space, listed to separate those mapped once from others. */
	struct look_small small;                 /* mask 0: none are listed */
	look_list_fn *list_fn;
	uint32_t *list;
	size_t listed, list_cap;
	/* The run under way. */
	uint64_t pfn, times;
	unsigned class;
};

/* ---- runs ---- */

/* false: no memory. */
static bool look_end_run(struct look_looker *k)
{
	const uint64_t most = (uint64_t)1 << LOOK_MORE_BITS;
	struct look *l = k->l;

	while (k->times) {
		uint64_t n = k->times < most ? k->times : most;

		if (l->n == l->cap &&
		    !huge_reserve((void **)&l->run, &l->cap, l->n + 1, sizeof(*l->run), true))
			return false;
		l->classes |= (uint64_t)1 << k->class;
		l->run[l->n++] = k->pfn | (n - 1) << LOOK_PFN_BITS |
				 (uint64_t)k->class << LOOK_ORDER_AT;
		k->pfn += n << (k->class < LOOK_SPAN ? k->class : 0);
		k->times -= n;
	}
	return true;
}

static inline bool look_add(struct look_looker *k, uint64_t pfn, unsigned class)
{
	if (class == k->class && k->times &&
	    pfn == k->pfn + (k->times << (class < LOOK_SPAN ? class : 0))) {
		k->times++;
		return true;
	}
	if (!look_end_run(k))
		return false;
	if (pfn >> LOOK_PFN_BITS) {
		k->now.odd = true;
		return true;
	}
	k->pfn = pfn;
	k->times = 1;
	k->class = class;
	return true;
}

static bool look_count(struct look_looker *k)
{
	const struct look *l = k->l;

	for (size_t i = k->now.first; i < l->n; i++) {
		uint64_t pfn = look_pfn(l->run[i]);
		uint32_t times = look_times(l->run[i]);
		unsigned order = look_order(l->run[i]);

		if (i + COUNTS_SOON < l->n)
			counts_soon(k->counts, look_pfn(l->run[i + COUNTS_SOON]));
		if (!counts_is_large(pfn, (uint64_t)1 << order) &&
		    !soles_leave(&k->l->soles, k->counts, pfn, (uint64_t)times << order))
			return false;
		if (!order && times == 1) {
			if (!counts_add_one(k->counts, pfn))
				return false;
			continue;
		}
		if (!order && !counts_add_each(k->counts, pfn, times))
			return false;
		for (uint32_t t = 0; order && t < times; t++)
			if (!counts_add(k->counts, pfn + ((uint64_t)t << order),
					(uint64_t)1 << order))
				return false;
	}
	return true;
}

/* What was listed: a space has it alone, or in a run, as far as is known by now. */
static bool look_settle(struct look_looker *k)
{
	struct soles *s = &k->l->soles;
	uint64_t alone = 0;
	bool good = true;

	for (size_t i = 0; i < k->listed && good; i++) {
		uint32_t pfn = k->list[i];
		uint16_t *note;

		if (i + LIST_SOON < k->listed)
			soles_soon(s, k->counts, k->list[i + LIST_SOON]);
		note = soles_meet(s, pfn);
		if (!*note) {
			*note = (uint16_t)(k->space + 1);
			alone++;
		} else {
			good = soles_add(s, k->counts, pfn, note) && look_add(k, pfn, 0);
		}
	}
	if (s->frames)
		s->pages[k->space] += alone;
	k->listed = 0;
	return good && look_end_run(k);
}

/* ---- entries ---- */

static unsigned look_looker_class(const struct look_looker *k, unsigned level,
				  uint64_t word)
{
	if (level)
		return k->pg->level[level].shift - k->pg->page_shift;
	if (word & k->o->special)
		return LOOK_SPECIAL;
	return k->spans && entry_span_rule(k->pg, 0, word) ? LOOK_SPAN : 0;
}

/* One that the CPU ignores. */
static bool look_soft(struct look_looker *k, unsigned level, uint64_t word)
{
	struct atw_soft_word w = atw_soft_decode(k->o->soft, k->pg, level, word);

	if (w.guess && k->o->sure)
		w = atw_soft_decode(k->o->sure(k->o->sure_arg), k->pg, level, word);
	/* On their way elsewhere, or on a device: they are in the RSS. */
	k->now.odd |= w.guess || w.what == ATW_SOFT_UNKNOWN || w.what == ATW_SOFT_MIGRATION ||
		      w.what == ATW_SOFT_DEVICE;
	if (w.what == ATW_SOFT_SWAP)
		k->now.swapped += (uint64_t)1 << (k->pg->level[level].shift - k->pg->page_shift);
	return w.what != ATW_SOFT_PROTNONE || look_add(k, w.pa.u >> k->pg->page_shift,
						       look_looker_class(k, level, word));
}

static bool look_word(struct look_looker *k, const struct mmu_space *sp,
		      unsigned level, uint64_t va, uint64_t word)
{
	switch (entry_kind(k->pg, level, word)) {
	case ATW_LEAF:
		return look_add(
			k, space_leaf_pa(sp, level, word, va).u >> k->pg->page_shift,
			look_looker_class(k, level, word));
	case ATW_ABSENT:
		return look_soft(k, level, word);
	case ATW_BAD:
		k->now.odd = true;
		return true;
	default:
		return true;
	}
}

static int look_no_memory(struct atw_err *err)
{
	return atw_err_set(err, ATW_E_LIMIT, "out of memory");
}

/* Is there room to list all frames of a table? */
static bool look_lists(struct look_looker *k, const struct sweep_seen *s)
{
	return !s->level && k->small.mask && k->listed < LIST_MOST &&
	       array_reserve((void **)&k->list, &k->list_cap, k->listed + s->n + STRIDE,
			     sizeof(*k->list));
}

/* Returns how many of the words need not be looked at. */
static uint32_t look_looker_list(struct look_looker *k, const char *words, uint32_t n)
{
	uint32_t listed, seen = k->list_fn(&k->small, words, n, k->list + k->listed, &listed);

	k->listed += listed;
	return seen;
}

/* A table of a space. */
static int look_table(void *arg, const struct sweep_seen *s, struct atw_err *err)
{
	struct look_looker *k = arg;
	const struct mmu_space *sp = k->sp[s->space];
	unsigned ws = k->pg->word_size, shift = k->pg->level[s->level].shift;
	const char *words = s->words;
	bool good = true, lists = look_lists(k, s);

	for (uint32_t i = 0; i < s->n && good; i++) {
		uint64_t word;

		if (lists && !(i % STRIDE)) {
			i += look_looker_list(k, words + (size_t)i * ws, s->n - i);
			if (i == s->n)
				break;
		}
		if (!(i % STRIDE) && i + STRIDE <= s->n &&
		    words_blank(words, ws, i, STRIDE)) {
			i += STRIDE - 1;
			continue;
		}
		word = load_word(words, ws, i);
		if (!word)
			continue;
		if (!s->level && sure_is(&k->leaf, word)) {
			uint64_t next = word + k->step, pfn;

			pfn = sure_address(&k->leaf, word) >> k->pg->page_shift;
			good = look_add(k, pfn, look_looker_class(k, 0, word));
			/* The run goes on as long as nothing but the frame changes. */
			while (k->step && i + 1 < s->n && load_word(words, ws, i + 1) == next &&
			       sure_address(&k->leaf, next) >> k->pg->page_shift == ++pfn) {
				k->times++;
				next += k->step;
				i++;
			}
		} else
			good = look_word(k, sp, s->level,
					 s->va + ((uint64_t)i << shift), word);
	}
	return good ? ATW_OK : look_no_memory(err);
}

/* ---- spaces ---- */

static void look_begin(struct look_looker *k)
{
	k->now = (struct look_space){ .first = k->l->n };
	k->times = 0;
	k->listed = 0;
}

/* Walk a space with tables that changed during the sweep, or with none to sweep. */
static int look_walk(struct look_looker *k, const struct mmu_space *sp,
		     struct atw_err *err)
{
	const struct mmu_walk_opts wo = {
		.last = ATW_VA(UINT64_MAX >> 1), .flags = MMU_WALK_SOFT,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	bool good = true;
	int r = mmu_walk_open(sp, &wo, &w, err);

	if (r < 0)
		return r;
	while (good && (r = mmu_walk_next(w, &s, NULL)) == ATW_OK) {
		if (s->loss) {
			k->now.odd = true;
			continue;
		}
		for (uint32_t i = 0; i < s->count && good; i++)
			good = s->kind == ATW_LEAF
				       ? look_add(k,
						  mmu_seen_pa(sp, s, i).u >>
								 k->pg->page_shift,
							 look_looker_class(
								 k, s->level,
								 mmu_seen_word(sp, s, i)))
				       : look_word(k, sp, s->level, s->va.u,
						   mmu_seen_word(sp, s, i));
	}
	mmu_walk_close(w);
	k->now.ended = r < 0 && !mmu_space_lives(sp);
	k->now.odd |= r < 0 && !k->now.ended;
	return good ? ATW_OK : look_no_memory(err);
}

static int look_done(void *arg, size_t space, bool moved, struct atw_err *err)
{
	struct look_looker *k = arg;
	struct look *l = k->l;
	int r = ATW_OK;

	k->space = k->index[space];
	if (moved) {
		l->n = k->now.first;
		look_begin(k);
		r = look_walk(k, k->sp[space], err);
	}
	if (r == ATW_OK && (!look_end_run(k) || !look_count(k) || !look_settle(k)))
		r = look_no_memory(err);
	if (l->n > k->o->most)
		l->keep = false;
	if (!l->keep)
		l->n = k->now.first = 0;
	k->now.n = l->n - k->now.first;
	l->space[k->index[space]] = k->now;
	look_begin(k);
	if (k->o->progress)
		k->o->progress(k->o->arg, ++k->done, k->n);
	return r;
}

/*
 * Entries that look_looker_list() takes: surely leaves, none of them special or one of
 * several that are one translation.
 */
static void look_find_small(struct look_looker *k)
{
	struct sure s = k->leaf;
	unsigned left = s.piece[0].left;

	if (!k->step || s.piece[1].mask || k->pg->word_size != 8 || left > k->pg->page_shift ||
	    s.value & k->o->special)
		return;
	s.mask |= k->o->special;
	for (const struct atw_span_rule *r = k->pg->spans; r && r->shift; r++) {
		uint64_t bit = r->mask & -r->mask;

		if (!(r->levels & ATW_L(0)) || r->replaces)
			continue;
		if (s.mask & bit)
			return;
		s.mask |= bit;
		s.value |= ~r->value & bit;
	}
	k->small = (struct look_small){
		.mask = s.mask, .value = s.value, .address = s.piece[0].mask,
		.right = k->pg->page_shift - left,
	};
	/*
	 * Frame numbers beyond the soles (their number is a power of two) have a higher
	 * bit.
	 */
	k->small.mask |= k->small.address & ~((k->l->soles.frames << k->small.right) - 1);
	k->list_fn = look_list_best();
}

static void look_init(struct look_looker *k)
{
	k->pg = &k->sp[0]->paging;
	if (!sure_find(k->pg, 0, ATW_LEAF, &k->leaf))
		k->leaf = SURE_NONE;
	/* Where the lowest bit of the address lies in an entry. */
	else if (k->leaf.piece[0].mask)
		k->step = k->leaf.piece[0].mask & -k->leaf.piece[0].mask;
	for (const struct atw_span_rule *r = k->pg->spans; r && r->shift; r++)
		k->spans |= r->levels & ATW_L(0);
	if (k->o->soles && soles_init(&k->l->soles, k->o->soles, k->o->n))
		look_find_small(k);
}

int look_at_spaces(struct look *l, const struct look_opts *o, struct counts *counts,
		   struct atw_err *err)
{
	struct look_looker k = {.l = l, .o = o, .counts = counts};
	const struct sweep_to to = {look_table, look_done, &k};
	int r = ATW_OK;

	look_deinit(l);
	l->keep = o->most;
	l->space = calloc(o->n + 1, sizeof(*l->space));
	k.sp = calloc(o->n + 1, sizeof(*k.sp));
	k.index = calloc(o->n + 1, sizeof(*k.index));
	if (!l->space || !k.sp || !k.index)
		r = atw_err_nomem(err);
	l->nspaces = r == ATW_OK ? o->n : 0;
	for (size_t i = 0; i < l->nspaces; i++) {
		l->space[i].shared = !o->space[i];
		if (!o->space[i])
			continue;
		k.sp[k.n] = o->space[i];
		k.index[k.n++] = i;
	}
	if (r == ATW_OK && k.n) {
		look_init(&k);
		look_begin(&k);
		r = sweep_spaces(k.sp, k.n, &to, err);
	}
	if (r == ATW_OK && !soles_sort(&l->soles, counts))
		r = look_no_memory(err);
	free(k.list);
	free(k.sp);
	free(k.index);
	return r;
}

void look_deinit(struct look *l)
{
	huge_free(l->run, l->cap * sizeof(*l->run));
	soles_deinit(&l->soles);
	free(l->space);
	*l = (struct look){ 0 };
}
