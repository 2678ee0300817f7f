/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_live.c - page tables that change while they are read. */
#include "walk/walk_live.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "walk/memory.h"
#include "walk/space.h"

enum {
	GUARDS = ARRAY_SIZE(((struct mmu_space *)0)->guard),
	AHEAD = 56,              /* tables read ahead: with the entries that lead
				  * there, as many as a source reads at once */
	AHEAD_BYTES = 256 * 1024,
};

/* A table that was read, perhaps ahead. */
struct child {
	uint32_t slot;           /* of the parent */
	atw_pa pa;
	ssize_t got;
};

struct live_walk {
	struct child child[AHEAD];
	unsigned n, room, at;    /* at: the last one that was returned */
	uint64_t parent;         /* va of the parent's first slot; all have the same
				  * parent */
	char *words;             /* of the children */
	char *slots;             /* of the parent, re-read */
	uint64_t above[ATW_MAX_LEVELS];  /* entries above, re-read */
	uint64_t guard[GUARDS];
	uint64_t place;          /* va of the entry that led elsewhere */
	unsigned tries;          /* attempts there */
};

int live_walk_init(struct mmu_walk *w, struct atw_err *err)
{
	struct live_walk *l;
	size_t bytes = atw_table_bytes(&w->sp.paging, 0);

	if (!atw_source_is_live(w->sp.mem))
		return ATW_OK;
	l = calloc(1, sizeof(*l));
	w->live = l;
	if (!l)
		return atw_err_nomem(err);
	l->room = AHEAD_BYTES / bytes < AHEAD ? (unsigned)(AHEAD_BYTES / bytes) : AHEAD;
	if (!l->room)
		l->room = 1;
	l->words = atw_buffer_open(w->sp.mem, l->room * bytes);
	for (unsigned i = 0; i < w->sp.paging.nlevels; i++)
		if (atw_table_bytes(&w->sp.paging, i) > bytes)
			bytes = atw_table_bytes(&w->sp.paging, i);
	l->slots = malloc(bytes);
	return l->words && l->slots ? ATW_OK : atw_err_nomem(err);
}

void live_walk_deinit(struct mmu_walk *w)
{
	if (!w->live)
		return;
	atw_buffer_close(w->sp.mem, w->live->words);
	free(w->live->slots);
	free(w->live);
}

/* Accessed and dirty bits change without relevance. */
bool live_same(const struct atw_paging *pg, unsigned level, uint64_t a, uint64_t b)
{
	return a == b ||
	       (entry_kind(pg, level, a) == ATW_TABLE &&
		entry_kind(pg, level, b) == ATW_TABLE &&
		entry_addr(pg, level, ATW_TABLE, a).u == entry_addr(pg, level, ATW_TABLE, b).u);
}

bool live_guarded(const struct mmu_guard *g, const void *word, ssize_t got)
{
	return !g->len ||
	       (got == g->len &&
		((load_word(word, g->len, 0) & g->mask) == g->value) != g->differs);
}

/* Their guards, in one read: so many spaces at once. */
enum { LIVE_AT_ONCE = 32 };

static void live_check(const struct mmu_space *const *sp, size_t n, bool *lives)
{
	struct atw_piece piece[LIVE_AT_ONCE * GUARDS];
	uint64_t word[LIVE_AT_ONCE * GUARDS] = { 0 };
	size_t pieces = 0;

	for (size_t i = 0; i < n; i++)
		for (unsigned g = 0; g < GUARDS; g++)
			if (sp[i]->guard[g].len) {
				piece[pieces] = (struct atw_piece){
					sp[i]->guard[g].at, &word[pieces], sp[i]->guard[g].len, 0 };
				pieces++;
			}
	if (pieces)
		atw_read_many(sp[0]->mem, piece, pieces, NULL);
	pieces = 0;
	for (size_t i = 0; i < n; i++) {
		lives[i] = true;
		for (unsigned g = 0; g < GUARDS; g++)
			if (sp[i]->guard[g].len) {
				lives[i] &= live_guarded(&sp[i]->guard[g], &word[pieces],
							 piece[pieces].got);
				pieces++;
			}
	}
}

void mmu_spaces_live(const struct mmu_space *const *sp, size_t n, bool *lives)
{
	for (size_t i = 0, some; i < n; i += some) {
		some = n - i < LIVE_AT_ONCE ? n - i : LIVE_AT_ONCE;
		live_check(sp + i, some, lives + i);
	}
}

bool mmu_space_lives(const struct mmu_space *sp)
{
	bool lives = false;

	if (sp && sp->mem)
		live_check(&sp, 1, &lives);
	return lives;
}

/* ---- reading ---- */

