/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slab.c - the slab cache (kmem_cache) of a slab. */
#include <stdio.h>
#include <string.h>

#include "linux/memmap.h"

/* A slab's first page has a pointer to its kmem_cache, which has a name. */
void slab_cache_name(struct atw_memmap *m, const uint8_t *slab, char ret[32])
{
	uint64_t cache, name;
	struct cache_name *c;

	if (m->slab_cache_at == NEED_NONE || m->cache_name_at == NEED_NONE)
		return;
	cache = get_le64(slab + m->slab_cache_at);
	c = &m->cache[(cache >> 6 ^ cache >> 12) % CACHE_NAMES];
	if (!cache)
		return;
	if (c->at != cache) {
		*c = (struct cache_name){ .at = cache };
		if (kmem_u64(m->kmem, cache + m->cache_name_at, &name, NULL) == ATW_OK)
			kmem_text(m->kmem, name, c->name, sizeof(c->name), NULL);
	}
	memcpy(ret, c->name, sizeof(c->name));
}
