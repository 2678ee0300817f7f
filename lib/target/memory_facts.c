/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory_facts.c - facts of the frames that a run of pages leads to, from struct pages. */
#include "base/cleanup.h"
#include "linux/memmap.h"
#include "target/memory_vmas.h"
#include "walk/space.h"

/*
 * Struct pages lie anywhere: so many of them are under way at once. Of a running
 * machine each read is a system call, whatever it brings.
 */
enum { AHEAD = 9, LARGE_LIVE = 256 };
/* Of a larger page on a running machine so many are read together. */
enum { EACH_MOST = 1024 };

/* Pages from the run's first one on. */
static uint64_t memory_facts_page(const struct walk_provider *w, const struct page_run *r,
				  uint32_t i, uint64_t off)
{
	return ((uint64_t)i * r->slot + off) >> w->p.page_shift;
}

/* All of a large page: its tails follow its head. */
static void memory_facts_look_ahead_each(struct memory_pages *c, const struct page_run *r,
					 uint32_t i, uint64_t off)
{
	struct walk_provider *w = c->w;
	uint64_t page = memory_facts_page(w, r, i, off);
	uint64_t left = (r->slot - off) >> w->p.page_shift;
	uint64_t n = left < EACH_MOST ? left : EACH_MOST;

	if (page < c->each_end)
		return;
	memory_pages_anew(c);
	memmap_soon_run(w->memmap, (r->pa[i] + off) >> w->p.page_shift, n);
	c->each_end = page + n;
}

/* Which struct pages will be asked for, as far as it pays to say so. */
static void memory_facts_look_ahead(struct memory_pages *c, const struct page_run *r,
				    uint32_t i, uint64_t off)
{
	struct walk_provider *w = c->w;
	unsigned shift = w->p.page_shift;
	bool large = r->slot >> shift > 1;
	uint32_t n = w->running ? LARGE_LIVE : AHEAD, end;

	if (w->running && large && c->cur.q.each) {
		memory_facts_look_ahead_each(c, r, i, off);
		return;
	}
	if (memory_classes_look_ahead(c, r, i) ||
	    (c->soon.end && walk_soon(c, r->pa[i] >> shift)) ||
	    (!large && walk_soon_tables(c, r, i)))
		return;
	if (c->ahead < i)
		c->ahead = i;
	/* All at once, then none until they are used up. */
	if (w->running && c->ahead > i)
		return;
	end = r->count - i < n ? r->count : i + n;
	if (c->ahead >= end)
		return;
	if (!large)
		memmap_soon_frames(w->memmap, r->pa + c->ahead, end - c->ahead);
	/* What kind of folio it is, its second one says. */
	for (; large && c->ahead < end; c->ahead++)
		memmap_soon_run(w->memmap, r->pa[c->ahead] >> shift, w->running ? 2 : 1);
	c->ahead = end;
}

/* Do the tables still lead there? */
static bool memory_facts_still_there(struct memory_pages *c, uint32_t i, uint64_t va,
				     uint64_t pa)
{
	struct mmu_seen s;

	if (c->seen && space_still_leads(c->sp, c->seen, i))
		return true;
	return mmu_translate(c->sp, ATW_VA(va), &s, NULL) == ATW_OK && !s.loss &&
	       (s.kind != ATW_LEAF || s.pa.u + (va - s.va.u) == pa);
}

/* The end, `end` at most, of the slots from slot i on with ascending or descending frames. */
static uint32_t memory_facts_in_order(const struct page_run *r, uint32_t i, uint32_t end,
				      bool *down)
{
	uint32_t at = i + 1;
	uint64_t step;

	*down = at < end && r->pa[at] == r->pa[i] - r->slot;
	step = *down ? -r->slot : r->slot;
	while (at < end && r->pa[at] == r->pa[at - 1] + step)
		at++;
	return at;
}

/*
 * The number of slots, and so of pages, behind slot i of a small page with the same facts.
 * Slots are compared in parts of increasing length: behind a difference they are scanned
 * again for the next page, and a whole table for each page would be quadratic.
 */
static uint64_t memory_facts_alike_slots(struct memory_pages *c, const struct page_run *r,
					 uint32_t i, const struct page_like *like)
{
	struct atw_memmap *m = c->w->memmap;
	uint32_t at = i + 1, part = 16, end;
	bool down;

	for (; at < r->count; at = end, part *= 2) {
		uint64_t pfn = r->pa[at] >> c->w->p.page_shift, same;

		end = memory_facts_in_order(r, at, MIN(r->count - at, part) + at, &down);
		same = down ? memmap_same_down(m, like, pfn, end - at)
			    : memmap_same(m, like, pfn, end - at);
		if (same < end - at)
			return at + same - i - 1;
	}
	return at - i - 1;
}

/*
 * The number of pages behind this one with the same facts, as far as their struct pages were
 * read: in the slots behind slot i, or in the large page that it is. The result is kept,
 * so that each page is compared once.
 */
