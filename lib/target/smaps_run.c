/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps_run.c - sums of the pages of a provider's runs. A struct page is only read for
 * what entries and areas do not show.
 */
#include "linux/kpf.h"
#include "linux/vm_flags.h"
#include "target/smaps.h"

/* What is the same of all pages of a slot. */
struct smaps_slot {
	struct smaps_pages as;
	bool special, hugetlb;   /* as far as it is known before a frame is looked at */
	bool settled;            /* nothing is to be asked but how often it is mapped */
};

static bool smaps_is_mapped(const struct page_run *run)
{
	return run->state == PAGE_PRESENT || run->state == PAGE_PROTNONE;
}

/* What is known of a frame; false: nothing is. What is no memory of the machine's is special. */
static bool smaps_run_look(struct smaps_look *l, const struct page_run *run, uint32_t i,
			   uint64_t off, struct smaps_slot *s, struct frame_facts *f)
{
	struct provider *p = l->p;
	struct atw_err why = { 0 };
	int r;

	f->have = 0;
	f->alike = 0;
	r = page_cursor_facts(l->pages, run, i, off, off ? 0 : run->slot, f, &why);
	if (r == ATW_E_DAMAGED)
		provider_cannot(p, "struct pages", &why);
	if (r == ATW_E_MISSING) {
		l->pageless += 1 + f->alike;
		s->special |= f->have & FACT_NO_PAGE;
		return f->have & FACT_NO_PAGE;
	}
	if (r != ATW_OK)
		return false;
	if (p->running && provider_is_stale(f)) {
		l->stale++;
		return false;
	}
	s->special |= (f->have & FACT_FLAGS && f->page.flags & kpf(KPF_ZERO_PAGE)) ||
		      (f->have & FACT_COUNT && !f->page.count);
	if (f->have & FACT_FLAGS) {
		s->hugetlb |= !s->special && f->page.flags & kpf(KPF_HUGE);
		s->as.kind = smaps_kind_of(f->page.flags, s->as.kind);
	}
	return true;
}

/* How often this frame is mapped, and of how many behind it, up to `pages`, that is so. */
static uint64_t smaps_mappings(struct provider *p, uint64_t pa,
			       const struct frame_facts *f, uint64_t pages,
			       uint64_t *same)
{
	uint64_t ours = 0;

	*same = f->alike < pages ? f->alike + (uint64_t)1 : pages;
	if (p->counted)
		ours = counts_run(&p->counts, pa >> p->page_shift, pages, same);
	else if (f->have & FACT_MAPPED)
		ours = f->mapped;
	/* The kernel counts those as well that we may not see. */
	return f->have & FACT_COUNT && f->page.count > ours ? f->page.count : ours;
}

/* Tails that do not tell of what kind they are: the head of their large page does. */
static void smaps_query_head(struct smaps_look *l, const struct page_run *run,
			     uint32_t i, struct smaps_slot *s)
{
	struct smaps_slot head = {.special = false};
	struct frame_facts f = { .have = 0 };

	if (smaps_run_look(l, run, i, 0, &head, &f) &&
	    (head.as.kind == SMAPS_SHMEM || head.as.kind == SMAPS_FILE))
		s->as.kind = head.as.kind;
}

/*
 * Pages of slot i from `off` on, `len` bytes. The first of them says what they are; of
 * the others no more than how often they are mapped is looked at.
 */
static void smaps_add_slot(struct smaps_look *l, const struct page_run *run,
			   uint32_t i, uint64_t off, uint64_t len,
			   struct smaps_slot s, struct smaps *sums)
{
	uint64_t page = (uint64_t)1 << l->p->page_shift, left = len / page, same;
	struct frame_facts f = { .have = 0 };

	if (!s.settled)
		smaps_run_look(l, run, i, off, &s, &f);
	if (off && s.as.kind == SMAPS_NOT_ANON)
		smaps_query_head(l, run, i, &s);
	s.as.class = smaps_class(run->state, s.hugetlb, s.special);
	s.as.bytes = len;
	if (s.as.class != SMAPS_RSS || !l->shares) {
		smaps_add(sums, &s.as);
		return;
	}
	for (;;) {
		s.as.mappings = smaps_mappings(l->p, run->pa[i] + off, &f, left, &same);
		s.as.bytes = same * page;
		smaps_add(sums, &s.as);
		left -= same;
		off += same * page;
		if (!left || l->steps >= SMAPS_STEPS)
			break;
		l->steps++;
		if (!l->p->counted)
			smaps_run_look(l, run, i, off, &s, &f);
	}
	if (!left)
		return;
	l->stepless += left * page;
	s.as.mappings = 0;
	s.as.bytes = left * page;
	smaps_add(sums, &s.as);
}

static void smaps_add_slots(struct smaps_look *l, const struct page_run *run,
			    uint64_t first, uint64_t last,
			    const struct smaps_slot *s, struct smaps *sums)
{
	for (uint64_t at = first;;) {
		uint64_t i = (at - run->va) / run->slot, off = (at - run->va) % run->slot;
		uint64_t here = run->slot - off;

		if (last - at < here)
			here = last - at + 1;
		smaps_add_slot(l, run, (uint32_t)i, off, here, *s, sums);
		if (last - at < here)
			return;
		at += here;
	}
}

void smaps_look_area(struct smaps_look *l, const struct atw_area *a)
{
	l->flagged = a && !l->p->area_rights;
	l->hugetlb = l->flagged && a->flags & VM_HUGETLB;
	l->pfnmap = l->flagged && a->flags & VM_PFNMAP;
}

void smaps_add_run(struct smaps_look *l, const struct page_run *run, uint64_t first,
		   uint64_t last, struct smaps *sums)
{
	bool large = run->slot > (uint64_t)1 << l->p->page_shift;
	bool hidden = run->have & RUN_STATE_HIDDEN;
	struct smaps_slot s = {
		.as.bytes = last - first + 1,
		.as.sizeless = run->have & RUN_SIZE_HIDDEN,
		.as.large = large, .as.moving = !smaps_is_mapped(run),
		.hugetlb = l->hugetlb,
		.special = l->pfnmap || (run->have & RUN_SPECIAL && run->special),
	};

	if (hidden && run->state == PAGE_ABSENT)
		sums->stateless += s.as.bytes;
	if (hidden && run->state == PAGE_SWAP && !l->p->no_swap)
		sums->unswapped += s.as.bytes;
	s.as.class = hidden ? SMAPS_NONE : smaps_class(run->state, s.hugetlb, s.special);
	/* That an entry of a small page is none of zeroes, it says itself. */
	s.settled = run->have & RUN_SPECIAL && !large && l->flagged &&
		    (l->p->counted || !l->shares);
	/* What is so of the first slot is so of all. */
	if (run->have & RUN_WHOLE && s.as.class == SMAPS_RSS && run->pa) {
		struct frame_facts f;
		uint64_t same;

		smaps_run_look(l, run, 0, 0, &s, &f);
		s.as.class = smaps_class(run->state, s.hugetlb, s.special);
		s.as.mappings = smaps_mappings(l->p, run->pa[0], &f, 1, &same);
		smaps_add(sums, &s.as);
		return;
	}
	if (s.as.class != SMAPS_RSS || s.as.moving || !run->pa || (s.settled && !l->shares))
		smaps_add(sums, &s.as);
	else
		smaps_add_slots(l, run, first, last, &s, sums);
}
