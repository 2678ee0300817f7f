/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_runs.c - conversion of a capture's runs to those of a provider: in address
 * order, with the ranges between them, and a large page as one run, although its frames
 * have different facts and so runs of their own.
 */
#include "target/capture_vmas.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sorted.h"
#include "format/pagemap.h"

/* ---- runs ---- */

/* Bytes that its entry maps. */
static uint64_t capture_runs_slot_of(const struct capture_provider *m,
				     const struct capture_run *run)
{
	uint64_t log = run->order + m->p.page_shift;

	return capture_is_present(run) && run->has & CAPTURE_M_ORDER && log <= CAPTURE_LARGEST ?
	       (uint64_t)1 << log : m->page;
}

static void capture_runs_use_pages(struct capture_provider *m, uint64_t n)
{
	struct capture_run *run = &m->run;

	m->fresh = false;
	m->have = n < run->pages;
	run->va += n * m->page;
	run->pages -= n;
	run->entry += capture_is_present(run) && !run->same ? n * m->page : 0;
	run->swap.b += n;
}

static int capture_runs_give(struct capture_provider *m, const struct page_run **ret)
{
	struct page_run *g = &m->given;
	uint64_t end = g->va + g->size;

	m->ended = !end || end - 1 >= m->last;
	m->at = end > m->at ? end : m->at;
	*ret = g;
	return ATW_OK;
}

static int capture_runs_give_nothing(struct capture_provider *m,
				     const struct page_run **ret, bool known,
				     uint64_t last)
{
	bool hidden = !known && m->at >= m->hidden_from;

	m->given = (struct page_run){
		.va = m->at, .size = last - m->at + 1, .slot = last - m->at + 1, .count = 1,
		.state = known || hidden ? PAGE_ABSENT : PAGE_LOST,
		.have = hidden ? RUN_STATE_HIDDEN : 0,
	};
	return capture_runs_give(m, ret);
}

static void capture_runs_add_part(struct capture_provider *m, uint64_t pages)
{
	const struct capture_run *run = &m->run;

	if (m->nparts == CAPTURE_PARTS) {
		m->parts_full = true;
		return;
	}
	m->part[m->nparts++] = (struct capture_part){
		.pages = pages, .count = run->count, .flags = run->flags, .refs = run->refs,
		.has = run->has, .folio = (uint8_t)run->folio,
		.device = run->state == CAPTURE_DEVICE,
	};
}

static uint8_t capture_runs_rights_of(const struct capture_provider *m,
				      const struct capture_run *run)
{
	/* Writable, if not known, is as the area is; and then so is all else. */
	if (!(m->c->bits & CAPTURE_WRITE) && m->area.rights_known)
		return m->area.rights;
	return (uint8_t)(ATW_UR | (run->entry & CAPTURE_WRITE ? ATW_UW : 0) |
			 (run->entry & CAPTURE_EXEC ? ATW_UX : 0));
}

/* As in pagemap_runs.c; or accessed and dirty. */
static uint64_t capture_runs_flags_of(const struct capture_provider *m,
				      const struct capture_run *run)
{
	uint64_t word = (uint64_t)run->map << 55;

	if (m->table)
		return (run->entry & CAPTURE_ACCESSED ? 1u : 0) |
		       (run->entry & CAPTURE_DIRTY ? 2u : 0);
	return (word & PAGEMAP_SOFT_DIRTY ? 1u : 0) | (word & PAGEMAP_EXCLUSIVE ? 2u : 0) |
	       (word & PAGEMAP_FILE ? 4u : 0) | (word & PAGEMAP_UFFD_WP ? 8u : 0);
}

/* All but addresses, of what is present. */
static void capture_runs_describe(struct capture_provider *m,
				  const struct capture_run *run)
{
	struct page_run *g = &m->given;
	/* The paper has no such pages; it may have some that user mode may not see. */
	bool user = run->entry & CAPTURE_USER || m->c->old;
	bool special = run->state == CAPTURE_ZERO || run->state == CAPTURE_DEVICE;

	*g = (struct page_run){
		.va = run->va,
		.state = user ? PAGE_PRESENT : PAGE_PROTNONE,
		.have = (user ? RUN_RIGHTS : 0u) |
			(m->table || run->has & CAPTURE_M_MAP ? RUN_FLAGS : 0u) |
			(special ? RUN_SPECIAL : 0u),
		.special = special,
		.rights = user ? capture_runs_rights_of(m, run) : 0,
		.flags = capture_runs_flags_of(m, run),
	};
	m->nparts = m->now = 0;
	m->before = 0;
}

