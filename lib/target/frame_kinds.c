/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_kinds.c - kind of each frame, read once even if many processes map it. */
#include "target/frame_use.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sorted.h"

enum { UNASKED, ASKED, FIRST };  /* ids; kinds are from FIRST on */

void kinds_deinit(struct kinds *k)
{
	for (size_t i = 0; i < k->blocks.slots; i++)
		free(table_ptr(k->blocks.slot[i].value));
	table_deinit(&k->blocks);
	free(k->kind);
	*k = (struct kinds){ 0 };
}

/* ---- blocks ---- */

static uint16_t *kinds_block(struct kinds *k, uint64_t nr)
{
	struct table_slot *s;
	uint16_t *id;

	if (k->last && k->nr == nr)
		return k->last;
	s = table_get(&k->blocks, nr);
	if (s && !s->value && (id = calloc(KINDS_BLOCK, sizeof(*id))))
		table_set(&k->blocks, s, (uintptr_t)id);
	k->nr = nr;
	k->last = s ? table_ptr(s->value) : NULL;
	return k->last;
}

bool kinds_ask(struct kinds *k, uint64_t pfn)
{
	uint16_t *id = kinds_block(k, pfn / KINDS_BLOCK);

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
		uint16_t *id = kinds_block(k, pfn / KINDS_BLOCK);

		if (!id)
			return false;
		id[pfn % KINDS_BLOCK] = kind;
	}
	return true;
}

unsigned kinds_find(struct kinds *k, uint64_t pfn)
{
	k->nr = pfn / KINDS_BLOCK;
	k->last = table_ptr(table_find(&k->blocks, k->nr));
	return k->last ? k->last[pfn % KINDS_BLOCK] : UNASKED;
}

unsigned kinds_run(struct kinds *k, uint64_t pfn, uint64_t most, uint64_t *ret_same)
{
	unsigned id = kinds_get(k, pfn);
	uint64_t at = pfn % KINDS_BLOCK, end = KINDS_BLOCK - at < most ? KINDS_BLOCK - at : most;

	for (*ret_same = 1; k->last && *ret_same < end; ++*ret_same)
		if (k->last[at + *ret_same] != id)
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

static int kinds_read_block(struct kinds *k, const struct table_slot *b,
			    struct atw_memmap *m, struct kinds_work *w,
			    struct atw_err *err)
{
	uint64_t first = b->key * KINDS_BLOCK;
	uint16_t *ids = table_ptr(b->value);
	struct page_origin was = { .known = true, .order = UINT8_MAX };
	uint16_t id = 0;
	size_t n = 0;
	int r;

	for (uint32_t i = 0; i < KINDS_BLOCK; i++)
		if (ids[i] == ASKED)
			w->pfn[n++] = first + i;
	r = memmap_origins(m, w->pfn, n, w->origin, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		if (!page_origin_same(&w->origin[i], &was)) {
			was = w->origin[i];
			id = kinds_number(k, &was);
			if (!id)
				r = atw_err_nomem(err);
		}
		ids[w->pfn[i] - first] = id;
	}
	k->read += n;
	return r;
}

int kinds_read(struct kinds *k, struct atw_memmap *m, struct atw_err *err)
{
	_auto_free struct kinds_work *w = malloc(sizeof(*w));
	_auto_free struct table_slot *b = calloc(k->blocks.n + 1, sizeof(*b));
	size_t n = 0;
	int r = w && b ? ATW_OK : atw_err_nomem(err);

	for (size_t i = 0; i < k->blocks.slots && r == ATW_OK; i++)
		if (k->blocks.slot[i].value)
			b[n++] = k->blocks.slot[i];
	SORT(b, n, sorted_by_u64);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = kinds_read_block(k, &b[i], m, w, err);
	return r;
}
