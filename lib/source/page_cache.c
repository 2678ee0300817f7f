/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_cache.c - cache of decompressed pages. */
#include "source/page_cache.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 3 };      /* at first an eighth of all there may be, as a power of 2 */

static bool page_cache_make(struct page_cache_sets *s, size_t page_size, unsigned bits)
{
	const size_t n = (size_t)2 << bits;

	s->bits = bits;
	s->pages = malloc(n * page_size);
	s->keys = malloc(n * sizeof(*s->keys));
	s->recent = calloc(n / 2, 1);
	if (s->keys)
		memset(s->keys, 0xff, n * sizeof(*s->keys));
	return s->pages && s->keys && s->recent;
}

static void page_cache_free(struct page_cache_sets *s)
{
	free(s->pages);
	free(s->keys);
	free(s->recent);
	*s = (struct page_cache_sets){ 0 };
}

bool page_cache_init(struct page_cache *c, size_t page_size, size_t bytes)
{
	struct page_cache new = { .page_size = page_size };

	while (((size_t)4 << new.most) * page_size <= bytes)
		new.most++;
	new.gone = malloc(((size_t)2 << new.most) * sizeof(*new.gone));
	if (!new.gone || !page_cache_make(&new.sets, page_size, new.most > FIRST ? new.most - FIRST : 0)) {
		page_cache_deinit(&new);
		return false;
	}
	page_cache_forget(&new);
	*c = new;
	return true;
}

void page_cache_deinit(struct page_cache *c)
{
	page_cache_free(&c->sets);
	free(c->gone);
	*c = (struct page_cache){ 0 };
}

void page_cache_forget(struct page_cache *c)
{
	memset(c->sets.keys, 0xff, ((size_t)2 << c->sets.bits) * sizeof(*c->sets.keys));
	memset(c->gone, 0xff, ((size_t)2 << c->most) * sizeof(*c->gone));
}

/* Frame numbers of one kind of table share low bits; the golden ratio mixes. */
static size_t page_cache_hash(uint64_t key, unsigned bits)
{
	return bits ? key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits) : 0;
}

/* The place of the one of the set that was used longer ago. */
static size_t page_cache_place(const struct page_cache_sets *s, uint64_t key)
{
	size_t set = page_cache_hash(key, s->bits);

	return 2 * set + !s->recent[set];
}

const void *page_cache_find(struct page_cache *c, uint64_t key)
{
	struct page_cache_sets *s = &c->sets;
	size_t set = page_cache_hash(key, s->bits);

	for (size_t way = 0; way < 2; way++) {
		if (s->keys[2 * set + way] == key) {
			s->recent[set] = (uint8_t)way;
			return s->pages + (2 * set + way) * c->page_size;
		}
	}
	return NULL;
}

/* ---- room for more ---- */

/* Twice as large, with what it has. Without memory it remains as it is. */
static void page_cache_grow(struct page_cache *c)
{
	struct page_cache_sets old = c->sets, new = { .bits = 0 };

	if (!page_cache_make(&new, c->page_size, old.bits + 1)) {
		page_cache_free(&new);
		return;
	}
	for (size_t i = 0; i < (size_t)2 << old.bits; i++) {
		size_t at = page_cache_place(&new, old.keys[i]);

		if (old.keys[i] == PAGE_CACHE_NONE)
			continue;
		memcpy(new.pages + at * c->page_size, old.pages + i * c->page_size, c->page_size);
		new.keys[at] = old.keys[i];
		new.recent[at / 2] = at % 2;
	}
	page_cache_free(&old);
	c->sets = new;
}

/* Are many of the last pages some that were there before? */
static void page_cache_fit(struct page_cache *c, uint64_t key)
{
	enum { MANY = 4 };       /* one of so many */
	uint64_t *gone = &c->gone[page_cache_hash(key, c->most + 1)];

	if (*gone == key) {
		*gone = PAGE_CACHE_NONE;
		c->again++;
	}
	if (++c->claims < (size_t)2 << c->sets.bits)
		return;
	if (c->again >= c->claims / MANY && c->sets.bits < c->most)
		page_cache_grow(c);
	c->claims = c->again = 0;
}

void *page_cache_claim(struct page_cache *c, uint64_t key)
{
	struct page_cache_sets *s = &c->sets;
	size_t at;

	page_cache_fit(c, key);
	at = page_cache_place(s, key);
	if (s->keys[at] != PAGE_CACHE_NONE)
		c->gone[page_cache_hash(s->keys[at], c->most + 1)] = s->keys[at];
	s->keys[at] = PAGE_CACHE_NONE;
	return s->pages + at * c->page_size;
}

void page_cache_commit(struct page_cache *c, uint64_t key)
{
	struct page_cache_sets *s = &c->sets;
	size_t at = page_cache_place(s, key);

	s->keys[at] = key;
	s->recent[at / 2] = at % 2;
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
