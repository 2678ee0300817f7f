/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_runs.c - pages as page tables have them: runs of them, and of all tables how
 * often each frame is mapped.
 */
#include <string.h>

#include "base/cleanup.h"
#include "target/memory_vmas.h"
#include "walk/memory.h"

/* ---- was it used? ---- */

void walk_find_used(struct walk_provider *w, const struct atw_paging *pg)
{
	w->p.properties = atw_known_properties(pg);
	w->p.used = w->p.properties & ATW_ACCESSED && w->p.properties & ATW_DIRTY;
}

/* ---- pages ---- */

void walk_pages_close(struct page_cursor *cur)
{
	struct memory_pages *c = memory_pages_of(cur);

	mmu_walk_close(c->walk);
	c->walk = NULL;
	c->seen = NULL;
}

/* What leaves of this space look like. */
static void memory_runs_learn_leaves(struct memory_pages *c, const struct atw_paging *pg)
{
	for (unsigned i = 0; i < pg->nlevels; i++)
		c->leaf_attrs[i] = atw_leaf_attrs(pg, i);
	if (!sure_find(pg, 0, ATW_LEAF, &c->leaf))
		c->leaf = SURE_NONE;
	memset(c->leaf_memo, 0, sizeof(c->leaf_memo));
}

int walk_pages_open(struct page_cursor *cur, struct atw_err *err)
{
	struct memory_pages *c = memory_pages_of(cur);
	uint64_t first = cur->q.first;
	const struct mmu_walk_opts wo = {
		.first = ATW_VA(first), .last = ATW_VA(cur->q.last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
	};

	walk_pages_close(cur);
	c->w = walk_of(cur->p);
	memory_find_memmap(c->w);
	walk_soon_begin(c);
	c->soon_table = 0;
	c->sp = &c->w->space[cur->q.task].mm.space;
	memory_runs_learn_leaves(c, &c->sp->paging);
	/* An area beyond all that the mode can translate has no pages. */
	if (first > cur->p->user_last && !atw_va_valid(&c->sp->paging, ATW_VA(first)))
		return ATW_OK;
	return mmu_walk_open(c->sp, &wo, &c->walk, err);
}

/* Entries of the lowest tables say whether what they lead to is a page of its own. */
static void memory_runs_note_special(const struct walk_provider *w, uint64_t entry,
				     struct page_run *r)
{
	if (r->level || !w->marks.special)
		return;
	r->have |= RUN_SPECIAL;
	r->special = entry & w->marks.special;
}

/* Was it used, and written to? */
static void memory_runs_note_used(const struct walk_provider *w, struct page_run *r)
{
	r->have |= w->p.used ? RUN_USED : 0;
	r->accessed = r->properties & ATW_ACCESSED;
	r->dirty = r->properties & ATW_DIRTY;
}

/* Their flags: few combinations occur, and each takes a look at the whole table. */
static const struct leaf_memo *memory_runs_leaf_flags(struct memory_pages *c, unsigned level,
						      uint64_t word)
{
	uint64_t attrs = word & c->leaf_attrs[level];
	struct leaf_memo *m = &c->leaf_memo[(attrs ^ attrs >> 5 ^ attrs >> 60) % LEAF_MEMOS];

	if (!m->used || m->attrs != attrs || m->level != level)
		*m = (struct leaf_memo){
			.used = true, .level = (uint8_t)level, .attrs = attrs,
			.flags = atw_entry_flags(&c->sp->paging, level, ATW_LEAF, word),
			.properties = (uint8_t)atw_entry_properties(&c->sp->paging, level,
								    ATW_LEAF, word),
		};
	return m;
}

/* Where the slots lead. */
static void memory_runs_leaf_places(struct memory_pages *c, const struct mmu_seen *s)
{
	if (s->level || !s->words || c->sp->paging.word_size != 8 ||
	    !sure_is(&c->leaf, load_word(s->words, 8, 0))) {
		for (uint32_t i = 0; i < s->count; i++) {
			c->pa[i] = mmu_seen_pa(c->sp, s, i).u;
			c->word[i] = mmu_seen_word(c->sp, s, i);
		}
		return;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		c->word[i] = load_word(s->words, 8, i);
		c->pa[i] = sure_address(&c->leaf, c->word[i]);
	}
}

/* Runs are short, and frames of a process scattered: those behind this one, too. */
static void memory_runs_soon(struct memory_pages *c, const struct mmu_seen *s)
{
	enum { WORDS = 64 };
	const struct mmu_step *step = &s->path[s->depth - 1];
	const uint64_t table = step->at.u - (uint64_t)step->index * 8;
	const uint32_t end = step->index + s->count + MIN(s->behind, (uint32_t)WORDS);
	uint32_t i = step->index;

	if (!c->w->classes.of || s->level || !s->words || c->sp->paging.word_size != 8)
		return;
	if (c->soon_table == table && c->soon_end > i)
		i = c->soon_end;
	for (; i < end; i++) {
		uint64_t word = load_word(s->words, 8, i - step->index);

		if (sure_is(&c->leaf, word))
			memory_classes_soon(c->w, sure_address(&c->leaf, word));
	}
	c->soon_table = table;
	c->soon_end = end;
}

static void memory_runs_leaves(struct memory_pages *c, const struct mmu_seen *s,
			       struct page_run *r)
{
	const struct walk_provider *w = c->w;
	const struct leaf_memo *m =
		memory_runs_leaf_flags(c, s->level, s->path[s->depth - 1].word);

	r->state = PAGE_PRESENT;
	r->have = RUN_LEVEL | RUN_RIGHTS | RUN_FLAGS;
	r->rights = s->rights;
	/* Leaves of one piece agree in all but where they point. */
	r->flags = m->flags | marks_of_flags(&w->marks, s->va, m->flags);
	r->properties = m->properties;
	memory_runs_note_used(w, r);
	memory_runs_note_special(w, s->path[s->depth - 1].word, r);
	if (c->cur.q.areas_only)
		return;
	memory_runs_leaf_places(c, s);
	memory_runs_soon(c, s);
	r->pa = c->pa;
	r->word = c->word;
	c->ahead = 0;
}

/* Words that the CPU ignores are all the same in one piece. */
static void memory_runs_soft_words(struct memory_pages *c, const struct mmu_seen *s,
				   struct page_run *r)
{
	const struct walk_provider *w = c->w;
	uint64_t entry = s->path[s->depth - 1].word;
	struct atw_soft_word soft = atw_soft_decode_at(w->o.soft(w->o.soft_arg), &c->sp->paging,
						       s->va, s->level, entry);

	r->state = provider_soft_state(soft.what);
	r->have = RUN_LEVEL | RUN_SWAP | RUN_FLAGS;
	r->flags = marks_of_soft(&soft);
	r->swap_type = soft.type;
	r->swap_offset = soft.offset;
	r->guess = soft.guess;
	if (r->state == PAGE_PROTNONE)
		memory_runs_note_special(w, entry, r);
	for (uint32_t i = 0; i < s->count; i++) {
		c->pa[i] = soft.pa.u;
		c->word[i] = entry;
	}
	if (soft.pa.u)
		r->pa = c->pa;
	r->word = c->word;
	c->ahead = s->count;
}

int walk_pages_next(struct page_cursor *cur, const struct page_run **ret,
		    struct atw_err *err)
{
	struct memory_pages *c = memory_pages_of(cur);
	struct page_run *r = &c->run;
	const struct mmu_seen *s;
	int rc = c->walk ? mmu_walk_next(c->walk, &s, err) : ATW_END;

	c->seen = rc == ATW_OK ? s : NULL;
	if (rc != ATW_OK)
		return walk_has_ended(c->w, cur->q.task, rc) ? ATW_END : rc;
	*r = (struct page_run){
		.va = s->va.u, .size = s->size, .slot = s->size / s->count,
		.count = s->count, .level = s->level,
	};
	c->alike = c->alike_end = c->each_end = 0;
	*ret = r;
	if (s->loss) {
		r->state = provider_loss_state(s->loss);
		r->have = RUN_LEVEL | RUN_TABLE;
		r->table = s->pa;
		if (s->loss == ATW_LOST_DAMAGED)
			r->why = mmu_walk_error(c->walk);
	} else if (s->kind == ATW_BAD) {
		r->state = PAGE_BAD;
		r->have = RUN_LEVEL;
		c->word[0] = s->path[s->depth - 1].word;
		r->word = c->word;
	} else if (s->kind == ATW_LEAF) {
		memory_runs_leaves(c, s, r);
	} else if (s->depth && s->path[s->depth - 1].word) {
		memory_runs_soft_words(c, s, r);
	}
	return ATW_OK;
}

/* ---- how often each frame is mapped ---- */

static bool memory_runs_count_piece(struct walk_provider *w, const struct mmu_space *sp,
				    const struct mmu_seen *s)
{
	unsigned shift = w->p.page_shift;
	uint64_t pages = s->size / s->count >> shift;
	struct atw_soft_word soft;

	if (s->loss || s->kind == ATW_BAD)
		return true;
	for (uint32_t i = 0; s->kind == ATW_LEAF && i < s->count; i++)
		if (!counts_add(&w->p.counts, mmu_seen_pa(sp, s, i).u >> shift, pages))
			return false;
	if (s->kind == ATW_LEAF)
		return true;
	soft = atw_soft_decode(w->o.soft(w->o.soft_arg), &sp->paging, s->level,
			       s->path[s->depth - 1].word);
	for (uint32_t i = 0; soft.what == ATW_SOFT_PROTNONE && i < s->count; i++)
		if (!counts_add(&w->p.counts, soft.pa.u >> shift, pages))
			return false;
	return true;
}

int walk_count(struct provider *p, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);

	if (w->running)
		return walk_count_live(w, err);
	for (size_t i = 0; i < p->ntasks; i++) {
		const struct mmu_space *sp = &w->space[i].mm.space;
		const struct mmu_walk_opts wo = {
			.last = ATW_VA(p->user_last), .flags = MMU_WALK_SOFT,
		};
		const struct mmu_seen *s;
		struct mmu_walk *walk;
		int r;

		provider_counting(p, i, p->ntasks);
		if (p->task[i].shared)
			continue;
		r = mmu_walk_open(sp, &wo, &walk, err);
		if (r < 0)
			return r;
		while ((r = mmu_walk_next(walk, &s, err)) == ATW_OK)
			if (!memory_runs_count_piece(w, sp, s)) {
				mmu_walk_close(walk);
				return provider_leave_counts(p, err);
			}
		mmu_walk_close(walk);
		/* A listing says so where it gets there. */
		if (r < 0 && r != ATW_E_LIMIT)
			return r;
	}
	p->counted = true;
	return ATW_OK;
}
