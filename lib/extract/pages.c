// SPDX-License-Identifier: GPL-2.0-or-later
/* pages.c - struct pages for an extract. */
#include "extract/own.h"

#include "base/table.h"
#include "linux/kpf.h"
#include "linux/memmap.h"

struct extract_pages_state {
	struct atw_kernel *k;
	struct atw_memmap *map;
	struct byte_marks *marks;
	uint64_t last;           /* the last frame */
	struct table met;        /* large pages, by pages_key() */
};

/* ---- large pages ---- */

/* Sizes are powers of two, and frames have fewer than 58 bits. */
static uint64_t pages_key(uint64_t pfn, uint64_t pages)
{
	return pfn << 6 | (unsigned)__builtin_ctzll(pages);
}

/* A large page that is mapped repeatedly would cost all its frames each time. */
static bool pages_is_new(struct extract_pages_state *p, uint64_t pfn, uint64_t pages)
{
	struct table_slot *s = table_get(&p->met, pages_key(pfn, pages));

	if (s && s->value)
		return false;
	if (s)
		table_set(&p->met, s, 1);
	return true;
}

/* ---- a page ---- */

/*
 * Marks the aligned 4 KiB that contain it, which are read from a source that does not
 * lend the whole section. They contain only struct pages.
 */
static void pages_mark(struct extract_pages_state *p, uint64_t pfn)
{
	uint64_t at = memmap_address(p->map->kmem, &p->map->where, pfn);
	atw_pa pa;

	for (unsigned i = 0; at && i < 2; i++) {
		uint64_t va = (i ? at + p->map->where.size - 1 : at) & ~(uint64_t)(MARK_PAGE - 1);

		if (kmem_physical(p->map->kmem, va, &pa, NULL) == ATW_OK)
			marks_add(p->marks, pa.u, MARK_PAGE);
	}
}

/* Flags and counts of a large page are in its first few struct pages. */
enum { HEAD = 4 };

static void extract_pages_add(struct extract_pages_state *p, uint64_t pfn)
{
	struct lnx_page page;
	int r = pfn == p->last ? ATW_END : memmap_page(p->map, pfn, &page, NULL);

	if (r < 0 && r != ATW_E_DAMAGED)
		return;
	p->last = pfn;
	pages_mark(p, pfn);
	if (r != ATW_OK)                 /* the failure is permanent */
		return;
	for (unsigned i = 0; i < HEAD && page.head != pfn; i++)
		pages_mark(p, page.head + i);
	/* Without a symbol, the zero page is recognized by its contents. */
	if (page.flags >> KPF_ZERO_PAGE & 1)
		marks_add(p->marks, pfn << p->k->own.paging.page_shift,
			  (uint64_t)1 << p->k->own.paging.page_shift);
}

/* If a section has no struct pages, none of its frames has. */
static void pages_add_all(struct extract_pages_state *p, uint64_t pfn, uint64_t pages)
{
	uint64_t section = p->map->where.model == MEMMAP_FLAT ? 1 :
			   (uint64_t)1 << p->map->where.shift;
	bool any = false;

	for (uint64_t n = 0; n < pages;) {
		if (!memmap_address(p->map->kmem, &p->map->where, pfn + n)) {
			n += section - ((pfn + n) & (section - 1));
			continue;
		}
		if (pages > 1 && !any && !pages_is_new(p, pfn, pages))
			return;
		any = true;
		extract_pages_add(p, pfn + n++);
	}
}

/* A PROT_NONE page is present as well, and its frame is in use. */
static void pages_add_absent(struct extract_pages_state *p,
			     const struct atw_soft_abi *abi, const struct mmu_space *sp,
			     const struct mmu_seen *s, uint64_t pages)
{
	struct atw_soft_word soft = atw_soft_decode_at(abi, &sp->paging, s->va, s->level,
						       s->path[s->depth - 1].word);

	if (soft.what == ATW_SOFT_PROTNONE)
		pages_add_all(p, soft.pa.u >> sp->paging.page_shift, pages);
}

static int pages_add_space(struct extract_pages_state *p, const struct mmu_space *sp)
{
	const struct atw_soft_abi abi = atw_kernel_soft_abi(p->k, &sp->paging);
	const struct mmu_walk_opts o = {
		.last = ATW_VA(INT64_MAX),
		.flags = MMU_WALK_FOLD | MMU_WALK_SOFT,
	};
	unsigned shift = sp->paging.page_shift;
	const struct mmu_seen *s;
	struct mmu_walk *w;
	int r = mmu_walk_open(sp, &o, &w, NULL);

	if (r < 0)
		return ATW_OK;
	while (mmu_walk_next(w, &s, NULL) == ATW_OK) {
		uint64_t pages = (s->count ? s->size / s->count : 0) >> shift;

		if (s->kind == ATW_ABSENT && !s->loss && !s->repeat_of)
			pages_add_absent(p, &abi, sp, s, pages);
		if (s->kind != ATW_LEAF || s->loss || s->repeat_of)
			continue;
		for (uint32_t i = 0; i < s->count; i++) {
			uint64_t pfn = mmu_seen_pa(sp, s, i).u >> shift;

			atw_memmap_mapped(p->map, pfn, pages);
			pages_add_all(p, pfn, pages);
		}
	}
	mmu_walk_close(w);
	return ATW_OK;
}

/* Looks for the huge zero page among the large pages of a process. */
static void pages_find_zeroes(struct extract_pages_state *p, const struct mmu_space *sp)
{
	const struct mmu_walk_opts o = {
		.last = ATW_VA(INT64_MAX),
		.want = ATW_K(ATW_LEAF), .flags = MMU_WALK_FOLD,
	};
	const struct zero_pages *z = &p->map->zero;
	unsigned shift = sp->paging.page_shift;
	const struct mmu_seen *s;
	struct mmu_walk *w;

	if (mmu_walk_open(sp, &o, &w, NULL) < 0)
		return;
	while (!z->huge_known && mmu_walk_next(w, &s, NULL) == ATW_OK)
		if (s->level && !s->loss && !s->repeat_of && s->count)
			for (uint32_t i = 0; i < s->count && !z->huge_known; i++)
				atw_memmap_mapped(p->map, mmu_seen_pa(sp, s, i).u >> shift,
						  s->size / s->count >> shift);
	mmu_walk_close(w);
}

void pages_add_zeroes(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m)
{
	struct extract_pages_state p = {.k = k, .marks = m};
	struct lnx_page page;

	if (atw_memmap_open(k, &p.map, NULL) < 0)
		return;
	/* Where a symbol has it, it is known already. */
	for (size_t i = 0; i < s->n && !p.map->zero.huge_known; i++)
		if (s->v[i].have)
			pages_find_zeroes(&p, &s->v[i].mm.space);
	/*
	 * Its bytes need not be kept: a page that is left out and has such a struct page
	 * is recognised as one. Without the struct page it is memory of the process.
	 */
	if (p.map->zero.huge_known && memmap_page(p.map, p.map->zero.huge, &page, NULL) == ATW_OK)
		pages_mark(&p, p.map->zero.huge);
	atw_memmap_close(p.map);
}

int pages_add(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m,
	      struct atw_err *err)
{
	struct extract_pages_state p = {.k = k, .marks = m, .last = UINT64_MAX};
	int r = atw_memmap_open(k, &p.map, err);

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		if (s->v[i].have)
			r = pages_add_space(&p, &s->v[i].mm.space);
	atw_memmap_close(p.map);
	table_deinit(&p.met);
	return r;
}
