/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sweep.c - breadth-first read of the page tables of many processes. */
#include "walk/sweep.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/huge.h"
#include "base/sorted.h"
#include "walk/walk_live.h"
#include "walk/memory.h"

enum {
	SPACES = 32,             /* address spaces at once */
	LEAVES = 64,             /* lowest tables per read: as many as a source can
				  * lend */
	UPPER_MOST = 4096,       /* limit of tables above them: no real process has
				  * more */
	STRIDE = 8,              /* words that are skipped together if all are 0 */
	NOWHERE = -1,
	GUARDS = ARRAY_SIZE(((struct mmu_space *)0)->guard),
};

struct sweep_table {
	uint64_t pa, va;
	uint32_t space;          /* index among the current spaces */
	uint32_t parent, slot;   /* location of its entry: an index in upper[], or
				  * NOWHERE */
	uint32_t lo, hi;         /* range of entries that lead to tables of the batch */
	uint32_t batch;
	uint8_t level;
};

struct sweep {
	const struct mmu_space *const *sp;
	const struct sweep_to *to;
	const struct atw_paging *pg;
	struct atw_source *mem;
	unsigned top, ws;
	size_t stride;           /* bytes of the largest table */
	struct sure table[ATW_MAX_LEVELS];

	/* The current spaces. */
	size_t first, n, finished;
	bool moved[SPACES], seen[SPACES];
	uint64_t guard[SPACES][GUARDS];
	struct sweep_table *upper, *leaf;        /* those of a level in order of the spaces */
	size_t nupper, upper_cap, nleaf, leaf_cap;
	size_t next[ATW_MAX_LEVELS];     /* of each level, the first to report */
	uint32_t *way, batch;    /* indices of the tables above those of a batch */
	size_t nways, ways_cap;
	char *words, *again;     /* of upper[], and of way[]: a stride each */
	size_t words_cap, again_cap;
	struct atw_piece *piece;
	size_t pieces_cap;
	char *leaves;            /* words of a batch of leaf[] */
};

static const char *sweep_words(const struct sweep *s, size_t upper)
{
	return s->words + upper * s->stride;
}

/* The number of entries of a table at that level that belong to the lower half. */
static uint32_t sweep_slots(const struct sweep *s, unsigned level)
{
	uint32_t all = 1u << s->pg->level[level].bits;

	return level == s->top && s->pg->halves == ATW_SIGNED ? all / 2 : all;
}

static enum atw_kind sweep_kind(const struct sweep *s, unsigned level, uint64_t word)
{
	return sure_is(&s->table[level], word) ? ATW_TABLE : entry_kind(s->pg, level, word);
}

static uint64_t sweep_leads_to(const struct sweep *s, unsigned level, uint64_t word)
{
	return sure_is(&s->table[level], word) ? sure_address(&s->table[level], word)
					       : entry_addr(s->pg, level, ATW_TABLE, word).u;
}

/* ---- tables above the lowest level ---- */

static int sweep_add(struct sweep *s, const struct sweep_table *t, struct atw_err *err)
{
	struct sweep_table **v = t->level ? &s->upper : &s->leaf;
	size_t *n = t->level ? &s->nupper : &s->nleaf;
	size_t *cap = t->level ? &s->upper_cap : &s->leaf_cap;

	if (!array_reserve((void **)v, cap, *n + 1, sizeof(*t)))
		return atw_err_nomem(err);
	(*v)[(*n)++] = *t;
	return ATW_OK;
}

static int sweep_descend(struct sweep *s, size_t i, struct atw_err *err)
{
	const struct sweep_table t = s->upper[i];
	uint32_t n = sweep_slots(s, t.level);
	const char *words = sweep_words(s, i);
	int r = ATW_OK;

	for (uint32_t k = 0; k < n && r == ATW_OK; k++) {
		uint64_t word;

		if (!(k % STRIDE) && k + STRIDE <= n && words_blank(words, s->ws, k, STRIDE)) {
			k += STRIDE - 1;
			continue;
		}
		word = load_word(words, s->ws, k);
		if (!word || sweep_kind(s, t.level, word) != ATW_TABLE)
			continue;
		if (s->nupper - s->n > UPPER_MOST * s->n)
			s->moved[t.space] = true;
		else
			r = sweep_add(s, &(struct sweep_table){
				.pa = sweep_leads_to(s, t.level, word),
				.va = t.va + ((uint64_t)k << s->pg->level[t.level].shift),
				.space = t.space, .parent = (uint32_t)i, .slot = k,
				.level = (uint8_t)(t.level - 1) }, err);
	}
	return r;
}

static bool sweep_reserve(struct sweep *s, size_t pieces)
{
	return huge_reserve((void **)&s->words, &s->words_cap, s->nupper, s->stride, true) &&
	       array_reserve((void **)&s->piece, &s->pieces_cap, pieces, sizeof(*s->piece));
}

