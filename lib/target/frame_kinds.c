/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_kinds.c - kind of each frame, read once even if many processes map it. */
#include "target/frame_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

enum { UNASKED, ASKED, FIRST };  /* ids; kinds are from FIRST on */

void kinds_deinit(struct kinds *k)
{
	for (size_t i = 0; i < k->slots; i++)
		free(k->block[i].id);
	free(k->block);
	free(k->kind);
	*k = (struct kinds){ 0 };
}

/* ---- blocks ---- */

static size_t kinds_slot(const struct kinds *k, uint64_t nr)
{
	size_t s = (size_t)hash_u64(nr) & (k->slots - 1);

	while (k->block[s].nr && k->block[s].nr != nr)
		s = (s + 1) & (k->slots - 1);
	return s;
}

static bool kinds_grow(struct kinds *k)
{
	struct kinds old = *k;

	k->slots = old.slots ? old.slots * 2 : 64;
	k->block = calloc(k->slots, sizeof(*k->block));
	if (!k->block) {
		*k = old;
		return false;
	}
	k->last = 0;
	for (size_t i = 0; i < old.slots; i++)
		if (old.block[i].nr)
			k->block[kinds_slot(k, old.block[i].nr)] = old.block[i];
	free(old.block);
	return true;
}

static uint16_t *kinds_block(struct kinds *k, uint64_t nr)
{
	uint16_t *id;

	if (k->slots && k->block[k->last].nr == nr)
		return k->block[k->last].id;
	if (2 * k->n >= k->slots && !kinds_grow(k))
		return NULL;
	k->last = kinds_slot(k, nr);
	if (k->block[k->last].nr)
		return k->block[k->last].id;
	id = calloc(KINDS_BLOCK, sizeof(*id));
	if (!id)
		return NULL;
	k->block[k->last] = (struct kinds_block){ nr, id };
	k->n++;
	return id;
}

bool kinds_ask(struct kinds *k, uint64_t pfn)
{
	uint16_t *id = kinds_block(k, pfn / KINDS_BLOCK + 1);

	if (!id)
		return false;
	id += pfn % KINDS_BLOCK;
	if (*id == UNASKED) {
		*id = ASKED;
		k->asked++;
	}
	return true;
}

bool kinds_put(struct kinds *k, uint64_t pfn, uint64_t n, uint16_t kind)
{
	for (; n; n--, pfn++) {
		uint16_t *id = kinds_block(k, pfn / KINDS_BLOCK + 1);

		if (!id)
			return false;
		id[pfn % KINDS_BLOCK] = kind;
	}
	return true;
}

unsigned kinds_find(struct kinds *k, uint64_t pfn)
{
	if (!k->block)
		return UNASKED;
	k->last = kinds_slot(k, pfn / KINDS_BLOCK + 1);
	return k->block[k->last].nr ? k->block[k->last].id[pfn % KINDS_BLOCK] : UNASKED;
}

unsigned kinds_run(struct kinds *k, uint64_t pfn, uint64_t most, uint64_t *ret_same)
{
	unsigned id = kinds_get(k, pfn);
	const struct kinds_block *b = k->block ? &k->block[k->last] : NULL;
	uint64_t at = pfn % KINDS_BLOCK, end = KINDS_BLOCK - at < most ? KINDS_BLOCK - at : most;

	for (*ret_same = 1; b && b->nr && *ret_same < end; ++*ret_same)
		if (b->id[at + *ret_same] != id)
			break;
	return id;
}

/* ---- kinds ---- */

uint16_t kinds_number(struct kinds *k, const struct page_origin *o)
{
	for (size_t i = FIRST; i < k->nkinds; i++)
		if (page_origin_same(&k->kind[i], o))
			return (uint16_t)i;
	if (k->nkinds > UINT16_MAX ||
	    !array_reserve((void **)&k->kind, &k->kinds_cap, k->nkinds + FIRST + 1,
			   sizeof(*k->kind)))
		return 0;
	for (; k->nkinds < FIRST; k->nkinds++)
		k->kind[k->nkinds] = (struct page_origin){ 0 };
	k->kind[k->nkinds] = *o;
	return (uint16_t)k->nkinds++;
}

struct kinds_work {
	uint64_t pfn[KINDS_BLOCK];
	struct page_origin origin[KINDS_BLOCK];
};

static int kinds_read_block(struct kinds *k, const struct kinds_block *b, struct atw_memmap *m,
			    struct kinds_work *w, struct atw_err *err)
{
	uint64_t first = (b->nr - 1) * KINDS_BLOCK;
	struct page_origin was = { .known = true, .order = UINT8_MAX };
	uint16_t id = 0;
	size_t n = 0;
	int r;

	for (uint32_t i = 0; i < KINDS_BLOCK; i++)
		if (b->id[i] == ASKED)
			w->pfn[n++] = first + i;
	r = memmap_origins(m, w->pfn, n, w->origin, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		if (!page_origin_same(&w->origin[i], &was)) {
			was = w->origin[i];
			id = kinds_number(k, &was);
			if (!id)
				r = atw_err_nomem(err);
		}
		b->id[w->pfn[i] - first] = id;
	}
	k->read += n;
	return r;
}

static int frame_kinds_by_number(const void *a, const void *b)
{
	uint64_t x = ((const struct kinds_block *)a)->nr, y = ((const struct kinds_block *)b)->nr;

	return x < y ? -1 : x > y;
}

int kinds_read(struct kinds *k, struct atw_memmap *m, struct atw_err *err)
{
	_auto_free struct kinds_work *w = malloc(sizeof(*w));
	_auto_free struct kinds_block *b = calloc(k->n + 1, sizeof(*b));
	size_t n = 0;
	int r = w && b ? ATW_OK : atw_err_nomem(err);

	for (size_t i = 0; i < k->slots && r == ATW_OK; i++)
		if (k->block[i].nr)
			b[n++] = k->block[i];
	if (n)
		qsort(b, n, sizeof(*b), frame_kinds_by_number);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = kinds_read_block(k, &b[i], m, w, err);
	return r;
}