/* So many at once that nothing can be said of each. */
static int capture_runs_give_whole(struct capture_provider *m,
				   const struct page_run **ret, uint64_t slot, uint64_t n)
{
	struct page_run *g = &m->given;

	g->slot = slot;
	g->count = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	g->size = n * slot;
	capture_runs_use_pages(m, n * (slot / m->page));
	return capture_runs_give(m, ret);
}

/* Is anything asked of its frames? `bytes` of them, if they are not all the same. */
static bool capture_runs_is_wanted(const struct capture_provider *m,
				   const struct capture_run *run, uint64_t bytes)
{
	uint64_t pa = run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;

	return !m->p.wanted || run->noframe ||
	       m->p.wanted(m->p.arg, pa, run->same ? m->page : bytes);
}

/* Small pages; or large ones, of all of which the same is known. */
static int capture_runs_give_pages(struct capture_provider *m,
				   const struct page_run **ret, uint64_t slot)
{
	struct page_run *g = &m->given;
	struct capture_run *run = &m->run;
	uint64_t each = slot / m->page, n = run->pages / each;
	uint64_t pa = run->entry & ~(uint64_t)CAPTURE_ENTRY_BITS;

	capture_runs_describe(m, run);
	if (m->c->unsized && slot == m->page)
		g->have |= RUN_SIZE_HIDDEN;
	if (m->p.areas_only)
		return capture_runs_give_whole(m, ret, slot, n);
	if (!capture_runs_is_wanted(m, run, n * slot)) {
		g->have |= RUN_ELSEWHERE;
		return capture_runs_give_whole(m, ret, slot, n);
	}
	if (m->p.whole) {
		n = n < UINT32_MAX ? n : UINT32_MAX;
		m->pa[0] = pa;
		g->pa = run->noframe ? NULL : m->pa;
		g->have |= RUN_WHOLE;
		capture_runs_add_part(m, n * each);
		return capture_runs_give_whole(m, ret, slot, n);
	}
	n = n < CAPTURE_SLOTS ? n : CAPTURE_SLOTS;
	/* The word is that of the first page. */
	if (run->has & CAPTURE_M_RAW && m->fresh) {
		n = 1;
		m->word = run->raw;
		g->word = &m->word;
	}
	g->slot = slot;
	g->count = (uint32_t)n;
	g->size = n * slot;
	for (uint64_t i = 0; i < n; i++)
		m->pa[i] = run->same ? pa : pa + i * slot;
	g->pa = run->noframe ? NULL : m->pa;
	capture_runs_add_part(m, n * each);
	capture_runs_use_pages(m, n * each);
	return capture_runs_give(m, ret);
}

/* Is it more of the same large page, `first` with `done` pages of it? */
static bool capture_runs_goes_on(const struct capture_provider *m,
				 const struct capture_run *first, uint64_t done)
{
	const struct capture_run *run = &m->run;
	uint64_t ahead = first->noframe || first->same ? 0 : done * m->page;

	return m->have && run->va == first->va + done * m->page && run->order == first->order &&
	       run->has & CAPTURE_M_ORDER && run->map == first->map &&
	       run->noframe == first->noframe && run->same == first->same &&
	       (run->noframe ? !((run->entry ^ first->entry) & CAPTURE_ENTRY_BITS)
			     : run->entry == first->entry + ahead);
}

/* One large page, part by part; what lacks some of it is as large as what is there. */
static int capture_runs_give_large(struct capture_provider *m,
				   const struct page_run **ret, uint64_t slot,
				   struct atw_err *err)
{
	const struct capture_run first = m->run;
	struct page_run *g = &m->given;
	uint64_t all = (slot - (first.va & (slot - 1))) / m->page, done = 0;
	int r = ATW_OK;