/* Reads one level of all spaces: upper[from] to the last. */
static int sweep_level(struct sweep *s, size_t from, struct atw_err *err)
{
	size_t to = s->nupper;
	int r = ATW_OK;

	if (!sweep_reserve(s, to - from))
		return atw_err_nomem(err);
	for (size_t i = from; i < to; i++)
		s->piece[i - from] = (struct atw_piece){
			ATW_PA(s->upper[i].pa), s->words + i * s->stride,
			(size_t)sweep_slots(s, s->upper[i].level) * s->ws, 0,
		};
	atw_read_many(s->mem, s->piece, to - from, NULL);
	for (size_t i = from; i < to && r == ATW_OK; i++) {
		if (s->piece[i - from].got != (ssize_t)s->piece[i - from].len)
			s->moved[s->upper[i].space] = true;
		if (!s->moved[s->upper[i].space])
			r = sweep_descend(s, i, err);
	}
	return r;
}

static int sweep_down(struct sweep *s, struct atw_err *err)
{
	int r = ATW_OK;

	s->nupper = s->nleaf = 0;
	memset(s->next, 0xff, sizeof(s->next));
	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		const struct mmu_root *root = &s->sp[s->first + i]->low;

		s->moved[i] = !root->have;
		s->seen[i] = false;
		if (root->have)
			r = sweep_add(s, &(struct sweep_table){
				.pa = root->pa.u, .space = (uint32_t)i, .level = (uint8_t)s->top,
				.parent = NOWHERE },
				err);
	}
	for (size_t from = 0, to; r == ATW_OK && from < s->nupper; from = to) {
		to = s->nupper;
		s->next[s->upper[from].level] = from;
		r = sweep_level(s, from, err);
	}
	return r;
}

/* ---- verification ---- */

/*
 * Collects in s->way[] the tables with entries that lead to leaf[from..to), those of
 * upper levels first.
 */
static bool sweep_ways(struct sweep *s, size_t from, size_t to)
{
	s->nways = 0;
	s->batch++;
	for (size_t i = from; i < to; i++) {
		uint32_t slot = s->leaf[i].slot, at = s->leaf[i].parent;

		for (; at != (uint32_t)NOWHERE; slot = s->upper[at].slot, at = s->upper[at].parent) {
			struct sweep_table *t = &s->upper[at];

			if (t->batch != s->batch) {
				if (!ARRAY_ROOM(s->way, s->nways, s->ways_cap))
					return false;
				s->way[s->nways++] = at;
				t->batch = s->batch;
				t->lo = t->hi = slot;
			}
			t->lo = slot < t->lo ? slot : t->lo;
			t->hi = slot > t->hi ? slot : t->hi;
		}
	}
	qsort(s->way, s->nways, sizeof(*s->way), sorted_by_u32);
	return true;
}

/*
 * Reads for verification: these tables and the guards of the spaces first..last, from the
 * lowest up.
 */
static size_t sweep_again(struct sweep *s, uint32_t first, uint32_t last, size_t n)
{
	for (size_t i = s->nways; i-- > 0;) {
		const struct sweep_table *t = &s->upper[s->way[i]];

		s->piece[n++] = (struct atw_piece){
			ATW_PA(t->pa + (uint64_t)t->lo * s->ws), s->again + i * s->stride,
			(size_t)(t->hi - t->lo + 1) * s->ws, 0,
		};
	}
	for (uint32_t i = first; i <= last; i++)
		for (unsigned g = 0; g < GUARDS; g++) {
			const struct mmu_guard *guard = &s->sp[s->first + i]->guard[g];

			if (guard->len)
				s->piece[n++] = (struct atw_piece){ guard->at, &s->guard[i][g],
								    guard->len, 0 };
		}
	return n;
}

static bool sweep_leads_there(const struct sweep *s, const struct sweep_table *t, const char *was,
			      const char *is)
{
	was += (size_t)t->lo * s->ws;
	if (!memcmp(was, is, (size_t)(t->hi - t->lo + 1) * s->ws))
		return true;
	for (uint32_t k = 0; k <= t->hi - t->lo; k++) {
		uint64_t a = load_word(was, s->ws, k), b = load_word(is, s->ws, k);

		if (a != b && sweep_kind(s, t->level, a) == ATW_TABLE &&
		    !live_same(s->pg, t->level, a, b))
			return false;
	}
	return true;
}

/* In the order of sweep_again(). */
static void sweep_compare(struct sweep *s, uint32_t first, uint32_t last, size_t n)
{
	for (size_t i = s->nways; i-- > 0; n++) {
		const struct sweep_table *t = &s->upper[s->way[i]];

		if (s->piece[n].got != (ssize_t)s->piece[n].len ||
		    !sweep_leads_there(s, t, sweep_words(s, s->way[i]), s->again + i * s->stride))
			s->moved[t->space] = true;
	}
	for (uint32_t i = first; i <= last; i++)
		for (unsigned g = 0; g < GUARDS; g++) {
			const struct mmu_guard *guard = &s->sp[s->first + i]->guard[g];

			if (guard->len && !live_guarded(guard, &s->guard[i][g], s->piece[n++].got))
				s->moved[i] = true;
		}
}

