/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.c - page-table iterator of an address space.
 *
 * It has an explicit stack of tables, root first. Each step takes the longest run of
 * entries of the top table that agree, so the cost of a listing depends on the number of
 * runs and not of entries. Every descent lowers the level, so tables that point to
 * themselves end like any other; the budget limits the cost of a hostile tree of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "walk/walk_live.h"
#include "walk/memory.h"
#include "walk/space.h"

static uint64_t walk_low_mask(unsigned bits)
{
	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* ---- setting up ---- */

static void walk_add_half(struct mmu_walk *w, struct mmu_root root, uint64_t lo,
			  uint64_t hi, uint64_t upper)
{
	uint64_t first = w->o.first.u, last = w->o.last.u;

	if (!root.have || last < (lo | upper) || first > (hi | upper))
		return;
	if (first > (lo | upper))
		lo = first & ~upper;
	if (last < (hi | upper))
		hi = last & ~upper;
	w->half[w->nhalves++] = (struct half){ root, lo, hi, upper };
}

static void walk_split_halves(struct mmu_walk *w)
{
	const struct atw_paging *pg = &w->sp.paging;
	uint64_t all = walk_low_mask(pg->va_bits), half = all >> 1;

	switch (pg->halves) {
	case ATW_FLAT:
		walk_add_half(w, w->sp.low, 0, all, 0);
		break;
	case ATW_SIGNED:
		walk_add_half(w, w->sp.low, 0, half, 0);
		walk_add_half(w, w->sp.high.have ? w->sp.high : w->sp.low, half + 1, all,
			      ~all);
		break;
	case ATW_SPLIT:
		walk_add_half(w, w->sp.low, 0, all, 0);
		walk_add_half(w, w->sp.high, 0, all, ~all);
		break;
	}
}

/*
 * The budget only has to stop a tree made of hostile bytes: as many tables as the memory
 * can hold, and no more than the file can store, because a small file may claim any
 * amount of memory.
 */
enum { SOME = 65536, MOST = 1 << 22 };

static uint64_t walk_default_budget(struct atw_source *mem, unsigned page_shift)
{
	struct atw_extent e;
	uint64_t bytes = 0, at = 0, stored;

	while (atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK) {
		if (e.kind == ATW_DATA)
			bytes += e.len;
		at = e.start.u + e.len;
		if (!e.len || at <= e.start.u)
			break;
	}
	if (atw_fact_u64(mem, "stored", &stored) == ATW_OK && bytes / 64 > stored)
		bytes = stored * 64;     /* the best ratio of compressed tables */
	bytes >>= page_shift;
	return bytes < MOST - SOME ? SOME + bytes : MOST;
}

/* Bits of a level's leaves that are address bits, whatever the others are. */
static uint64_t walk_address_bits(const struct atw_paging *pg, unsigned level)
{
	const struct entry_pieces e = entry_pieces(pg, level, ATW_LEAF);
	uint64_t bits = 0;

	for (unsigned i = 0; i < e.n; i++)
		bits |= e.piece[i].mask;
	return bits;
}

int mmu_walk_open(const struct mmu_space *sp, const struct mmu_walk_opts *o,
		  struct mmu_walk **ret, struct atw_err *err)
{
	static const struct mmu_walk_opts all = { .last = { UINT64_MAX } };
	unsigned levels = sp->paging.nlevels;
	struct mmu_walk *w;

	o = o ? o : &all;
	if (o->first.u > o->last.u)
		return atw_err_set(err, ATW_E_USAGE,
				   "range 0x%" PRIx64 "-0x%" PRIx64 " ends before it starts",
				   o->first.u, o->last.u);
	w = calloc(1, sizeof(*w));
	if (!w)
		return atw_err_nomem(err);
	w->sp = *sp;
	w->o = *o;
	/* They are the hypervisor's, and stand for no page. */
	if (sp->paging.stage2)
		w->o.flags &= ~(uint32_t)MMU_WALK_SOFT;
	if (!w->o.want)
		w->o.want = ATW_K(ATW_LEAF);
	w->bottom = o->depth && o->depth < levels ? levels - o->depth : 0;
	w->top = -1;
	for (unsigned l = 0; l < levels; l++) {
		w->attrs[l] = atw_leaf_attrs(&w->sp.paging, l);
		w->address[l] = w->attrs[l] & walk_address_bits(&w->sp.paging, l);
		w->scratch[l] = malloc(atw_table_bytes(&w->sp.paging, l));
		if (!w->scratch[l]) {
			mmu_walk_close(w);
			return atw_err_nomem(err);
		}
	}
	if (live_walk_init(w, err) < 0) {
		mmu_walk_close(w);
		return ATW_E_NOMEM;
	}
	w->unpacks = !w->live && atw_source_ahead(w->sp.mem, NULL, 0);
	walk_split_halves(w);
	*ret = w;
	return ATW_OK;
}

void mmu_walk_close(struct mmu_walk *w)
{
	if (!w)
		return;
	for (unsigned l = 0; l < ATW_MAX_LEVELS; l++)
		free(w->scratch[l]);
	live_walk_deinit(w);
	free(w);
}

/* ---- descending ---- */

/* Slots of a table based at `va` that overlap the range of the half. */
static void walk_clip(const struct mmu_walk *w, struct frame *f, unsigned level)
{
	const struct half *h = &w->half[w->at_half];
	unsigned shift = w->sp.paging.level[level].shift;
	unsigned bits = w->sp.paging.level[level].bits;
	uint64_t span_last = walk_low_mask(shift + bits);

	f->next = h->lo > f->va ? (uint32_t)((h->lo - f->va) >> shift) : 0;
	f->end = h->hi - f->va < span_last
		 ? (uint32_t)((h->hi - f->va) >> shift) + 1 : 1u << bits;
}

/* Push a table; if the budget is exhausted, stop the walk instead. */
static void walk_push(struct mmu_walk *w, atw_pa table, uint64_t va, unsigned rights)
{
	unsigned level = level_of(w, w->top + 1), ws = w->sp.paging.word_size;
	size_t bytes = atw_table_bytes(&w->sp.paging, level), got;
	struct frame *f = &w->stack[w->top + 1];

	if (!w->o.budget && w->stats.tables == SOME)
		w->o.budget = walk_default_budget(w->sp.mem, w->sp.paging.page_shift);
	if (w->o.budget && w->stats.tables >= w->o.budget) {
		atw_err_set(&w->stop, ATW_E_LIMIT,
			    "stopped after %" PRIu64 " tables, at 0x%" PRIx64
			    ": more than this memory can hold, unless they repeat",
			    w->stats.tables, va | w->half[w->at_half].upper);
		return;
	}
	*f = (struct frame){ .va = va, .rights = (uint8_t)rights, .table = table };
	walk_clip(w, f, level);
	if (w->live) {
		if (!live_table(w, level, table, f))
			return;
		got = (size_t)f->avail * ws;
	} else {
		got = memory_words(w->sp.mem, table, bytes, w->scratch[level],
				   &f->words, &f->loss, &w->damage);
		f->avail = (uint32_t)(got / ws);
	}
	w->stats.tables++;
	if (got < bytes) {
		w->stats.lost++;
		if (!f->loss)
			f->loss = memory_loss(w->sp.mem, ATW_PA(table.u + got), 0);
	}
	w->top++;
}

/* ---- pieces ---- */

/* Fill in what all pieces from slot `index` on have in common. */
static struct mmu_seen *walk_piece(struct mmu_walk *w, uint32_t index, uint32_t count,
				   enum atw_kind kind)
{
	struct frame *f = &w->stack[w->top];
	unsigned level = level_of(w, w->top);
	unsigned shift = w->sp.paging.level[level].shift;
	struct mmu_seen *s = &w->seen;

	s->va = ATW_VA((f->va + ((uint64_t)index << shift)) | w->half[w->at_half].upper);
	s->size = (uint64_t)count << shift;
	s->count = count;
	s->level = (uint8_t)level;
	s->kind = (uint8_t)kind;
	s->loss = ATW_HAVE;
	s->rights = f->rights;
	s->repeat_of = 0;
	s->words = f->words ? (const char *)f->words +
		   (size_t)index * w->sp.paging.word_size : NULL;
	s->behind = f->avail > index + count ? f->avail - (index + count) : 0;
	f->next = index + count;
	return s;
}

static void walk_step(struct mmu_walk *w, uint32_t index, enum atw_kind kind,
		      uint64_t word, unsigned rights)
{
	struct frame *f = &w->stack[w->top];

	w->seen.path[w->top] = (struct mmu_step){
		.level = (uint8_t)level_of(w, w->top), .kind = (uint8_t)kind,
		.rights = (uint8_t)rights, .index = (uint16_t)index,
		.at = ATW_PA(f->table.u + (uint64_t)index * w->sp.paging.word_size),
		.word = word,
	};
	w->seen.depth = (uint8_t)(w->top + 1);
	w->seen.rights = (uint8_t)rights;
}

/* The number of slots after `i` with the same word that lie completely in the range. */
static uint32_t walk_repeats(const struct mmu_walk *w, const struct frame *f, uint32_t i,
			     uint32_t end)
{
	const struct half *h = &w->half[w->at_half];
	unsigned shift = w->sp.paging.level[level_of(w, w->top)].shift;
	uint64_t start = f->va + ((uint64_t)i << shift), slot = (uint64_t)1 << shift;
	uint32_t n;

	if (!(w->o.flags & MMU_WALK_FOLD) || i < f->unfold || start < h->lo)
		return 0;
	n = run_end(f->words, w->sp.paging.word_size, i, UINT64_MAX, end) - i - 1;
	if (n && start + (uint64_t)n * slot + (slot - 1) > h->hi)
		n--;
	return n;
}

/*
 * Bits in which leaves must agree with this one to be one run. Low address bits that
 * encode the size of a span (NAPOT) only count in a leaf that has one.
 */
static uint64_t walk_slots_alike(const struct mmu_walk *w, unsigned level, uint64_t word)
{
	const struct atw_paging *pg = &w->sp.paging;

	if (!w->address[level] ||
	    atw_entry_span(pg, level, word) != pg->level[level].shift)
		return w->attrs[level];
	return w->attrs[level] & ~w->address[level];
}

/* Does the slot begin before the address to resume at? */
static bool walk_is_remainder(const struct mmu_walk *w, const struct frame *f,
			      uint32_t slot)
{
	unsigned shift = w->sp.paging.level[level_of(w, w->top)].shift;
	uint64_t va = f->va + ((uint64_t)slot << shift);

	return w->resume > va && (w->resume - va) >> shift == 0;
}

/*
 * A table was removed after part of its range was returned. If its entry is absent now,
 * that is returned for the remainder; a leaf of the whole slot cannot be returned in
 * part.
 */
static void walk_give_rest(struct mmu_walk *w, uint32_t i, enum atw_kind kind,
			   uint64_t word, bool *emit)
{
	struct frame *f = &w->stack[w->top];
	struct mmu_seen *s = walk_piece(w, i, 1, kind);
	uint64_t done = w->resume - (s->va.u & ~w->half[w->at_half].upper);

	s->va.u += done;
	s->size -= done;
	s->pa = f->table;
	walk_step(w, i, kind, word, f->rights);
	*emit = true;
	if (kind == ATW_ABSENT && !word) {
		s->pa = ATW_PA(0);
		*emit = w->o.want & ATW_K(ATW_ABSENT);
		return;
	}
	s->loss = ATW_LOST_UNSTABLE;
	s->kind = ATW_TABLE;
	s->words = NULL;
	w->stats.lost++;
}

/* Announces the tables that slots from `i` on lead to, a few at a time. */
static void walk_announce(struct mmu_walk *w, struct frame *f, unsigned level, uint32_t i,
			  uint32_t end)
{
	enum { WINDOW = 64 };
	const struct atw_paging *pg = &w->sp.paging;
	uint64_t pa[WINDOW];
	size_t n = 0;

	if (f->ahead > i + WINDOW / 2 || f->ahead >= end)
		return;
	for (f->ahead = f->ahead > i ? f->ahead : i; f->ahead < end && f->ahead < i + WINDOW; f->ahead++) {
		uint64_t word = load_word(f->words, pg->word_size, f->ahead);

		if (entry_kind(pg, level, word) == ATW_TABLE)
			pa[n++] = entry_addr(pg, level, ATW_TABLE, word).u;
	}
	atw_source_ahead(w->sp.mem, pa, n);
}

/*
 * Process the next run of the top table. Sets *emit if w->seen is a piece that the caller
 * selected.
 */
static void walk_advance(struct mmu_walk *w, bool *emit)
{
	struct frame *f = &w->stack[w->top];
	const struct atw_paging *pg = &w->sp.paging;
	unsigned level = level_of(w, w->top), ws = pg->word_size;
	uint32_t i = f->next, end = f->end < f->avail ? f->end : f->avail, count;
	bool each = w->o.flags & MMU_WALK_EACH;
	enum atw_kind kind;
	struct mmu_seen *s;
	uint64_t word;
	unsigned rights;

	*emit = true;
	if (i >= end) {          /* nothing was read from here on */
		s = walk_piece(w, i, f->end - i, ATW_TABLE);
		s->loss = (uint8_t)f->loss;
		s->pa = f->table;
		s->words = NULL;
		s->depth = (uint8_t)w->top;
		return;
	}
	word = load_word(f->words, ws, i);
	kind = entry_kind(pg, level, word);
	if (w->live && kind != ATW_TABLE && walk_is_remainder(w, f, i)) {
		walk_give_rest(w, i, kind, word, emit);
		return;
	}
	switch (kind) {
	case ATW_ABSENT:
		*emit = w->o.want & ATW_K(ATW_ABSENT) ||
			(word && w->o.flags & MMU_WALK_SOFT);
		/* fall through */
	case ATW_BAD:
		count = each ? 1 : run_end(f->words, ws, i, UINT64_MAX, end) - i;
		if (!*emit) {    /* the most frequent case */
			f->next = i + count;
			return;
		}
		s = walk_piece(w, i, count, kind);
		s->pa = ATW_PA(0);
		walk_step(w, i, kind, word, f->rights);
		return;
	case ATW_LEAF:
		rights = entry_rights(pg, level, kind, word, f->rights);
		count = each ? 1 : run_end(f->words, ws, i,
					   walk_slots_alike(w, level, word), end) - i;
		s = walk_piece(w, i, count, kind);
		s->pa = space_leaf_pa(&w->sp, level, word, s->va.u);
		walk_step(w, i, kind, word, rights);
		w->stats.leaves += s->count;
		*emit = w->o.want & ATW_K(ATW_LEAF);
		return;
	case ATW_TABLE:
		rights = entry_rights(pg, level, kind, word, f->rights);
		f->fold = level > w->bottom ? walk_repeats(w, f, i, end) : 0;
		s = walk_piece(w, i, 1, kind);
		s->pa = entry_addr(pg, level, kind, word);
		walk_step(w, i, kind, word, rights);
		w->child = s->pa;
		w->descend = level > w->bottom;
		if (w->descend && w->unpacks)
			walk_announce(w, f, level, i, end);
		*emit = level == w->bottom || w->o.want & ATW_K(ATW_TABLE);
		return;
	}
}

static void walk_emit_fold(struct mmu_walk *w)
{
	struct frame *f = &w->stack[w->top];
	const struct mmu_step last = w->seen.path[w->top];
	struct mmu_seen *s = walk_piece(w, f->next, f->fold, ATW_TABLE);

	f->fold = 0;
	s->repeat_of = (uint64_t)1 << w->sp.paging.level[s->level].shift;
	s->pa = entry_addr(&w->sp.paging, s->level, ATW_TABLE, last.word);
	walk_step(w, f->next - s->count, ATW_TABLE, last.word, last.rights);
	w->stats.folded += s->count;
}

int mmu_walk_next(struct mmu_walk *w, const struct mmu_seen **ret, struct atw_err *err)
{
	bool emit = false;

	while (!emit) {
		struct frame *f;

		if (w->stop.status) {
			if (err)
				*err = w->stop;
			return w->stop.status;
		}

		if (w->top < 0) {
			if (w->at_half == w->nhalves)
				return ATW_END;
			walk_push(w, w->half[w->at_half].root.pa, 0, ATW_RIGHTS_ALL);
			continue;
		}
		f = &w->stack[w->top];
		if (w->descend) {
			unsigned shift = w->sp.paging.level[level_of(w, w->top)].shift;

			w->descend = false;
			walk_push(w, w->child, f->va + ((uint64_t)(f->next - 1) << shift),
				  w->seen.path[w->top].rights);
		} else if (f->fold) {
			walk_emit_fold(w);
			emit = true;
		} else if (f->next < f->end) {
			walk_advance(w, &emit);
		} else if (--w->top < 0) {
			w->at_half++;
			w->resume = 0;
		}
	}
	*ret = &w->seen;
	return ATW_OK;
}

void mmu_walk_prune(struct mmu_walk *w)
{
	w->descend = false;
	if (w->top >= 0)
		w->stack[w->top].fold = 0;
}

void mmu_walk_unfold(struct mmu_walk *w)
{
	struct frame *f;

	if (w->top < 0 || !w->seen.repeat_of)
		return;
	f = &w->stack[w->top];
	f->unfold = f->next;
	f->next -= w->seen.count;
	w->stats.folded -= w->seen.count;
}

bool mmu_walk_is_cut(const struct mmu_space *sp, atw_va first, atw_va last)
{
	const struct mmu_walk_opts o = {
		.first = first, .last = last, .want = ATW_K(ATW_TABLE),
		.depth = sp->paging.nlevels - 1,
	};
	const struct mmu_seen *s;
	uint64_t tables = 1;             /* the root, and those that an entry leads to */
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, NULL);

	if (r < 0)
		return false;
	while ((r = mmu_walk_next(w, &s, NULL)) == ATW_OK)
		tables += s->kind == ATW_TABLE && !s->loss;
	mmu_walk_close(w);
	return r == ATW_E_LIMIT ||
	       (tables > SOME && tables > walk_default_budget(sp->mem, sp->paging.page_shift));
}

struct mmu_walk_stats mmu_walk_stats(const struct mmu_walk *w)
{
	return w->stats;
}

const struct atw_err *mmu_walk_error(const struct mmu_walk *w)
{
	return &w->damage;
}
