/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_runs.c - conversion of a capture's runs to those of a provider: in address
 * order, with the ranges between them, and a large page as one run, although its frames
 * have different facts and so runs of their own.
 */
#include "target/capture_vmas.h"

#include "base/sorted.h"
#include "format/pagemap.h"
#include "target/provider.h"

/* ---- runs ---- */

/* Bytes that its entry maps. */
static uint64_t runs_slot_of(const struct capture_pages *c, const struct capture_run *run)
{
	uint64_t log = run->order + c->cur.p->page_shift;

	return capture_is_present(run) && run->has & CAPTURE_M_ORDER && log <= CAPTURE_LARGEST ?
	       (uint64_t)1 << log : c->m->page;
}

static void runs_use_pages(struct capture_pages *c, uint64_t n)
{
	struct capture_run *run = &c->run;

	c->fresh = false;
	c->have = n < run->pages;
	run->va += n * c->m->page;
	run->pages -= n;
	run->entry += capture_is_present(run) && !run->same ? n * c->m->page : 0;
	run->swap.b += n;
}

static int runs_give(struct capture_pages *c, const struct page_run **ret)
{
	struct page_run *g = &c->given;
	uint64_t end = g->va + g->size;

	c->ended = !end || end - 1 >= c->last;
	c->at = end > c->at ? end : c->at;
	*ret = g;
	return ATW_OK;
}

static int runs_give_nothing(struct capture_pages *c, const struct page_run **ret,
			     bool known, uint64_t last)
{
	bool hidden = !known && c->at >= c->hidden_from;

	c->given = (struct page_run){
		.va = c->at, .size = last - c->at + 1, .slot = last - c->at + 1, .count = 1,
		.state = known || hidden ? PAGE_ABSENT : PAGE_LOST,
		.have = hidden ? RUN_STATE_HIDDEN : 0,
	};
	return runs_give(c, ret);
}

/* Reported once a listing. */
static void runs_leave_out(struct capture_pages *c)
{
	struct atw_err why = { 0 };

	if (c->parts_full)
		return;
	c->parts_full = true;
	atw_err_set(&why, ATW_E_LIMIT, "more than %d runs in one large page, of which the rest is left out",
		    CAPTURE_PARTS);
	provider_cannot(c->cur.p, "pages", &why);
}

static void runs_add_part(struct capture_pages *c, uint64_t pages)
{
	const struct capture_run *run = &c->run;

	if (c->nparts == CAPTURE_PARTS) {
		runs_leave_out(c);
		return;
	}
	c->part[c->nparts++] = (struct capture_part){
		.pages = pages, .count = run->count, .flags = run->flags, .refs = run->refs,
		.has = run->has, .folio = (uint8_t)run->folio,
		.device = run->state == CAPTURE_DEVICE,
	};
}

static uint8_t runs_rights_of(const struct capture_pages *c,
			      const struct capture_run *run)
{
	/* Writable, if not known, is as the area is; and then so is all else. */
	if (!(c->m->c->bits & CAPTURE_WRITE) && c->area.rights_known)
		return c->area.rights;
	return (uint8_t)((run->entry & CAPTURE_UNREADABLE && !c->m->c->old ? 0 : ATW_UR) |
			 (run->entry & CAPTURE_WRITE ? ATW_UW : 0) |
			 (run->entry & CAPTURE_EXEC ? ATW_UX : 0));
}

/* As in pagemap_runs.c; or accessed and dirty. */
static uint64_t runs_flags_of(const struct capture_pages *c,
			      const struct capture_run *run)
{
	if (!c->m->table)
		return marks_of_word((uint64_t)run->map << 55);
	return (run->entry & CAPTURE_ACCESSED ? 1u : 0) | (run->entry & CAPTURE_DIRTY ? 2u : 0);
}