/* Collects the table and following ones, which are read ahead. */
static void walk_live_gather(struct mmu_walk *w, unsigned level, atw_pa table)
{
	struct live_walk *l = w->live;
	const struct frame *f = w->top >= 0 ? &w->stack[w->top] : NULL;
	unsigned ws = w->sp.paging.word_size;
	uint32_t end = f ? f->end < f->avail ? f->end : f->avail : 0;

	l->n = 1;
	l->at = 0;
	l->child[0] = (struct child){ f ? f->next - 1 : 0, table, 0 };
	l->parent = f ? f->va : 0;
	if (level || !f || f->fold)
		return;
	for (uint32_t i = f->next; i < end && l->n < l->room; i++) {
		uint64_t word = load_word(f->words, ws, i);

		if (entry_kind(&w->sp.paging, level + 1, word) == ATW_TABLE)
			l->child[l->n++] = (struct child){
				i, entry_addr(&w->sp.paging, level + 1, ATW_TABLE, word), 0,
			};
	}
}

static uint64_t walk_live_slot_address(const struct frame *f, unsigned ws, uint32_t slot)
{
	return f->table.u + (uint64_t)slot * ws;
}

/* The buffer of a child's words: words of upper tables must stay valid for longer. */
static char *walk_live_words_of(const struct mmu_walk *w, unsigned level, unsigned child)
{
	return level ? w->scratch[level]
		     : w->live->words + child * atw_table_bytes(&w->sp.paging, 0);
}

/* Tables first, then the entries that lead there, the lowest first. */
static void walk_live_read_all(struct mmu_walk *w, unsigned level,
			       struct atw_piece *piece)
{
	struct live_walk *l = w->live;
	unsigned ws = w->sp.paging.word_size, n = 0;

	for (; n < l->n; n++)
		piece[n] = (struct atw_piece){l->child[n].pa,
					      walk_live_words_of(w, level, n),
					      atw_table_bytes(&w->sp.paging, level), 0};
	for (int d = w->top; d >= 0; d--) {
		const struct frame *f = &w->stack[d];
		uint32_t first = d == w->top ? l->child[0].slot : f->next - 1;
		uint32_t last = d == w->top ? l->child[l->n - 1].slot : first;

		piece[n++] = (struct atw_piece){
			ATW_PA(walk_live_slot_address(f, ws, first)),
			d == w->top ? (void *)l->slots : &l->above[d],
			(size_t)(last - first + 1) * ws,
			0,
		};
	}
	for (unsigned i = 0; i < GUARDS; i++)
		piece[n++] = (struct atw_piece){ w->sp.guard[i].at, &l->guard[i],
						 w->sp.guard[i].len, 0 };
	atw_read_many(w->sp.mem, piece, n, &w->damage);
	for (unsigned i = 0; i < l->n; i++)
		l->child[i].got = piece[i].got;
}

/* ---- verification ---- */

static void walk_live_store_word(struct mmu_walk *w, int depth, uint32_t slot,
				 uint64_t word)
{
	unsigned ws = w->sp.paging.word_size;
	char *at = (char *)w->scratch[level_of(w, depth)] + (size_t)slot * ws;

	memcpy(at, &word, ws);   /* hosts are little-endian: base/bytes.h */
}

/* One attempt more at the entry that leads to the table. false: it had them all. */
static bool walk_live_try_again(struct mmu_walk *w)
{
	const struct frame *top = &w->stack[w->top];
	uint64_t place = top->va + ((uint64_t)(top->next - 1)
				    << w->sp.paging.level[level_of(w, w->top)].shift);
	struct live_walk *l = w->live;

	l->n = 0;
	if (place != l->place)
		l->tries = 0;
	l->place = place;
	return l->tries++ < LIVE_TRIES;
}

/* Restart with the entry before `next` of the table at that depth. */
static void walk_live_set_back(struct mmu_walk *w, int depth)
{
	struct half *h = &w->half[w->at_half];

	if (depth < w->top) {
		h->lo = MAX(h->lo, w->live->place);
		w->resume = h->lo;
	}
	w->top = depth;
	w->stack[depth].next--;
	w->stack[depth].fold = 0;
}

/* Checks entries above the parent: -1, or the depth of the one that leads elsewhere. */
static int walk_live_moved_above(struct mmu_walk *w, const struct atw_piece *again)
{
	unsigned ws = w->sp.paging.word_size;

	for (int d = 0; d < w->top; d++) {
		struct frame *f = &w->stack[d];
		const struct atw_piece *p = &again[w->top - d];
		uint64_t was = load_word(f->words, ws, f->next - 1), is = was;

		if (p->got == (ssize_t)ws)
			is = load_word(p->buf, ws, 0);
		if (p->got != (ssize_t)ws || !live_same(&w->sp.paging, level_of(w, d), was, is)) {
			walk_live_store_word(w, d, f->next - 1, is);
			return d;
		}
	}
	return -1;
}

/* false: the entry of the first child leads elsewhere. */
static bool walk_live_children_hold(struct mmu_walk *w, const struct atw_piece *again)
{
	struct live_walk *l = w->live;
	struct frame *f = &w->stack[w->top];
	unsigned ws = w->sp.paging.word_size, n = 0, level = level_of(w, w->top);
	unsigned kept = l->n;

	for (; n < l->n; n++) {
		const struct child *c = &l->child[n];
		size_t off = (size_t)(c->slot - l->child[0].slot) * ws;
		uint64_t was = load_word(f->words, ws, c->slot), is;

		if (again->got < (ssize_t)(off + ws))
			break;
		is = load_word(l->slots + off, ws, 0);
		if (live_same(&w->sp.paging, level, was, is))
			continue;
		/* All that changed: a process unmaps many tables at once. */
		walk_live_store_word(w, w->top, c->slot, is);
		w->stats.changed++;
		kept = MIN(kept, n);
	}
	l->n = MIN(kept, n);     /* the rest will be read again later */
	return l->n > 0;
}

