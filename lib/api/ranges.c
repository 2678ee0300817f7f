/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ranges.c - mapped ranges of the public API: from page tables, or from runs of pages. */
#include "api/api.h"

static const uint32_t RANGES_SPLIT = ATW_SPLIT_PERMS | ATW_SPLIT_LEVEL |
				     ATW_SPLIT_PHYSICAL | ATW_SPLIT_FLAGS |
				     ATW_SPLIT_NOTHING;

struct atw_ranges {
	struct atw_space *space;
	struct mmu_ranges *ranges;
	/* Of a target without page tables: */
	struct atw_pages *pages;
	const struct atw_page_run *run;  /* NULL: the next one is needed */
	uint32_t at;                     /* its slot */
	uint64_t first, last;
	uint32_t split;
	struct atw_range next;           /* follows `row`, if `holding` */
	bool holding;
	int end;                         /* what ended the pages, and why */
	struct atw_err why;

	struct atw_range row;
};

/* ---- by page tables ---- */

static unsigned ranges_split(uint32_t split)
{
	return (split & ATW_SPLIT_PERMS ? MMU_SPLIT_RIGHTS : 0) |
	       (split & ATW_SPLIT_LEVEL ? MMU_SPLIT_LEVEL : 0) |
	       (split & ATW_SPLIT_PHYSICAL ? MMU_SPLIT_PHYSICAL : 0) |
	       (split & ATW_SPLIT_FLAGS ? MMU_SPLIT_FLAGS : 0);
}

static int ranges_open_tables(struct atw_ranges *g, const struct atw_ranges_opts *o,
			      struct atw_err *err)
{
	const struct mmu_walk_opts mo = {
		.flags = MMU_WALK_FOLD, .first = o->first,
		.last = o->last.u ? o->last : ATW_VA(UINT64_MAX), .budget = o->budget,
	};

	return mmu_ranges_open(&g->space->subject.space, &mo, ranges_split(g->split),
			       &g->ranges, err);
}

static int ranges_next_of_tables(struct atw_ranges *ranges, struct atw_err *err)
{
	struct mmu_range g;
	int r = mmu_ranges_next(ranges->ranges, &g, err);

	if (r != ATW_OK)
		return r;
	ranges->row = (struct atw_range){
		.va = g.va,
		.bytes = g.size,
		.pa = g.pa,
		.page_size = g.page,
		.entries = g.entries,
		.repeat_of = g.repeat_of,
		.level = g.level,
		.state = api_kind_state(g.kind, g.loss),
		.perms = g.rights,
		.flags = (g.mixed_rights ? ATW_RANGE_MIXED_PERMS : 0) |
			 (g.same_pa ? ATW_RANGE_SAME_PAGE : 0) |
			 (g.scattered ? ATW_RANGE_SCATTERED : 0),
	};
	return ATW_OK;
}

/* ---- by pages ---- */

static int ranges_open_pages(struct atw_ranges *g, const struct atw_ranges_opts *o,
			     struct atw_err *err)
{
	const struct atw_pages_opts po = { .size = sizeof(po), .first = o->first, .last = o->last };

	g->first = o->first.u;
	g->last = o->last.u ? o->last.u : UINT64_MAX;
	return atw_pages_open(g->space, &po, &g->pages, err);
}

/* The part of the next slot that is asked for. */
static int ranges_take_slot(struct atw_ranges *g, struct atw_range *ret, struct atw_err *err)
{
	const struct atw_page_run *run;
	uint64_t va, last, skip;

	do {
		if (!g->run) {
			int r = atw_pages_next(g->pages, &g->run, err);

			if (r != ATW_OK)
				return r;
			g->at = 0;
		}
		run = g->run;
		/* Without addresses all of a run is alike. */
		va = run->va.u + (run->pa ? g->at * run->page_size : 0);
		last = va + ((run->pa ? run->page_size : run->bytes) - 1);
		if (!run->pa || ++g->at == run->count)
			g->run = NULL;
	} while (last < g->first || va > g->last);
	skip = va < g->first ? g->first - va : 0;
	last = last < g->last ? last : g->last;
	*ret = (struct atw_range){
		.va = ATW_VA(va + skip),
		.bytes = last - (va + skip) + 1,
		.pa = run->pa ? ATW_PA(run->pa[(va - run->va.u) / run->page_size].u + skip)
			      : ATW_PA(0),
		.page_size = run->known & ATW_PAGE_SIZE ? run->page_size : 0,
		.entries = run->pa ? 1 : run->count,
		.level = run->known & ATW_PAGE_LEVEL ? run->level : 0,
		.state = run->state,
		.perms = run->known & ATW_PAGE_PERMS ? run->perms : 0,
		.flags = (run->known & ATW_PAGE_LEVEL ? 0 : ATW_RANGE_NO_LEVEL) |
			 (run->known & ATW_PAGE_PERMS ? 0 : ATW_RANGE_NO_PERMS) |
			 (run->pa ? 0 : ATW_RANGE_NO_PA),
	};
	return ATW_OK;
}