/* All but addresses, of what is present. */
static void runs_describe(struct capture_pages *c, const struct capture_run *run)
{
	struct page_run *g = &c->given;
	/* The paper has no such pages; it may have some that user mode may not see. */
	bool user = run->entry & CAPTURE_USER || c->m->c->old;
	bool special = run->state == CAPTURE_ZERO || run->state == CAPTURE_DEVICE;
	bool rights = c->m->c->bits & CAPTURE_WRITE || c->area.rights_known;

	*g = (struct page_run){
		.va = run->va,
		.state = user ? PAGE_PRESENT : PAGE_PROTNONE,
		.have = (user && rights ? RUN_RIGHTS : 0u) |
			(c->m->table || run->has & CAPTURE_M_MAP ? RUN_FLAGS : 0u) |
			(special ? RUN_SPECIAL : 0u),
		.special = special,
		.rights = user ? runs_rights_of(c, run) : 0,
		.flags = runs_flags_of(c, run),
	};
	c->nparts = c->now = 0;
	c->before = 0;
}

/* So many at once that nothing can be said of each. */
static int runs_give_whole(struct capture_pages *c,
			   const struct page_run **ret, uint64_t slot, uint64_t n)
{
	struct page_run *g = &c->given;

	g->slot = slot;
	g->count = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	g->size = n * slot;
	runs_use_pages(c, n * (slot / c->m->page));
	return runs_give(c, ret);
}

/* Is anything asked of its frames? `bytes` of them, if they are not all the same. */
static bool runs_is_wanted(const struct capture_pages *c,
			   const struct capture_run *run, uint64_t bytes)
{
	uint64_t pa = run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;

	return !c->cur.q.wanted || run->noframe ||
	       c->cur.q.wanted(c->cur.q.arg, pa, run->same ? c->m->page : bytes);
}

/* Small pages; or large ones, of all of which the same is known. */
static int runs_give_pages(struct capture_pages *c,
			   const struct page_run **ret, uint64_t slot)
{
	struct page_run *g = &c->given;
	struct capture_run *run = &c->run;
	uint64_t each = slot / c->m->page, n = run->pages / each;
	uint64_t pa = run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;

	runs_describe(c, run);
	if (c->m->c->unsized && slot == c->m->page)
		g->have |= RUN_SIZE_HIDDEN;
	if (c->cur.q.areas_only)
		return runs_give_whole(c, ret, slot, n);
	if (!runs_is_wanted(c, run, n * slot)) {
		g->have |= RUN_ELSEWHERE;
		return runs_give_whole(c, ret, slot, n);
	}
	if (c->cur.q.whole) {
		n = n < UINT32_MAX ? n : UINT32_MAX;
		c->pa[0] = pa;
		g->pa = run->noframe ? NULL : c->pa;
		g->have |= RUN_WHOLE;
		runs_add_part(c, n * each);
		return runs_give_whole(c, ret, slot, n);
	}
	n = n < CAPTURE_SLOTS ? n : CAPTURE_SLOTS;
	/* The word is that of the first page. */
	if (run->has & CAPTURE_M_RAW && c->fresh) {
		n = 1;
		c->word = run->raw;
		g->word = &c->word;
	}
	g->slot = slot;
	g->count = (uint32_t)n;
	g->size = n * slot;
	for (uint64_t i = 0; i < n; i++)
		c->pa[i] = run->same ? pa : pa + i * slot;
	g->pa = run->noframe ? NULL : c->pa;
	runs_add_part(c, n * each);
	runs_use_pages(c, n * each);
	return runs_give(c, ret);
}

/* Is it more of the same large page, `first` with `done` pages of it? */
static bool runs_goes_on(const struct capture_pages *c,
			 const struct capture_run *first, uint64_t done)
{
	const struct capture_run *run = &c->run;
	uint64_t ahead = first->noframe || first->same ? 0 : done * c->m->page;

	return c->have && run->va == first->va + done * c->m->page && run->order == first->order &&
	       run->has & CAPTURE_M_ORDER && run->map == first->map &&
	       run->noframe == first->noframe && run->same == first->same &&
	       (run->noframe ? !((run->entry ^ first->entry) & CAPTURE_ENTRY_BITS)
			     : run->entry == first->entry + ahead);
}

