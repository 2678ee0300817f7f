/* SPDX-License-Identifier: GPL-2.0-or-later */
/* places.c - where the addresses of a range lie. */
#include "target/places.h"

#include <stdlib.h>

struct places {
	uint64_t first, last;
	/* Page tables, */
	struct target *target;
	const struct mmu_space *space;
	struct mmu_ranges *ranges;
	/* or a provider: slots of a run from `at` on. */
	struct page_cursor *pages;
	const struct page_run *run;
	uint64_t at;
};

int places_open_tables(struct target *t, const struct mmu_space *space, uint64_t first,
		       uint64_t last, bool absent, struct places **ret,
		       struct atw_err *err)
{
	const struct mmu_walk_opts o = {
		.first = ATW_VA(first), .last = ATW_VA(last),
		.want = ATW_K(ATW_LEAF) | ATW_K(ATW_ABSENT),
		.flags = absent ? 0 : MMU_WALK_SOFT,
	};
	struct places *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return atw_err_nomem(err);
	*p = (struct places){.first = first, .last = last, .target = t, .space = space};
	r = mmu_ranges_open(space, &o, MMU_SPLIT_PHYSICAL, &p->ranges, err);
	if (r < 0) {
		free(p);
		return r;
	}
	*ret = p;
	return ATW_OK;
}

int places_open_pages(struct provider *prov, size_t task, uint64_t first, uint64_t last,
		      struct places **ret, struct atw_err *err)
{
	const uint64_t page = ((uint64_t)1 << prov->page_shift) - 1;
	const struct page_query q = {
		.task = task, .first = first & ~page, .last = last | page,
	};
	struct places *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return atw_err_nomem(err);
	*p = (struct places){.first = first, .last = last};
	r = page_cursor_open(prov, &q, &p->pages, err);
	if (r == ATW_END)
		r = atw_err_set(err, ATW_E_NONE, "the process has ended");
	if (r < 0) {
		free(p);
		return r;
	}
	*ret = p;
	return ATW_OK;
}

void places_close(struct places *p)
{
	if (!p)
		return;
	mmu_ranges_close(p->ranges);
	page_cursor_close(p->pages);
	free(p);
}

/* Where it begins and ends inside of first..last. A length of 0 is 2^64. */
static void places_clip(const struct places *p, uint64_t at, uint64_t len,
			struct place_range *ret)
{
	uint64_t last = at + (len - 1);
	uint64_t skip = at < p->first ? p->first - at : 0;

	if (last > p->last)
		last = p->last;
	ret->at = at + skip;
	ret->len = last - ret->at + 1;
	ret->pa += ret->same ? skip % ret->same : skip;
}

static uint8_t places_state(const struct places *p, const struct mmu_range *g,
			    struct place_range *ret)
{
	struct atw_soft_word w;

	if (g->loss)
		return (uint8_t)provider_loss_state(g->loss);
	if (g->kind == ATW_LEAF) {
		ret->pa = g->pa.u;
		ret->have_pa = true;
		if (g->same_pa)
			ret->same = g->page ? g->page : 4096;
		return PAGE_PRESENT;
	}
	if (g->kind == ATW_BAD)
		return PAGE_BAD;
	w = atw_soft_decode_at(target_soft(p->target), &p->space->paging, g->va, g->level,
			       g->word);
	if (w.what != ATW_SOFT_PROTNONE)
		return (uint8_t)provider_soft_state(w.what);
	ret->pa = w.pa.u;
	ret->have_pa = true;
	return PAGE_PROTNONE;
}

static int places_next_range(struct places *p, struct place_range *ret, struct atw_err *err)
{
	struct mmu_range g;
	int r;

	do {
		r = mmu_ranges_next(p->ranges, &g, err);
		if (r != ATW_OK)
			return r;
	} while (g.va.u > p->last || g.va.u + (g.size - 1) < p->first);
	*ret = (struct place_range){.repeat = g.repeat_of && !g.loss};
	ret->state = places_state(p, &g, ret);
	places_clip(p, g.va.u, g.size, ret);
	return ATW_OK;
}

/* Slots from p->at on that lie one behind the other. */
static void places_slots(struct places *p, struct place_range *ret)
{
	const struct page_run *run = p->run;
	uint64_t i = (p->at - run->va) / run->slot, n = 1;
	uint64_t at = run->va + i * run->slot, end = run->va + run->size;

	*ret = (struct place_range){.state = run->state};
	ret->hidden = run->state == PAGE_ABSENT && run->have & RUN_STATE_HIDDEN;
	if (!place_is_mapped(ret)) {
		places_clip(p, at, end - at, ret);
		p->run = NULL;
		return;
	}
	ret->have_pa = run->pa;
	if (run->pa)
		ret->pa = run->pa[i];
	while (i + n < run->count &&
	       (!run->pa || run->pa[i + n] == run->pa[i] + n * run->slot))
		n++;
	p->at = at + n * run->slot;
	if (i + n >= run->count || p->at > p->last)
		p->run = NULL;
	places_clip(p, at, n * run->slot, ret);
}

static int places_next_page(struct places *p, struct place_range *ret, struct atw_err *err)
{
	int r;

	while (!p->run) {
		const struct page_run *run;

		r = page_cursor_next(p->pages, &run, err);
		if (r != ATW_OK)
			return r;
		/* Runs may begin before what was asked for, and end behind it. */
		if (run->va > p->last || run->va + (run->size - 1) < p->first)
			continue;
		p->run = run;
		p->at = run->va > p->first ? run->va : p->first;
	}
	places_slots(p, ret);
	return ATW_OK;
}

int places_next(struct places *p, struct place_range *ret, struct atw_err *err)
{
	return p->ranges ? places_next_range(p, ret, err) : places_next_page(p, ret, err);
}
