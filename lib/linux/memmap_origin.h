/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memmap_origin.h - what very many mapped frames are, in few reads. */
#ifndef LINUX_MEMMAP_ORIGIN_H
#define LINUX_MEMMAP_ORIGIN_H

#include "linux/page.h"

struct page_origin {
	/* Of these: ANON, KSM, SWAPBACKED, HUGE, THP, ZERO_PAGE. */
	uint64_t flags;
	uint8_t order;           /* of its folio */
	bool known;
	bool stale;              /* it was given back since it was mapped */
};

static inline bool page_origin_same(const struct page_origin *a, const struct page_origin *b)
{
	return a->flags == b->flags && a->order == b->order && a->known == b->known &&
	       a->stale == b->stale;
}

/* `pfn` ascends. Frames of which nothing is known are answered as well. */
int memmap_origins(struct atw_memmap *m, const uint64_t *pfn, size_t n, struct page_origin *ret,
		   struct atw_err *err);

#endif
