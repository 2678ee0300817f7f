/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_tree.c - page tables of a range as a tree, with runs of entries folded. */
#include "walk.h"

#include "base/table.h"

/* Entries of one table, in a row. */
struct walk_tree_run {
	struct mmu_seen s;               /* the first one; without its words */
	uint64_t count;
	uint64_t step;                   /* from where each leads to where the next does */
	bool have, repeat;               /* repeat: the table was listed before */
};

/* A table that was listed. */
struct walk_tree_table {
	uint64_t pa, va;                 /* va: where it was */
	uint8_t level, rights;
};

struct walk_tree_state {
	struct walk_out *w;
	const struct address *a;
	struct walk_tree_run held;
	struct walk_tree_table *table;
	size_t n, cap;
	struct table index;
};

static const struct mmu_step *walk_tree_last(const struct mmu_seen *s)
{
	return s->depth ? &s->path[s->depth - 1] : NULL;
}

static int walk_tree_put(struct walk_tree_state *t, const struct walk_tree_run *run,
			 struct atw_err *err)
{
	const struct mmu_seen *s = &run->s;
	uint64_t slot = (uint64_t)1 << t->w->list.space->paging.level[s->level].shift;
	struct row r = { 0 };

	walk_fill_piece(t->w, &r, s, 0);
	if (s->kind != ATW_LEAF || s->loss) {
		row_set(&r, C_END, s->va.u + s->size);
		row_set(&r, C_SIZE, s->size);
	} else {
		row_set(&r, C_END, s->va.u + run->count * slot);
		row_set(&r, C_SIZE, run->count * slot);
	}
	row_set_if(&r, !s->loss, C_PAGES, run->count);
	if (run->count > 1 && s->kind == ATW_LEAF && !s->loss)
		row_set(&r, C_STEP, run->step);
	row_set_if(&r, s->repeat_of || run->repeat, C_STATE, STATE_REPEAT);
	row_set_if(&r, s->repeat_of, C_REPEAT, s->repeat_of);
	r.have &= ~COL(C_AREA);
	row_area(&t->w->list, &r, s->va.u, s->va.u + (r.v[C_SIZE].u - 1));
	return walk_put(t->w, &r, err);
}

static int walk_tree_flush(struct walk_tree_state *t, struct atw_err *err)
{
	if (!t->held.have)
		return ATW_OK;
	t->held.have = false;
	return walk_tree_put(t, &t->held, err);
}

/*
 * Entries that the CPU ignores, each with the value that follows from the one before:
 * consecutive offsets of a swap device.
 */
static bool walk_tree_soft_follows(const struct walk_tree_state *t,
				   const struct walk_tree_run *x, const struct mmu_seen *s)
{
	const struct atw_soft_abi *abi = target_soft(t->w->list.src->target);
	const struct atw_paging *pg = &t->w->list.space->paging;
	uint64_t pages = x->s.size >> pg->page_shift;
	struct atw_soft_word a, b;

	a = atw_soft_decode_at(abi, pg, x->s.va, x->s.level, walk_tree_last(&x->s)->word);
	b = atw_soft_decode_at(abi, pg, s->va, s->level, walk_tree_last(s)->word);
	return a.what == ATW_SOFT_SWAP && b.what == ATW_SOFT_SWAP && a.type == b.type &&
	       a.soft_dirty == b.soft_dirty && a.uffd_wp == b.uffd_wp &&
	       b.offset == a.offset + pages;
}

/* Does the piece continue the row that is held back, in the same table? */
static bool walk_tree_continues(const struct walk_tree_state *t, const struct mmu_seen *s,
				bool repeat)
{
	const struct walk_tree_run *x = &t->held;
	const struct mmu_step *a = walk_tree_last(&x->s), *b = walk_tree_last(s);
	unsigned word_size = t->w->list.space->paging.word_size;

	if (!x->have || !a || !b || x->s.loss || s->loss || x->s.depth != s->depth ||
	    x->s.kind != s->kind || x->s.repeat_of || s->repeat_of || x->repeat != repeat ||
	    x->s.va.u + x->s.size != s->va.u || a->at.u + x->count * word_size != b->at.u)
		return false;
	if (repeat)
		return a->word == b->word;
	return s->kind == ATW_ABSENT && walk_tree_soft_follows(t, x, s);
}

static int walk_tree_hold(struct walk_tree_state *t, const struct mmu_seen *s, bool repeat,
			  struct atw_err *err)
{
	int r;

	if (walk_tree_continues(t, s, repeat)) {
		t->held.s.size += s->size;
		t->held.count += s->count;
		return ATW_OK;
	}
	r = walk_tree_flush(t, err);
	t->held = (struct walk_tree_run){
		.s = *s, .count = s->count, .have = true, .repeat = repeat,
	};
	t->held.s.words = NULL;
	return r;
}

