/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_cache.h - decompressed pages, in a fixed amount of memory.
 *
 * A walk comes back to the upper tables all the time and to the rest hardly
 * ever. Sets of two, of which the one used longer ago goes, keep the former
 * without lists, and without an allocation once the cache exists.
 */
#pragma once

#include "source/source.h"

struct page_cache {
	uint8_t *pages;
	uint64_t *keys;          /* two for each set; PAGE_CACHE_NONE: empty */
	uint8_t *recent;         /* which of the two was used last */
	size_t page_size;
	unsigned set_bits;
	bool busy;               /* a reader is in it; set and tested atomically */
};

#define PAGE_CACHE_NONE UINT64_MAX       /* no key may be this */

/* Room for `bytes` of pages, at least two. false: no memory. */
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
