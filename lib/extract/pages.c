// SPDX-License-Identifier: GPL-2.0-or-later
#include "extract/pages.h"

#include <stdlib.h>

#include "kernel/kpf.h"
#include "kernel/memmap.h"

struct pages {
	struct atw_kernel *k;
	struct atw_memmap *map;
	struct marks *marks;
	uint64_t last;           /* frame looked at last */
};

/*
 * The part of 4 KiB that it lies in is what a source is asked for that does not
 * lend all of a section. It has struct pages and nothing else.
 */
static void mark(struct pages *p, uint64_t pfn)
{
	uint64_t at = memmap_address(p->map->kmem, &p->map->where, pfn);
	atw_pa pa;

	for (unsigned i = 0; at && i < 2; i++) {
		uint64_t va = (i ? at + p->map->where.size - 1 : at) & ~(uint64_t)(MARK_PAGE - 1);

		if (kmem_physical(p->map->kmem, va, &pa, NULL) == ATW_OK)
			marks_add(p->marks, pa.u, MARK_PAGE);
	}
}

/* A large page's flags and counts are in its first few. */
enum { HEAD = 4 };

static void add(struct pages *p, uint64_t pfn)
{
	struct atw_page page;

	if (pfn == p->last || memmap_page(p->map, pfn, &page, NULL) < 0)
		return;
	p->last = pfn;
	mark(p, pfn);
	for (unsigned i = 0; i < HEAD && page.head != pfn; i++)
		mark(p, page.head + i);
	/* That it is zero is read from the page itself where no symbol says so. */
	if (page.flags >> KPF_ZERO_PAGE & 1)
		marks_add(p->marks, pfn << p->k->own.paging.page_shift,
			  (uint64_t)1 << p->k->own.paging.page_shift);
}

static int add_space(struct pages *p, const struct atw_space *sp)
{
	const struct atw_walk_opts o = {
		.size = sizeof(o), .last = ATW_VA(INT64_MAX), .flags = ATW_WALK_FOLD,
	};
	unsigned shift = sp->paging.page_shift;
	const struct atw_seen *s;
	struct atw_walk *w;
	int r = atw_walk_open(sp, &o, &w, NULL);

	if (r < 0)
		return ATW_OK;
	while (atw_walk_next(w, &s, NULL) == ATW_OK) {
		uint64_t pages = (s->count ? s->size / s->count : 0) >> shift;

		if (s->kind != ATW_LEAF || s->loss || s->repeat_of)
			continue;
		for (uint32_t i = 0; i < s->count; i++) {
			uint64_t pfn = atw_seen_pa(sp, s, i).u >> shift;

			atw_memmap_mapped(p->map, pfn, pages);
			for (uint64_t n = 0; n < pages; n++)
				add(p, pfn + n);
		}
	}
	atw_walk_close(w);
	return ATW_OK;
}

int pages_add(struct atw_kernel *k, const struct spaces *s, struct marks *m,
	      struct atw_err *err)
{
	struct pages p = { .k = k, .marks = m, .last = UINT64_MAX };
	int r = atw_memmap_open(k, &p.map, err);

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		if (s->v[i].have)
			r = add_space(&p, &s->v[i].mm.space);
	atw_memmap_close(p.map);
	return r;
}