static bool ranges_alike(const struct atw_ranges *g, const struct atw_range *x,
			 const struct atw_range *y)
{
	const uint32_t known = ATW_RANGE_NO_LEVEL | ATW_RANGE_NO_PERMS | ATW_RANGE_NO_PA;

	if (x->va.u + x->bytes != y->va.u || x->state != y->state || (x->flags ^ y->flags) & known)
		return false;
	return (!(g->split & ATW_SPLIT_PERMS) || x->perms == y->perms) &&
	       (!(g->split & ATW_SPLIT_LEVEL) ||
		(x->page_size == y->page_size && x->level == y->level));
}

/* Adds a slot; false: physical memory is another there. */
static bool ranges_add(const struct atw_ranges *g, struct atw_range *x, const struct atw_range *y)
{
	bool has_pa = !(x->flags & ATW_RANGE_NO_PA);
	bool same = has_pa && x->pa.u == y->pa.u &&
		    (x->entries == 1 || x->flags & ATW_RANGE_SAME_PAGE);
	bool follows = has_pa && !(x->flags & (ATW_RANGE_SAME_PAGE | ATW_RANGE_SCATTERED)) &&
		       x->pa.u + x->bytes == y->pa.u;

	if (has_pa && g->split & ATW_SPLIT_PHYSICAL && !same && !follows)
		return false;
	if (has_pa && !follows) {
		x->flags &= ~(uint32_t)ATW_RANGE_SAME_PAGE;
		x->flags |= same ? ATW_RANGE_SAME_PAGE : ATW_RANGE_SCATTERED;
	}
	x->flags |= x->perms != y->perms ? ATW_RANGE_MIXED_PERMS : 0;
	x->perms &= y->perms;
	x->page_size = x->page_size == y->page_size ? x->page_size : 0;
	x->bytes += y->bytes;
	x->entries += y->entries;
	return true;
}

static int ranges_next_of_pages(struct atw_ranges *g, struct atw_err *err)
{
	struct atw_range slot;

	while (!g->end) {
		g->end = ranges_take_slot(g, &slot, &g->why);
		if (g->end)
			break;
		if (g->holding && ranges_alike(g, &g->next, &slot) &&
		    ranges_add(g, &g->next, &slot))
			continue;
		g->row = g->next;
		g->next = slot;
		if (g->holding)
			return ATW_OK;
		g->holding = true;
	}
	if (g->holding) {
		g->holding = false;
		g->row = g->next;
		return ATW_OK;
	}
	if (g->end < 0)
		atw_err_give(err, g->end, &g->why);
	return g->end;
}

/* ---- both ---- */

int atw_ranges_open(struct atw_space *space, const struct atw_ranges_opts *opts,
		    struct atw_ranges **ret, struct atw_err *err)
{
	struct atw_ranges_opts o;
	struct atw_ranges *g;
	int r = api_both(space, "the address space", ret, err) ?:
		api_opts(&o, sizeof(o), opts, err) ?:
		api_reserved(o.reserved, err);

	if (r == ATW_OK && o.split & ~RANGES_SPLIT)
		r = atw_err_set(err, ATW_E_USAGE, "options: split 0x%x is not known",
				o.split & ~RANGES_SPLIT);
	if (r == ATW_OK)
		r = API_NEW(&g, err);
	if (r != ATW_OK)
		return r;
	g->space = space;
	g->split = o.split ? o.split : ATW_SPLIT_PERMS | ATW_SPLIT_LEVEL | ATW_SPLIT_PHYSICAL;
	r = target_has(space->target->t, TARGET_TABLES) ? ranges_open_tables(g, &o, err)
							: ranges_open_pages(g, &o, err);
	if (r < 0)
		atw_ranges_close(g);
	else
		*ret = g;
	return r;
}

int atw_ranges_next(struct atw_ranges *ranges, const struct atw_range **ret,
		    struct atw_err *err)
{
	int r = api_both(ranges, "the list of ranges", ret, err);

	if (r == ATW_OK)
		r = ranges->pages ? ranges_next_of_pages(ranges, err)
				  : ranges_next_of_tables(ranges, err);
	if (r == ATW_OK)
		*ret = &ranges->row;
	return r;
}

void atw_ranges_close(struct atw_ranges *ranges)
{
	if (!ranges)
		return;
	mmu_ranges_close(ranges->ranges);
	atw_pages_close(ranges->pages);
	free(ranges);
}
