/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"

enum { FIRST = 64 };

void kmap_table_init(struct kmap_table *t, size_t elem)
{
	*t = (struct kmap_table){ .elem = elem };
}

void kmap_table_deinit(struct kmap_table *t)
{
	free(t->v);
	free(t->slot);
	*t = (struct kmap_table){ 0 };
}

static struct kmap_key *table_at(const struct kmap_table *t, size_t i)
{
	return (struct kmap_key *)(void *)((char *)t->v + i * t->elem);
}

static uint32_t table_tag(struct kmap_key k)
{
	return (uint32_t)(hash_two(hash_u64(k.a) + k.b, k.c) >> 32);
}

/* Where it is, or where it would go. */
static size_t table_place(const struct kmap_table *t, struct kmap_key k)
{
	uint32_t tag = table_tag(k);
	size_t i = tag & (t->nslots - 1);

	for (; t->slot[i].at; i = (i + 1) & (t->nslots - 1)) {
		const struct kmap_key *x = table_at(t, t->slot[i].at - 1);

		if (t->slot[i].tag == tag && x->a == k.a && x->b == k.b && x->c == k.c)
			break;
	}
	return i;
}

static bool table_grow(struct kmap_table *t)
{
	size_t nslots = t->nslots ? t->nslots * 2 : FIRST;
	struct kmap_slot *slot;

	if (t->n * 2 < t->nslots)
		return true;
	slot = calloc(nslots, sizeof(*slot));
	if (!slot)
		return false;
	for (size_t i = 0; i < t->nslots; i++) {
		size_t to = t->slot[i].tag & (nslots - 1);

		if (!t->slot[i].at)
			continue;
		while (slot[to].at)
			to = (to + 1) & (nslots - 1);
		slot[to] = t->slot[i];
	}
	free(t->slot);
	t->slot = slot;
	t->nslots = nslots;
	return true;
}

int64_t kmap_table_find(const struct kmap_table *t, struct kmap_key k)
{
	return t->nslots ? (int64_t)t->slot[table_place(t, k)].at - 1 : -1;
}

int64_t kmap_table_get(struct kmap_table *t, struct kmap_key k, bool *fresh)
{
	size_t i;

	if (!table_grow(t))
		return -1;
	i = table_place(t, k);
	if (fresh)
		*fresh = !t->slot[i].at;
	if (t->slot[i].at)
		return (int64_t)t->slot[i].at - 1;
	if (t->n >= UINT32_MAX / 2 || !array_reserve(&t->v, &t->cap, t->n + 1, t->elem))
		return -1;
	memset(table_at(t, t->n), 0, t->elem);
	*table_at(t, t->n) = k;
	t->slot[i] = (struct kmap_slot){ table_tag(k), (uint32_t)++t->n };
	return (int64_t)t->n - 1;
}

void *kmap_table_elem(struct kmap_table *t, struct kmap_key k, bool *fresh)
{
	int64_t i = kmap_table_get(t, k, fresh);

	return i < 0 ? NULL : table_at(t, (size_t)i);
}

/* Those behind a gap that would not be found past it move into it. */
static void table_close_gap(struct kmap_table *t, size_t gap)
{
	size_t mask = t->nslots - 1;

	for (size_t i = (gap + 1) & mask; t->slot[i].at; i = (i + 1) & mask) {
		if (((i - t->slot[i].tag) & mask) < ((i - gap) & mask))
			continue;
		t->slot[gap] = t->slot[i];
		gap = i;
	}
	t->slot[gap].at = 0;
}

void kmap_table_remove(struct kmap_table *t, size_t i)
{
	size_t last = t->n - 1;

	table_close_gap(t, table_place(t, *table_at(t, i)));
	if (i != last) {
		size_t s = table_place(t, *table_at(t, last));

		memcpy(table_at(t, i), table_at(t, last), t->elem);
		t->slot[s].at = (uint32_t)i + 1;
	}
	t->n--;
}
