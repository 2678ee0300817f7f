/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 64 };

void table_deinit(struct table *t)
{
	free(t->slot);
	*t = (struct table){ 0 };
}

void table_clear(struct table *t)
{
	if (t->slots)
		memset(t->slot, 0, t->slots * sizeof(*t->slot));
	t->n = 0;
}

static struct table_slot *table_free_slot(const struct table *t, uint64_t key)
{
	size_t mask = t->slots - 1, i = (size_t)hash_u64(key) & mask;

	while (t->slot[i].value)
		i = (i + 1) & mask;
	return &t->slot[i];
}

static bool table_make_room(struct table *t)
{
	struct table more = { .n = t->n, .slots = t->slots ? 2 * t->slots : FIRST };

	if (2 * (t->n + 1) <= t->slots)
		return true;
	if (more.slots > PTRDIFF_MAX / sizeof(*more.slot))
		return false;
	more.slot = calloc(more.slots, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (size_t i = 0; i < t->slots; i++)
		if (t->slot[i].value)
			*table_free_slot(&more, t->slot[i].key) = t->slot[i];
	free(t->slot);
	*t = more;
	return true;
}

struct table_slot *table_get(struct table *t, uint64_t key)
{
	struct table_slot *s = table_next(t, key, NULL);

	if (s)
		return s;
	if (!table_make_room(t))
		return NULL;
	s = table_free_slot(t, key);
	s->key = key;
	return s;
}

bool table_put(struct table *t, uint64_t key, uint64_t value)
{
	struct table_slot *s = table_get(t, key);

	if (s)
		table_set(t, s, value);
	return s;
}

bool table_add(struct table *t, uint64_t key, uint64_t value)
{
	if (!table_make_room(t))
		return false;
	*table_free_slot(t, key) = (struct table_slot){ key, value };
	t->n++;
	return true;
}

void table_remove(struct table *t, struct table_slot *s)
{
	size_t mask = t->slots - 1, gap = (size_t)(s - t->slot), i = gap;

	/* A slot behind the gap moves into it unless its search begins behind the gap. */
	while (t->slot[i = (i + 1) & mask].value) {
		size_t home = (size_t)hash_u64(t->slot[i].key);

		if (((i - home) & mask) < ((i - gap) & mask))
			continue;
		t->slot[gap] = t->slot[i];
		gap = i;
	}
	t->slot[gap].value = 0;
	t->n--;
}
