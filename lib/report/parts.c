/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.c - lookup of equal parts of files. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/hash.h"
#include "report/parts.h"

/* X depends on the process; no file has S. */
#define SAME_FLAGS 0x3cu

void parts_deinit(struct parts *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i]);
	free(g->v);
	free(g->slot);
	*g = (struct parts){ 0 };
}

static uint64_t parts_hash(const struct part *x)
{
	uint64_t what = (uint64_t)x->class << 8 | (x->flags & SAME_FLAGS);

	return hash_two(hash_two(x->pos, x->size), (uint64_t)x->unit->number << 32 | what);
}

static bool parts_same(const struct part *x, const struct part *y)
{
	return x->unit == y->unit && x->class == y->class && x->pos == y->pos &&
	       x->size == y->size && !((x->flags ^ y->flags) & SAME_FLAGS);
}

static size_t parts_slot_of(const struct parts *g, const struct part *x)
{
	size_t i = parts_hash(x) & (g->slots - 1);

	while (g->slot[i] && !parts_same(g->slot[i], x))
		i = (i + 1) & (g->slots - 1);
	return i;
}

static bool parts_grow(struct parts *g)
{
	size_t slots = g->slots ? 2 * g->slots : 256;
	struct part **slot = calloc(slots, sizeof(struct part *));

	if (!slot)
		return false;
	for (size_t k = 0; k < g->n; k++) {
		size_t i = parts_hash(g->v[k]) & (slots - 1);

		while (slot[i])
			i = (i + 1) & (slots - 1);
		slot[i] = g->v[k];
	}
	free(g->slot);
	g->slot = slot;
	g->slots = slots;
	return true;
}

struct part *parts_of(struct parts *g, const struct census_area *a)
{
	const struct part want = {
		.number = (uint32_t)g->n, .unit = a->unit, .class = a->class,
		.flags = census_flags(a), .pos = a->pos,
		.size = a->unit->keyed ? 0 : a->last - a->first + 1,
	};
	struct part *x;
	size_t i;

	if ((2 * (g->n + 1) > g->slots && !parts_grow(g)) ||
	    !array_reserve((void **)&g->v, &g->cap, g->n + 1, sizeof(struct part *)))
		return NULL;
	i = parts_slot_of(g, &want);
	if (g->slot[i])
		return g->slot[i];
	x = malloc(sizeof(*x));
	if (!x)
		return NULL;
	*x = want;
	g->slot[i] = g->v[g->n++] = x;
	return x;
}

void part_add(struct part *g, const struct census_area *a, uint64_t page)
{
	uint64_t pages = (a->last - a->first) / page + 1;

	g->flags |= census_flags(a);
	g->guess |= a->guess;
	g->incomplete |= a->incomplete;
	g->used++;
	g->mapped += pages;
	if (pages > g->pages)
		g->pages = pages;
}

static int parts_compare(const void *a, const void *b)
{
	const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
	uint32_t ux = census_unit_root(x->unit)->number, uy = census_unit_root(y->unit)->number;

	if (ux != uy)
		return ux < uy ? -1 : 1;
	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if ((x->flags ^ y->flags) & SAME_FLAGS)
		return (x->flags & SAME_FLAGS) < (y->flags & SAME_FLAGS) ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static bool parts_is_copy(const struct part *a, const struct part *b)
{
	return census_unit_root(a->unit) == census_unit_root(b->unit) && a->pos == b->pos &&
	       a->class == b->class && a->size == b->size &&
	       !((a->flags ^ b->flags) & SAME_FLAGS);
}

size_t parts_sort(struct parts *g)
{
	struct part **v = g->v, *t;
	size_t n = 0;

	if (g->n)
		qsort(v, g->n, sizeof(struct part *), parts_compare);
	for (size_t i = 0; i < g->n; i++) {
		if (!n || !parts_is_copy(v[n - 1], v[i])) {
			t = v[n];
			v[n++] = v[i];
			v[i] = t;
			continue;
		}
		t = v[n - 1];
		t->flags |= v[i]->flags;
		t->guess |= v[i]->guess;
		t->used += v[i]->used;
		t->mapped += v[i]->mapped;
		if (v[i]->pages > t->pages)
			t->pages = v[i]->pages;
		v[i]->next = t->next;
		t->next = v[i];
	}
	return n;
}
