// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - collection of page tables. */
#include "extract/own.h"

#include <stdlib.h>

#include "walk/memory.h"

enum { TABLE_MAX = 1 << 17 };

void tables_deinit(struct tables *t)
{
	table_deinit(&t->seen);
	free(t->scratch);
	*t = (struct tables){ 0 };
}

/*
 * false: it was visited before, with everything below it. If only a part of it is
 * available, that part.
 */
static bool tables_add_table(struct tables *t, const struct mmu_space *sp, atw_pa pa,
			     unsigned level)
{
	/*
	 * Tables have at least 16 bytes, so the low bits have room for the level; never
	 * 0.
	 */
	uint64_t key = pa.u | (level + 1);
	size_t bytes = atw_table_bytes(&sp->paging, level);
	struct table_slot *s = table_get(&t->seen, key);
	enum mmu_loss loss;
	const void *words;

	t->failed |= !s;
	if (!s || s->value)
		return false;
	if (t->reading && !t->shared)
		return true;
	table_set(&t->seen, s, 1);
	if (t->reading)
		return true;
	bytes = memory_words(sp->mem, pa, bytes, t->scratch, &words, &loss, NULL);
	marks_add(t->marks, pa.u, bytes);
	t->bytes += bytes;
	return true;
}

int tables_add(struct tables *t, const struct mmu_space *sp, struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(UINT64_MAX),
		.want = ATW_K(ATW_TABLE), .flags = MMU_WALK_FOLD,
	};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r;

	if (!t->scratch)
		t->scratch = malloc(TABLE_MAX);
	if (!t->scratch)
		return atw_err_nomem(err);
	r = mmu_walk_open(sp, &o, &w, err);
	if (r < 0)
		return r;
	if (sp->low.have)
		tables_add_table(t, sp, sp->low.pa, sp->paging.nlevels - 1u);
	if (sp->high.have)
		tables_add_table(t, sp, sp->high.pa, sp->paging.nlevels - 1u);
	while (!t->failed && (r = mmu_walk_next(w, &s, err)) == ATW_OK) {
		if (s->loss)
			t->lost++;
		else if (s->kind == ATW_TABLE && s->level && !s->repeat_of &&
			 !tables_add_table(t, sp, s->pa, s->level - 1u))
			mmu_walk_prune(w);
	}
	mmu_walk_close(w);
	if (t->failed)
		return atw_err_nomem(err);
	return r == ATW_END ? ATW_OK : r;
}
