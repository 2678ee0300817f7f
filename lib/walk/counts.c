/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "walk/counts.h"

#include <stdlib.h>

/* Of a translation of more frames than any page has, the first ones count. */
#define PAGES_MAX ((uint64_t)1 << 22)

void counts_deinit(struct counts *c)
{
	for (size_t i = 0; i < c->slots; i++)
		free(c->chunk[i].each);
	free(c->chunk);
	*c = (struct counts){ 0 };
}

/* The slot that has the chunk, or where it belongs. */
static size_t find(const struct counts *c, uint64_t nr)
{
	size_t mask = c->slots - 1;
	size_t s = (size_t)(nr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

	if (c->chunk[c->last].nr == nr)
		return c->last;
	while (c->chunk[s].nr && c->chunk[s].nr != nr)
		s = (s + 1) & mask;
	return s;
}

static bool grow(struct counts *c)
{
	struct counts old = *c;
	size_t slots = c->slots ? c->slots * 2 : 512;
	struct counts_chunk *v = calloc(slots, sizeof(*v));

	if (!v)
		return false;
	*c = (struct counts){ .chunk = v, .n = old.n, .slots = slots };
	for (size_t i = 0; i < old.slots; i++)
		if (old.chunk[i].nr)
			c->chunk[find(c, old.chunk[i].nr)] = old.chunk[i];
	free(old.chunk);
	return true;
}

static struct counts_chunk *find_or_add(struct counts *c, uint64_t nr)
{
	if (2 * c->n >= c->slots && !grow(c))
		return NULL;
	c->last = find(c, nr);
	if (!c->chunk[c->last].nr) {
		c->chunk[c->last].nr = nr;
		c->n++;
	}
	return &c->chunk[c->last];
}

bool counts_add(struct counts *c, uint64_t pfn, uint64_t pages)
{
	if (pages > PAGES_MAX)
		pages = PAGES_MAX;
	while (pages) {
		struct counts_chunk *k = find_or_add(c, pfn / COUNTS_CHUNK + 1);
		uint64_t at = pfn % COUNTS_CHUNK;
		uint64_t n = COUNTS_CHUNK - at < pages ? COUNTS_CHUNK - at : pages;

		if (!k)
			return false;
		if (n == COUNTS_CHUNK) {
			k->whole++;
		} else {
			if (!k->each)
				k->each = calloc(COUNTS_CHUNK, sizeof(*k->each));
			if (!k->each)
				return false;
			for (uint64_t i = 0; i < n; i++)
				k->each[at + i]++;
		}
		pfn += n;
		pages -= n;
	}
	return true;
}

uint64_t counts_get(struct counts *c, uint64_t pfn)
{
	const struct counts_chunk *k;

	if (!c->slots)
		return 0;
	c->last = find(c, pfn / COUNTS_CHUNK + 1);
	k = &c->chunk[c->last];
	return k->whole + (k->each ? k->each[pfn % COUNTS_CHUNK] : 0);
}
