/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_cache.c - cache of decompressed pages. */
#include "source/page_cache.h"

#include <stdlib.h>
#include <string.h>

bool page_cache_init(struct page_cache *c, size_t page_size, size_t bytes)
{
	struct page_cache new = { .page_size = page_size };
	size_t n;

	while (((size_t)4 << new.set_bits) * page_size <= bytes)
		new.set_bits++;
	n = (size_t)2 << new.set_bits;
	new.pages = malloc(n * page_size);
	new.keys = malloc(n * sizeof(*new.keys));
	new.recent = calloc(n / 2, 1);
	if (!new.pages || !new.keys || !new.recent) {
		page_cache_deinit(&new);
		return false;
	}
	page_cache_forget(&new);
	*c = new;
	return true;
}

void page_cache_deinit(struct page_cache *c)
{
	free(c->pages);
	free(c->keys);
	free(c->recent);
	*c = (struct page_cache){ 0 };
}

void page_cache_forget(struct page_cache *c)
{
	memset(c->keys, 0xff, ((size_t)2 << c->set_bits) * sizeof(*c->keys));
}

/* Frame numbers of one kind of table share low bits; the golden ratio mixes. */
static size_t cache_set_of(const struct page_cache *c, uint64_t key)
{
	return c->set_bits ? key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - c->set_bits) : 0;
}

const void *page_cache_find(struct page_cache *c, uint64_t key)
{
	size_t set = cache_set_of(c, key);

	for (size_t way = 0; way < 2; way++) {
		if (c->keys[2 * set + way] == key) {
			c->recent[set] = (uint8_t)way;
			return c->pages + (2 * set + way) * c->page_size;
		}
	}
	return NULL;
}

void *page_cache_claim(struct page_cache *c, uint64_t key)
{
	size_t set = cache_set_of(c, key), way = !c->recent[set];

	c->keys[2 * set + way] = PAGE_CACHE_NONE;
	return c->pages + (2 * set + way) * c->page_size;
}

void page_cache_commit(struct page_cache *c, uint64_t key)
{
	size_t set = cache_set_of(c, key), way = !c->recent[set];

	c->keys[2 * set + way] = key;
	c->recent[set] = (uint8_t)way;
}

ssize_t page_cache_read(struct page_cache *c, page_cache_read_fn *fn, struct atw_source *s,
			atw_pa pa, void *buf, size_t len, struct atw_err *err)
{
	ssize_t got;

	if (__atomic_test_and_set(&c->busy, __ATOMIC_ACQUIRE))
		return atw_err_set(err, ATW_E_USAGE,
				   "two threads read the source at once: each needs one of its own");
	got = fn(s, pa, buf, len, err);
	__atomic_clear(&c->busy, __ATOMIC_RELEASE);
	return got;
}