static uint32_t memory_facts_alike(struct memory_pages *c, const struct page_run *r,
				   uint32_t i, uint64_t off, const struct lnx_page *page)
{
	const struct walk_provider *w = c->w;
	uint64_t at = memory_facts_page(w, r, i, off), n = 0;
	uint64_t left = ((r->slot - off) >> w->p.page_shift) - 1;
	struct page_like like;

	if (c->alike <= at && at < c->alike_end)
		return (uint32_t)(c->alike_end - at - 1);
	if (memmap_like(w->memmap, page, &like))
		n = r->slot >> w->p.page_shift == 1
			    ? memory_facts_alike_slots(c, r, i, &like)
			    : memmap_same(w->memmap, &like, page->pfn + 1,
					  left < UINT32_MAX ? left : UINT32_MAX);
	c->alike = at;
	c->alike_end = at + 1 + n;
	return (uint32_t)n;
}

/* What is not known without decoding. */
static int memory_facts_look_up(struct memory_pages *c, const struct page_run *r, uint32_t i,
				uint64_t off, uint64_t mapped, struct frame_facts *ret,
				struct atw_err *err)
{
	struct walk_provider *w = c->w;
	uint64_t pfn = (r->pa[i] + off) >> w->p.page_shift, none;
	int rc;

	memory_facts_look_ahead(c, r, i, off);
	atw_memmap_mapped(w->memmap, pfn, mapped >> w->p.page_shift);
	/* Devices have none, page after page: a sentence for damage alone. */
	rc = atw_memmap_page(w->memmap, pfn, &ret->page, NULL);
	if (rc == ATW_E_DAMAGED)
		return atw_memmap_page(w->memmap, pfn, &ret->page, err);
	if (rc == ATW_OK)
		return rc;
	none = memmap_none(w->memmap, pfn);
	ret->have = none ? FACT_NO_PAGE : 0;
	ret->alike = none > UINT32_MAX ? UINT32_MAX : none ? (uint32_t)(none - 1) : 0;
	return ATW_E_MISSING;
}

static int memory_facts_of(struct page_cursor *cur, const struct page_run *r, uint32_t i,
			   uint64_t off, uint64_t mapped, struct frame_facts *ret,
			   struct atw_err *err)
{
	struct memory_pages *c = memory_pages_of(cur);
	struct walk_provider *w = c->w;
	int rc;

	ret->alike = 0;
	ret->have = 0;
	if (!w->memmap)
		return ATW_E_UNSUPPORTED;
	if (w->p.brief && !w->o.cgroups && memory_classes_facts(c, r, i, ret))
		return ATW_OK;
	if (!memmap_recall(w->memmap, (r->pa[i] + off) >> w->p.page_shift, &ret->page)) {
		rc = memory_facts_look_up(c, r, i, off, mapped, ret, err);
		if (rc < 0)
			return rc;
	}
	ret->have = FACT_FLAGS | FACT_COUNT | FACT_HEAD |
		    (ret->page.refcount >= 0 ? FACT_REFS : 0) |
		    (ret->page.have_node ? FACT_NODE : 0) |
		    (ret->page.have_order ? FACT_ORDER : 0) | FACT_MARKS;
	ret->marks = marks_of_page(&ret->page);
	if (w->o.cgroups &&
	    atw_memmap_cgroup(w->memmap, ret->page.head, &ret->cgroup) == ATW_OK)
		ret->have |= FACT_CGROUP;
	/* What is mapped by its frame number has no mapcount. */
	if (w->running && provider_doubts(r, ret))
		provider_settle(ret, (r->have & RUN_SPECIAL && r->special) ||
				     memory_facts_still_there(c, i, r->va + i * r->slot + off,
							      r->pa[i] + off));
	else if (!(ret->have & FACT_CGROUP))
		ret->alike = memory_facts_alike(c, r, i, off, &ret->page);
	return ATW_OK;
}

/* How often tasks map it. Pages are alike as long as that is the same. */
static void memory_facts_count(struct walk_provider *w, const struct page_run *r, uint32_t i,
			       uint64_t off, struct frame_facts *ret)
{
	const struct soles *s = &w->look.soles;
	unsigned shift = w->p.page_shift;
	uint64_t pfn = (r->pa[i] + off) >> shift, same = 1;

	ret->have |= FACT_MAPPED;
	if (r->slot >> shift > 1) {
		ret->mapped = soles_run(s, &w->p.counts, pfn, ret->alike + (uint64_t)1, &same);
		ret->alike = (uint32_t)(same - 1);
		return;
	}
	ret->mapped = soles_get(s, &w->p.counts, pfn);
	while (same <= ret->alike &&
	       soles_get(s, &w->p.counts, r->pa[i + same] >> shift) == ret->mapped)
		same++;
	ret->alike = (uint32_t)(same - 1);
}

int walk_facts(struct page_cursor *cur, const struct page_run *r, uint32_t i, uint64_t off,
	       uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	struct walk_provider *w = walk_of(cur->p);
	int rc = memory_facts_of(cur, r, i, off, mapped, ret, err);

	if (w->p.brief && w->look.soles.frames && !(ret->have & FACT_MAPPED))
		memory_facts_count(w, r, i, off, ret);
	return rc;
}
