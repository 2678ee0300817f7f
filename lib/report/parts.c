/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parts.c - lookup of equal parts of files. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/sorted.h"
#include "report/parts.h"

/* X depends on the process; no file has S. */
#define SAME_FLAGS 0x3cu

void parts_deinit(struct parts *g)
{
	for (size_t i = 0; i < g->n; i++)
		free(g->v[i]);
	free(g->v);
	table_deinit(&g->table);
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

struct part *parts_of(struct parts *g, const struct census_area *a)
{
	const struct part want = {
		.number = (uint32_t)g->n, .unit = a->unit, .class = a->class,
		.flags = census_flags(a), .pos = a->pos,
		.size = a->unit->keyed ? 0 : a->last - a->first + 1,
	};
	const uint64_t key = parts_hash(&want);
	const struct table_slot *s = NULL;
	struct part *x;

	while ((s = table_next(&g->table, key, s)))
		if (parts_same(table_ptr(s->value), &want))
			return table_ptr(s->value);
	if (!ARRAY_ROOM(g->v, g->n, g->cap))
		return NULL;
	x = malloc(sizeof(*x));
	if (!x || !table_add(&g->table, key, (uintptr_t)x)) {
		free(x);
		return NULL;
	}
	*x = want;
	return g->v[g->n++] = x;
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

	return ORDER(ux, uy) ?: ORDER(x->pos, y->pos) ?: ORDER(x->class, y->class) ?:
	       ORDER(x->size, y->size) ?:
	       ORDER(x->flags & SAME_FLAGS, y->flags & SAME_FLAGS) ?:
	       ORDER(x->number, y->number);
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