/*
 * How many leaves from `from` on lead to places at equal distances. Two that are not
 * neighbours in memory are so by chance.
 */
static uint32_t walk_tree_run_length(const struct walk_tree_state *t, const struct mmu_seen *s,
				     uint32_t from, uint64_t *ret_step)
{
	const struct mmu_space *sp = t->w->list.space;
	uint64_t slot = (uint64_t)1 << sp->paging.level[s->level].shift, at, step;
	uint32_t i = from + 1;

	if (i == s->count)
		return 1;
	at = mmu_seen_pa(sp, s, i).u;
	step = at - mmu_seen_pa(sp, s, from).u;
	for (i++; i < s->count; i++, at += step)
		if (mmu_seen_pa(sp, s, i).u != at + step)
			break;
	if (step != slot && step && i - from < 4)
		return 1;
	*ret_step = step;
	return i - from;
}

static int walk_tree_leaves(struct walk_tree_state *t, const struct mmu_seen *s,
			    struct atw_err *err)
{
	int r = walk_tree_flush(t, err);

	for (uint32_t i = 0; i < s->count && r == ATW_OK;) {
		struct walk_tree_run run = { .count = 1 };

		run.count = walk_tree_run_length(t, s, i, &run.step);
		mmu_seen_one(t->w->list.space, s, i, &run.s);
		r = walk_tree_put(t, &run, err);
		i += (uint32_t)run.count;
	}
	return r;
}

/*
 * Was all of this table listed already, at another address? If not, it is noted. Only
 * whole tables count: of the first and the last one, entries may lie outside the range.
 */
static int walk_tree_is_known(struct walk_tree_state *t, const struct mmu_seen *s, bool *ret,
			      struct atw_err *err)
{
	const struct walk_tree_table x = { s->pa.u, s->va.u, s->level, s->rights };
	uint64_t key = hash_two(x.pa, (uint64_t)x.level << 8 | x.rights);

	*ret = false;
	if (s->va.u < t->a->first || s->va.u + (s->size - 1) > t->a->last)
		return ATW_OK;
	for (struct table_slot *e = NULL; (e = table_next(&t->index, key, e));) {
		const struct walk_tree_table *y = &t->table[e->value - 1];

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): index has what table[] has */
		if (y->pa != x.pa || y->level != x.level || y->rights != x.rights)
			continue;
		/* At the same address: a running kernel changed it, and it is walked again. */
		*ret = y->va != x.va;
		return ATW_OK;
	}
	if (!ARRAY_ROOM(t->table, t->n, t->cap) || !table_add(&t->index, key, t->n + 1))
		return atw_err_nomem(err);
	t->table[t->n++] = x;
	return ATW_OK;
}

static int walk_tree_table(struct walk_tree_state *t, struct mmu_walk *walk,
			   const struct mmu_seen *s, struct atw_err *err)
{
	const struct mmu_step *p = walk_tree_last(s);
	bool known = false, bottom = t->w->depth && s->depth == t->w->depth;
	struct row row = { 0 };
	int r = bottom ? ATW_OK : walk_tree_is_known(t, s, &known, err);

	if (r < 0)
		return r;
	if (known) {
		mmu_walk_prune(walk);
		return walk_tree_hold(t, s, true, err);
	}
	r = walk_tree_flush(t, err);
	if (r < 0)
		return r;
	walk_fill_table(t->w, &row, p, s->va.u, s->va.u, s->size);
	row_set(&row, C_PAGES, s->count);
	return walk_put(t->w, &row, err);
}

int walk_tree(struct walk_out *w, struct mmu_walk *walk, const struct address *a, bool *any,
	      struct atw_err *err)
{
	struct walk_tree_state t = { .w = w, .a = a };
	const struct mmu_seen *s;
	int put = ATW_OK, r = ATW_OK;

	while (put == ATW_OK && (r = mmu_walk_next(walk, &s, err)) == ATW_OK) {
		*any = true;
		walk_note_piece(w, walk, s);
		if (s->kind == ATW_TABLE && !s->loss && !s->repeat_of)
			put = walk_tree_table(&t, walk, s, err);
		else if (s->kind == ATW_LEAF && !s->loss)
			put = walk_tree_leaves(&t, s, err);
		else
			put = walk_tree_hold(&t, s, false, err);
	}
	if (put == ATW_OK)
		put = walk_tree_flush(&t, r < 0 ? NULL : err);
	table_deinit(&t.index);
	free(t.table);
	return put < 0 ? put : r;
}
