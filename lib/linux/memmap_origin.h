/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memmap_origin.h - origin of very many mapped frames, in few reads. */
#ifndef LINUX_MEMMAP_ORIGIN_H
#define LINUX_MEMMAP_ORIGIN_H

#include "linux/page.h"

struct page_origin {
	/* A subset of ANON, KSM, SWAPBACKED, HUGE, THP, ZERO_PAGE. */
	uint64_t flags;
	uint8_t order;           /* of its folio */
	bool known;
	bool stale;              /* it was freed after it was mapped */
};

static inline bool page_origin_same(const struct page_origin *a, const struct page_origin *b)
{
	return a->flags == b->flags && a->order == b->order && a->known == b->known &&
	       a->stale == b->stale;
}

/* `pfn` ascends. Frames without information have a result as well. */
int memmap_origins(struct atw_memmap *m, const uint64_t *pfn, size_t n, struct page_origin *ret,
		   struct atw_err *err);

#endif
