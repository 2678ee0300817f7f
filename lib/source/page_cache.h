/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_cache.h - decompressed pages, in a fixed amount of memory.
 *
 * A walk comes back to the upper tables all the time and to the rest hardly
 * ever. Sets of two, of which the one used longer ago goes, keep the former
 * without lists. Most listings need each page once, and are faster in memory
 * that is in the cache of the CPU: so there is room for few at first, and for
 * more if many pages are needed again after they went.
 */
#pragma once

#include "source/source.h"

struct page_cache_sets {
	uint8_t *pages;
	uint64_t *keys;          /* two for each set; PAGE_CACHE_NONE: empty */
	uint8_t *recent;         /* which of the two was used last */
	unsigned bits;           /* of the number of sets */
};

struct page_cache {
	struct page_cache_sets sets;
	unsigned most;           /* that sets.bits may become */
	size_t page_size;
	uint64_t *gone;          /* keys that went, as many as there may be pages */
	size_t claims, again;    /* of this size; those of keys that had gone */
	bool busy;               /* a reader is in it; set and tested atomically */
};

#define PAGE_CACHE_NONE UINT64_MAX       /* no key may be this */

/* Room for `bytes` of pages in the end, at least two. false: no memory. */
bool page_cache_init(struct page_cache *c, size_t page_size, size_t bytes);
/* Fine on a zeroed struct. */
void page_cache_deinit(struct page_cache *c);

/*
 * A read of a source that keeps its pages here, as in struct atw_source_ops. ATW_E_USAGE:
 * another thread is reading; its pages would be overwritten.
 */
typedef ssize_t page_cache_read_fn(struct atw_source *s, atw_pa pa, void *buf, size_t len,
				   struct atw_err *err);
ssize_t page_cache_read(struct page_cache *c, page_cache_read_fn *fn, struct atw_source *s,
			atw_pa pa, void *buf, size_t len, struct atw_err *err);

/* The page, or NULL. It stays good until the next call of claim. */
const void *page_cache_find(struct page_cache *c, uint64_t key);
/*
 * Room to put the page in. It counts as absent until commit, so that a page
 * which fails to decompress leaves nothing behind.
 */
void *page_cache_claim(struct page_cache *c, uint64_t key);
void page_cache_commit(struct page_cache *c, uint64_t key);
/* All of them: what they are copies of may have changed. */
void page_cache_forget(struct page_cache *c);