enum { HOLDS = -1, ENDED = -2 };

/* HOLDS, ENDED, or the depth of an entry that leads elsewhere now. */
static int walk_live_look_again(struct mmu_walk *w, const struct atw_piece *again)
{
	int moved;

	for (unsigned i = 0; i < GUARDS; i++)
		if (!live_guarded(&w->sp.guard[i], &w->live->guard[i],
				  again[w->top + 1 + (int)i].got))
			return ENDED;
	moved = walk_live_moved_above(w, again);
	if (moved < 0)
		return w->top < 0 || walk_live_children_hold(w, again) ? HOLDS : w->top;
	w->stats.changed++;
	return moved;
}

/* ---- one table ---- */

/* It may have been read ahead. */
static const struct child *walk_live_find_child(struct mmu_walk *w, unsigned level,
						atw_pa table)
{
	struct live_walk *l = w->live;

	if (level || w->top < 0 || l->parent != w->stack[w->top].va)
		return NULL;
	/* Tables are requested in ascending order. */
	while (l->at < l->n && l->child[l->at].slot < w->stack[w->top].next - 1)
		l->at++;
	return l->at < l->n && l->child[l->at].slot == w->stack[w->top].next - 1 &&
	       l->child[l->at].pa.u == table.u ? &l->child[l->at] : NULL;
}

/* Read it now. */
static bool walk_live_read_table(struct mmu_walk *w, unsigned level, atw_pa table,
				 struct frame *f)
{
	struct atw_piece piece[AHEAD + ATW_MAX_LEVELS + GUARDS];
	struct live_walk *l = w->live;
	int depth;

	walk_live_gather(w, level, table);
	walk_live_read_all(w, level, piece);
	depth = walk_live_look_again(w, piece + l->n);
	if (depth == HOLDS) {
		l->tries = 0;
		return true;
	}
	if (depth == ENDED) {
		atw_err_set(&w->stop, ATW_E_LIMIT,
			    "the process ended while its page tables were read");
		return false;
	}
	if (walk_live_try_again(w)) {
		walk_live_set_back(w, depth);
		return false;
	}
	l->tries = 0;
	f->loss = ATW_LOST_UNSTABLE;
	return true;
}

bool live_table(struct mmu_walk *w, unsigned level, atw_pa table, struct frame *f)
{
	struct live_walk *l = w->live;
	const struct child *c = walk_live_find_child(w, level, table);

	if (!c) {
		if (!walk_live_read_table(w, level, table, f))
			return false;
		if (f->loss)
			return true;
		c = &l->child[0];
	}
	f->words = walk_live_words_of(w, level, (unsigned)(c - l->child));
	f->avail = c->got > 0 ? (uint32_t)((size_t)c->got / w->sp.paging.word_size) : 0;
	if (c->got < 0)
		f->loss = memory_loss(w->sp.mem, table, c->got);
	return true;
}

/* ---- tables that were read ahead ---- */

/* Of a table at `va`, clipped to the range of the walk, from slot `first` on. */
static void walk_live_words_from(const struct mmu_walk *w, const void *words, uint64_t va,
				 uint32_t first, uint32_t end, struct mmu_words *ret)
{
	const struct half *h = &w->half[w->at_half];
	unsigned shift = w->sp.paging.level[0].shift, ws = w->sp.paging.word_size;

	if (h->hi < va)
		end = first;
	else if ((h->hi - va) >> shift < end)
		end = (uint32_t)((h->hi - va) >> shift) + 1;
	*ret = (struct mmu_words){
		.words = words ? (const char *)words + (size_t)first * ws : NULL,
		.va = ATW_VA((va + ((uint64_t)first << shift)) | h->upper),
		.n = end > first ? end - first : 0,
	};
}

bool mmu_walk_at_hand(const struct mmu_walk *w, unsigned i, struct mmu_words *ret)
{
	const struct live_walk *l = w->live;
	const struct frame *f = w->top > 0 ? &w->stack[w->top] : NULL;
	const struct child *c;

	if (!l || !f || level_of(w, w->top))
		return false;
	if (!i) {
		walk_live_words_from(w, f->words, f->va, f->next, f->avail, ret);
		return true;
	}
	if (l->parent != f[-1].va || i >= l->n || l->at >= l->n - i)
		return false;
	c = &l->child[l->at + i];
	walk_live_words_from(w, walk_live_words_of(w, 0, l->at + i),
			     f[-1].va + ((uint64_t)c->slot << w->sp.paging.level[1].shift), 0,
			     c->got > 0 ? (uint32_t)c->got / w->sp.paging.word_size : 0, ret);
	return true;
}