/* ---- tables of the lowest level ---- */

static int sweep_emit(const struct sweep *s, const struct sweep_table *t, const void *words,
		      struct atw_err *err)
{
	const struct sweep_seen seen = {
		.space = s->first + t->space, .level = t->level, .va = t->va, .words = words,
		.n = sweep_slots(s, t->level),
	};

	return s->moved[t->space] ? ATW_OK : s->to->table(s->to->arg, &seen, err);
}

static int sweep_emit_level(struct sweep *s, unsigned level, size_t space, struct atw_err *err)
{
	size_t *i = &s->next[level];
	int r = ATW_OK;

	for (; r == ATW_OK && *i < s->nupper && s->upper[*i].level == level &&
	       s->upper[*i].space == space; ++*i)
		r = sweep_emit(s, &s->upper[*i], sweep_words(s, *i), err);
	return r;
}

/* Spaces before `upto` have only upper tables left to report. */
static int sweep_finish(struct sweep *s, size_t upto, struct atw_err *err)
{
	int r = ATW_OK;

	for (; s->finished < upto && r == ATW_OK; s->finished++) {
		size_t at = s->finished;

		for (unsigned level = s->top; level && r == ATW_OK; level--)
			r = sweep_emit_level(s, level, at, err);
		/* For a space without a lowest table nothing was re-read. */
		if (r == ATW_OK)
			r = s->to->done(s->to->arg, s->first + at, s->moved[at] || !s->seen[at],
					err);
	}
	return r;
}

/* Reads leaf[from..to), of adjacent spaces, and the entries that lead there. */
static int sweep_batch(struct sweep *s, size_t from, size_t to, struct atw_err *err)
{
	uint32_t first = s->leaf[from].space, last = s->leaf[to - 1].space;
	size_t n = to - from, bytes = atw_table_bytes(s->pg, 0), all;
	char *words = s->leaves;
	int r = ATW_OK;

	if (!sweep_ways(s, from, to) ||
	    !sweep_reserve(s, n + s->nways + (last - first + 1) * (size_t)GUARDS) ||
	    !huge_reserve((void **)&s->again, &s->again_cap, s->nways, s->stride, true))
		return atw_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		s->piece[i] = (struct atw_piece){ ATW_PA(s->leaf[from + i].pa), words + i * bytes,
						  bytes, 0 };
	all = sweep_again(s, first, last, n);
	atw_read_many(s->mem, s->piece, all, NULL);
	for (size_t i = 0; i < n; i++)
		if (s->piece[i].got != (ssize_t)bytes)
			s->moved[s->leaf[from + i].space] = true;
	sweep_compare(s, first, last, n);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		s->seen[s->leaf[from + i].space] = true;
		r = sweep_finish(s, s->leaf[from + i].space, err) ?:
		    sweep_emit(s, &s->leaf[from + i], words + i * bytes, err);
	}
	return r;
}

/* The spaces from s->first on. */
static int sweep_chunk(struct sweep *s, struct atw_err *err)
{
	int r = sweep_down(s, err);

	s->finished = 0;
	for (size_t i = 0; i < s->nleaf && r == ATW_OK; i += LEAVES)
		r = sweep_batch(s, i, i + LEAVES < s->nleaf ? i + LEAVES : s->nleaf, err);
	return r == ATW_OK ? sweep_finish(s, s->n, err) : r;
}

static void sweep_deinit(struct sweep *s)
{
	atw_buffer_close(s->mem, s->leaves);
	free(s->upper);
	free(s->leaf);
	huge_free(s->words, s->words_cap * s->stride);
	huge_free(s->again, s->again_cap * s->stride);
	free(s->way);
	free(s->piece);
}

int sweep_spaces(const struct mmu_space *const *sp, size_t n, const struct sweep_to *to,
		 struct atw_err *err)
{
	struct sweep s = { .sp = sp, .to = to };
	int r = ATW_OK;

	if (!n)
		return ATW_OK;
	s.pg = &sp[0]->paging;
	s.mem = sp[0]->mem;
	s.top = s.pg->nlevels - 1u;
	s.ws = s.pg->word_size;
	for (unsigned i = 0; i <= s.top; i++) {
		size_t bytes = atw_table_bytes(s.pg, i);

		if (!i || !sure_find(s.pg, i, ATW_TABLE, &s.table[i]))
			s.table[i] = SURE_NONE;
		s.stride = MAX(s.stride, bytes);
	}
	s.leaves = atw_buffer_open(s.mem, LEAVES * atw_table_bytes(s.pg, 0));
	if (!s.leaves)
		r = atw_err_nomem(err);
	for (; s.first < n && r == ATW_OK; s.first += s.n) {
		s.n = n - s.first < SPACES ? n - s.first : SPACES;
		r = sweep_chunk(&s, err);
	}
	sweep_deinit(&s);
	return r;
}