	capture_runs_describe(m, &first);
	do {
		uint64_t left = all - done, n = m->run.pages < left ? m->run.pages : left;

		capture_runs_add_part(m, n);
		capture_runs_use_pages(m, n);
		done += n;
		r = capture_fill(m, err);
	} while (r == ATW_OK && done < all && capture_runs_goes_on(m, &first, done));
	if (r != ATW_OK)
		return r;
	g->count = 1;
	g->size = g->slot = done * m->page;
	m->pa[0] = first.entry & ~(uint64_t)CAPTURE_ENTRY_BITS;
	g->pa = first.noframe ? NULL : m->pa;
	if (first.has & CAPTURE_M_RAW) {
		m->word = first.raw;
		g->word = &m->word;
	}
	return capture_runs_give(m, ret);
}

/* What is not present: on swap, or what its state says. */
static int capture_runs_give_other(struct capture_provider *m,
				   const struct page_run **ret)
{
	static const uint8_t states[CAPTURE_STATES] = {
		[CAPTURE_PLAIN] = PAGE_SWAP, [CAPTURE_GUARD] = PAGE_GUARD,
		[CAPTURE_MARKER] = PAGE_MARKER, [CAPTURE_MIGRATION] = PAGE_MIGRATION,
		[CAPTURE_POISON] = PAGE_POISON, [CAPTURE_PRIVATE] = PAGE_DEVICE,
		[CAPTURE_DEVICE] = PAGE_SWAP, [CAPTURE_ZERO] = PAGE_SWAP,
	};
	struct capture_run *run = &m->run;
	struct page_run *g = &m->given;
	uint64_t n;

	*g = (struct page_run){
		.va = run->va,
		.slot = m->page,
		.state = states[run->state],
		.have = run->has & CAPTURE_M_MAP ? RUN_FLAGS : 0,
		.flags = capture_runs_flags_of(m, run),
	};
	if (run->has & CAPTURE_M_SWAP && run->swap.a <= UINT8_MAX) {
		g->have |= RUN_SWAP;
		g->swap_type = (uint8_t)run->swap.a;
		g->swap_offset = run->swap.b;
	} else if (g->state == PAGE_SWAP && !(run->has & CAPTURE_M_SWAP) &&
		   !(m->swaps && (run->map << 55) & PAGEMAP_SWAP)) {
		g->have |= RUN_STATE_HIDDEN;     /* no device, and no other word for it */
	}
	if (m->table)
		g->have &= ~(uint32_t)RUN_FLAGS;
	if (m->p.areas_only || m->p.whole)
		return capture_runs_give_whole(m, ret, m->page, run->pages);
	/* Each is in a place of its own; those of guards are none. */
	n = g->state == PAGE_GUARD ? run->pages < UINT32_MAX ? run->pages : UINT32_MAX : 1;
	if (run->has & CAPTURE_M_RAW && m->fresh && n == 1) {
		m->word = run->raw;
		g->word = &m->word;
	}
	g->count = (uint32_t)n;
	g->size = n * m->page;
	capture_runs_use_pages(m, n);
	return capture_runs_give(m, ret);
}

static int capture_runs_give_run(struct capture_provider *m, const struct page_run **ret,
				 struct atw_err *err)
{
	uint64_t slot = capture_runs_slot_of(m, &m->run);

	if (!capture_is_present(&m->run))
		return capture_runs_give_other(m, ret);
	if (slot > m->page && ((m->run.va & (slot - 1)) || m->run.pages < slot / m->page))
		return capture_runs_give_large(m, ret, slot, err);
	return capture_runs_give_pages(m, ret, slot);
}

/* What ends before what is to be listed; a large page is one from its beginning. */
static int capture_runs_skip(struct capture_provider *m, struct atw_err *err)
{
	int r = capture_fill(m, err);

	while (r == ATW_OK && m->have && m->run.va < m->at) {
		uint64_t slot = capture_runs_slot_of(m, &m->run);
		uint64_t upto = m->at & ~(slot - 1), n;

		if (m->run.va >= upto)
			break;
		n = (upto - m->run.va) / m->page;
		capture_runs_use_pages(m, n < m->run.pages ? n : m->run.pages);
		r = capture_fill(m, err);
	}
	return r;
}