/* One large page, part by part; what lacks some of it is as large as what is there. */
static int runs_give_large(struct capture_pages *c, const struct page_run **ret,
			   uint64_t slot, struct atw_err *err)
{
	const struct capture_run first = c->run;
	struct page_run *g = &c->given;
	uint64_t all = (slot - (first.va & (slot - 1))) / c->m->page, done = 0;
	int r = ATW_OK;

	runs_describe(c, &first);
	do {
		uint64_t left = all - done, n = c->run.pages < left ? c->run.pages : left;

		runs_add_part(c, n);
		runs_use_pages(c, n);
		done += n;
		r = capture_fill(c, err);
	} while (r == ATW_OK && done < all && runs_goes_on(c, &first, done));
	if (r != ATW_OK)
		return r;
	g->count = 1;
	g->size = g->slot = done * c->m->page;
	c->pa[0] = first.entry & ~(uint64_t)CAPTURE_ENTRY_BITS;
	g->pa = first.noframe ? NULL : c->pa;
	if (first.has & CAPTURE_M_RAW) {
		c->word = first.raw;
		g->word = &c->word;
	}
	return runs_give(c, ret);
}

/* What is not present: on swap, or what its state says. */
static int runs_give_other(struct capture_pages *c, const struct page_run **ret)
{
	static const uint8_t states[CAPTURE_STATES] = {
		[CAPTURE_PLAIN] = PAGE_SWAP, [CAPTURE_GUARD] = PAGE_GUARD,
		[CAPTURE_MARKER] = PAGE_MARKER, [CAPTURE_MIGRATION] = PAGE_MIGRATION,
		[CAPTURE_POISON] = PAGE_POISON, [CAPTURE_PRIVATE] = PAGE_DEVICE,
		[CAPTURE_DEVICE] = PAGE_SWAP, [CAPTURE_ZERO] = PAGE_SWAP,
	};
	struct capture_run *run = &c->run;
	struct page_run *g = &c->given;
	uint64_t n;

	*g = (struct page_run){
		.va = run->va, .slot = c->m->page, .state = states[run->state],
		.have = run->has & CAPTURE_M_MAP ? RUN_FLAGS : 0,
		.flags = runs_flags_of(c, run),
	};
	if (run->has & CAPTURE_M_SWAP && run->swap.a <= UINT8_MAX) {
		g->have |= RUN_SWAP;
		g->swap_type = (uint8_t)run->swap.a;
		g->swap_offset = run->swap.b;
	} else if (g->state == PAGE_SWAP && !(run->has & CAPTURE_M_SWAP) &&
		   !(c->m->swaps && (run->map << 55) & PAGEMAP_SWAP)) {
		g->have |= RUN_STATE_HIDDEN;     /* no device, and no other word for it */
	}
	if (c->m->table)
		g->have &= ~(uint32_t)RUN_FLAGS;
	if (c->cur.q.areas_only || c->cur.q.whole)
		return runs_give_whole(c, ret, c->m->page, run->pages);
	/* Each is in a place of its own; those of guards are none. */
	n = g->state == PAGE_GUARD ? run->pages < UINT32_MAX ? run->pages : UINT32_MAX : 1;
	if (run->has & CAPTURE_M_RAW && c->fresh && n == 1) {
		c->word = run->raw;
		g->word = &c->word;
	}
	g->count = (uint32_t)n;
	g->size = n * c->m->page;
	runs_use_pages(c, n);
	return runs_give(c, ret);
}

static int runs_give_run(struct capture_pages *c, const struct page_run **ret,
			 struct atw_err *err)
{
	uint64_t slot = runs_slot_of(c, &c->run);

	if (!capture_is_present(&c->run))
		return runs_give_other(c, ret);
	if (slot > c->m->page && ((c->run.va & (slot - 1)) || c->run.pages < slot / c->m->page))
		return runs_give_large(c, ret, slot, err);
	return runs_give_pages(c, ret, slot);
}

/* What ends before what is to be listed; a large page is one from its beginning. */
static int runs_skip(struct capture_pages *c, struct atw_err *err)
{
	int r = capture_fill(c, err);

	while (r == ATW_OK && c->have && c->run.va < c->at) {
		uint64_t slot = runs_slot_of(c, &c->run);
		uint64_t upto = c->at & ~(slot - 1), n;

		if (c->run.va >= upto)
			break;
		n = (upto - c->run.va) / c->m->page;
		runs_use_pages(c, n < c->run.pages ? n : c->run.pages);
		r = capture_fill(c, err);
	}
	return r;
}

