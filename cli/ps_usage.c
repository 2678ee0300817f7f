/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ps_usage.c - memory use of an address space, from its page tables. The entries of small
 * pages suffice; the area says whether a large one is hugetlbfs's.
 */
#include "base/sorted.h"
#include "linux/areas.h"
#include "linux/memmap.h"
#include "linux/soft.h"
#include "linux/vm_flags.h"
#include "target/smaps.h"
#include "ps.h"

struct span {
	uint64_t start, end;
	bool pfnmap;             /* else of hugetlbfs */
};

struct usage_tally {
	struct ps_walker *w;
	struct usage *u;
	const struct mmu_space *sp;
	const struct atw_soft_abi *abi;
	uint64_t special;        /* bits of small entries; 0: not known */
	/* Areas that are no plain memory, ascending, once a large page was met. */
	bool areas_tried;
	struct span *area;
	size_t n, cap;
};

static int usage_read_areas(struct usage_tally *t)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	struct atw_areas *areas = NULL;
	int r = ATW_OK;

	t->areas_tried = true;
	if (a && areas_open_unnamed(t->w->target->kernel, t->u->mm, &areas, NULL) == ATW_OK)
		while ((r = atw_areas_next(areas, a, NULL)) != ATW_END && r != ATW_E_LIMIT) {
			if (r < 0 || !(a->flags & (VM_HUGETLB | VM_PFNMAP)))
				continue;
			if (!array_reserve((void **)&t->area, &t->cap, t->n + 1, sizeof(*t->area)))
				break;
			t->area[t->n++] = (struct span){
				a->start.u, a->end.u, !(a->flags & VM_HUGETLB),
			};
		}
	atw_areas_close(areas);
	return a ? ATW_OK : ATW_E_NOMEM;
}

static const struct span *usage_find_area(struct usage_tally *t, uint64_t va)
{
	size_t i;

	if (!t->areas_tried && usage_read_areas(t) < 0)
		return NULL;
	i = SORTED_UP_TO(t->area, t->n, end, va);
	return i < t->n && t->area[i].start <= va ? &t->area[i] : NULL;
}

/* Is it a zero page, or not RAM? */
static bool usage_is_special(struct usage_tally *t, uint64_t pa, uint64_t bytes)
{
	unsigned shift = t->sp->paging.page_shift;
	struct ps_walker *w = t->w;

	if (!w->memmap_tried)
		atw_memmap_open(w->target->kernel, &w->memmap, NULL);
	w->memmap_tried = true;
	if (!w->memmap)
		return false;
	atw_memmap_mapped(w->memmap, pa >> shift, bytes >> shift);
	return memmap_is_zero(w->memmap, pa >> shift) || memmap_none(w->memmap, pa >> shift);
}

/* One entry of a large page, or of part of one. */
static void usage_add_large(struct usage_tally *t, unsigned span, uint64_t va,
			    uint64_t pa, uint64_t bytes, bool plain)
{
	const struct span *area = usage_find_area(t, va);

	if (area && !area->pfnmap)
		t->u->hugetlb[span] += bytes;
	else if (!area && (plain || !usage_is_special(t, pa, bytes)))
		t->u->bytes[span] += bytes;
}

/* A piece of entries that agree; `soft`: as the CPU ignores them, else NULL. */
static void usage_add_piece(struct usage_tally *t, const struct mmu_seen *s,
			    const struct atw_soft_word *soft)
{
	const struct atw_paging *pg = &t->sp->paging;
	uint64_t entry = s->path[s->depth - 1].word, slot = s->size / s->count;
	unsigned span = atw_entry_span(pg, s->level, entry);
	bool plain = !s->level && t->special;

	/* That it is no page of its own, an entry of a small one says. */
	if (plain && entry & t->special)
		return;
	if (plain && span == pg->page_shift) {
		t->u->bytes[span] += s->size;
		return;
	}
	for (uint32_t i = 0; i < s->count; i++)
		usage_add_large(t, span, s->va.u + i * slot,
				soft ? soft->pa.u : mmu_seen_pa(t->sp, s, i).u, slot,
				plain);
}

static void usage_count_piece(struct usage_tally *t, const struct mmu_seen *s)
{
	struct atw_soft_word soft;

	if (s->loss) {
		t->u->lost++;
		t->u->nothing |= !s->depth;
	} else if (s->kind == ATW_LEAF) {
		usage_add_piece(t, s, NULL);
	} else if (s->kind == ATW_ABSENT && s->depth) {
		soft = atw_soft_decode(t->abi, &t->sp->paging, s->level,
				       s->path[s->depth - 1].word);
		if (soft.what == ATW_SOFT_PROTNONE)
			usage_add_piece(t, s, &soft);
	}
}

int ps_walk_space(struct ps_walker *walker, struct usage *u, const struct mmu_space *sp,
		  struct atw_err *err)
{
	/* The half that is the process's own. */
	const struct mmu_walk_opts o = {
		.last = ATW_VA(INT64_MAX), .flags = MMU_WALK_SOFT,
	};
	struct usage_tally t = {
		.w = walker, .u = u, .sp = sp, .abi = target_soft(walker->target)};
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, err);

	if (r < 0)
		return r;
	if (t.abi->known)
		t.special = soft_page_bits(t.abi).special;
	while ((r = mmu_walk_next(w, &s, err)) == ATW_OK)
		usage_count_piece(&t, s);
	mmu_walk_close(w);
	free(t.area);
	return r == ATW_END ? ATW_OK : r;
}

void ps_walk(struct ps_walker *w, const struct lnx_task *t, struct ps_walked *ret)
{
	struct usage *u = &ret->u;
	struct atw_mm mm;
	int r;

	*ret = (struct ps_walked){ .u.mm = t->mm };
	r = atw_mm_of(w->target->kernel, t, &mm, &ret->why);
	/* ATW_END: it has ended. */
	if (r == ATW_OK) {
		u->known = u->have_root = true;
		u->root = mm.root;
		u->user_root = mm.user_root;
		u->isolated = mm.isolated;
		/* One that ended meanwhile has as much as was seen of it. */
		if (ps_walk_space(w, u, &mm.space, &ret->why) < 0 && !mmu_space_lives(&mm.space))
			ret->why.status = ATW_OK;
	}
	if (ret->why.status < 0)
		atw_err_wrap(&ret->why, "process %" PRIu32, t->tgid);
}