int capture_pages_next(struct provider *p, const struct page_run **ret, struct atw_err *err)
{
	struct capture_provider *m = capture_of(p);
	uint64_t before;
	int r;

	if (m->ended)
		return ATW_END;
	r = capture_runs_skip(m, err);
	if (r != ATW_OK)
		return r;
	if (m->have && m->run.va <= m->at)
		return capture_runs_give_run(m, ret, err);
	before = m->have && m->run.va - 1 < m->last ? m->run.va - 1 : m->last;
	capture_drop_holes(m, m->at);
	if (!m->nholes || m->hole[0].first > before)
		return capture_runs_give_nothing(m, ret, true, before);
	if (m->hole[0].first > m->at)
		return capture_runs_give_nothing(m, ret, true, m->hole[0].first - 1);
	return capture_runs_give_nothing(
		m, ret, false, m->hole[0].last < before ? m->hole[0].last : before);
}

int capture_pages_open(struct provider *p, size_t task, uint64_t first, uint64_t last,
		       struct atw_err *err)
{
	struct capture_provider *m = capture_of(p);

	m->at = first;
	m->last = last;
	m->ended = first > last;
	m->hidden_from = UINT64_MAX;
	m->text.len = m->nholes = 0;
	m->have = m->area.open = false;
	return capture_cursor_begin(m, &m->pages, task, err);
}

void capture_pages_close(struct provider *p)
{
	struct capture_provider *m = capture_of(p);
	struct atw_err why = { 0 };

	if (m->parts_full) {
		atw_err_set(&why, ATW_E_LIMIT, "more than %d runs in one large page, of which the rest is left out",
			    CAPTURE_PARTS);
		provider_cannot(p, "pages", &why);
	}
	m->ended = true;
	m->parts_full = false;
}

/* ---- frames ---- */

/* The part that a page of the run is in; they are asked for in order, mostly. */
static const struct capture_part *capture_runs_part_at(struct capture_provider *m,
						       uint64_t page)
{
	if (page < m->before)
		m->now = m->before = 0;
	while (m->now < m->nparts && page - m->before >= m->part[m->now].pages)
		m->before += m->part[m->now++].pages;
	return m->now < m->nparts ? &m->part[m->now] : NULL;
}

static void capture_runs_find_node(const struct captured *c, uint64_t pa,
				   struct frame_facts *ret)
{
	size_t lo = SORTED_BELOW(c->ram, c->nram, last, pa);

	if (lo == c->nram || c->ram[lo].start > pa || !c->ram[lo].have_node)
		return;
	ret->have |= FACT_NODE;
	ret->page.node = (uint32_t)c->ram[lo].node;
}

int capture_facts(struct provider *p, const struct page_run *r, uint32_t i, uint64_t off,
		  uint64_t mapped, struct frame_facts *ret, struct atw_err *err)
{
	struct capture_provider *m = capture_of(p);
	uint64_t page = (i * r->slot + off) >> p->page_shift, behind;
	const struct capture_part *part = capture_runs_part_at(m, page);

	(void)mapped, (void)err;
	ret->have = 0;
	ret->alike = 0;
	if (!part || !r->pa)
		return ATW_E_UNSUPPORTED;
	behind = part->pages - (page - m->before) - 1;
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
	if (part->has & CAPTURE_M_FLAGS && !m->c->old) {
		ret->have |= FACT_FLAGS;
		ret->page.flags = part->flags & m->c->pageflags;
	}
	if (part->has & CAPTURE_M_REFS) {
		ret->have |= FACT_MAPPED;
		ret->mapped = part->refs;
	}
	if (part->has & CAPTURE_M_FOLIO) {
		ret->have |= FACT_ORDER;
		ret->page.order = part->folio;
	}
	capture_runs_find_node(m->c, r->pa[i] + off, ret);
	return ATW_OK;
}