int capture_pages_next(struct page_cursor *cur, const struct page_run **ret,
		       struct atw_err *err)
{
	struct capture_pages *c = capture_pages_of(cur);
	uint64_t before;
	int r;

	if (c->ended)
		return ATW_END;
	r = runs_skip(c, err);
	if (r != ATW_OK)
		return r;
	if (c->have && c->run.va <= c->at)
		return runs_give_run(c, ret, err);
	before = c->have && c->run.va - 1 < c->last ? c->run.va - 1 : c->last;
	capture_drop_holes(c, c->at);
	if (!c->nholes || c->hole[0].first > before)
		return runs_give_nothing(c, ret, true, before);
	if (c->hole[0].first > c->at)
		return runs_give_nothing(c, ret, true, c->hole[0].first - 1);
	return runs_give_nothing(
		c, ret, false, c->hole[0].last < before ? c->hole[0].last : before);
}

int capture_pages_open(struct page_cursor *cur, struct atw_err *err)
{
	struct capture_pages *c = capture_pages_of(cur);

	c->m = capture_of(cur->p);
	c->at = cur->q.first;
	c->last = cur->q.last;
	c->ended = c->at > c->last;
	c->hidden_from = UINT64_MAX;
	c->text.len = c->nholes = 0;
	c->have = c->area.open = c->parts_full = false;
	return capture_cursor_begin(c->m, &c->lines, cur->q.task, err);
}

void capture_pages_close(struct page_cursor *cur)
{
	capture_stream_close(capture_pages_of(cur)->lines.s);
}

/* ---- frames ---- */

/* The part that a page of the run is in; they are asked for in order, mostly. */
static const struct capture_part *runs_part_at(struct capture_pages *c, uint64_t page)
{
	if (page < c->before)
		c->now = c->before = 0;
	while (c->now < c->nparts && page - c->before >= c->part[c->now].pages)
		c->before += c->part[c->now++].pages;
	return c->now < c->nparts ? &c->part[c->now] : NULL;
}

static void runs_find_node(const struct captured *c, uint64_t pa, struct frame_facts *ret)
{
	size_t lo = SORTED_BELOW(c->ram, c->nram, last, pa);

	if (lo == c->nram || c->ram[lo].start > pa || !c->ram[lo].have_node)
		return;
	ret->have |= FACT_NODE;
	ret->page.node = (uint32_t)c->ram[lo].node;
}

int capture_facts(struct page_cursor *cur, const struct page_run *r, uint32_t i,
		  uint64_t off, uint64_t mapped, struct frame_facts *ret,
		  struct atw_err *err)
{
	struct capture_pages *c = capture_pages_of(cur);
	uint64_t page = (i * r->slot + off) >> cur->p->page_shift, behind;
	const struct capture_part *part = runs_part_at(c, page);

	ret->have = 0;
	ret->alike = 0;
	if (!part || !r->pa)
		return ATW_E_UNSUPPORTED;
	behind = part->pages - (page - c->before) - 1;
	ret->alike = behind < UINT32_MAX ? (uint32_t)behind : UINT32_MAX;
	if (part->device) {
		ret->have = FACT_NO_PAGE;
		return ATW_E_MISSING;
	}
	if (part->has & CAPTURE_M_COUNT) {
		ret->have |= FACT_COUNT;
		ret->page.count = part->count;
	}
	/* Those of the paper's kernel have numbers of their own. */
	if (part->has & CAPTURE_M_FLAGS && !c->m->c->old) {
		ret->have |= FACT_FLAGS;
		ret->page.flags = part->flags & c->m->c->pageflags;
	}
	if (part->has & CAPTURE_M_REFS) {
		ret->have |= FACT_MAPPED;
		ret->mapped = part->refs;
	}
	if (part->has & CAPTURE_M_FOLIO) {
		ret->have |= FACT_ORDER;
		ret->page.order = part->folio;
	}
	runs_find_node(c->m->c, r->pa[i] + off, ret);
	return ATW_OK;
}
