/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - hash table from words to indices or pointers.
 *
 * A key is a number, or the hash of a longer key (hash_two(), hash_bytes()): several
 * slots may have one key, and the caller compares what their values lead to. Slots are
 * in no order that may be shown; callers with an order keep an array and its indices.
 */
#pragma once

#include "base/hash.h"

struct table_slot {
	uint64_t key;
	uint64_t value;          /* 1 + index, or a pointer; 0: free */
};

/* Zeroed: an empty one. */
struct table {
	struct table_slot *slot;
	size_t n, slots;         /* slots: 0 or a power of two; at most half are used */
};

void table_deinit(struct table *t);
/* Empty it and keep its memory. */
void table_clear(struct table *t);
/*
 * The slot of the key, or a free one for table_set(). It stays in place until the next
 * table_get(), table_add() or table_remove(). NULL: no memory.
 */
struct table_slot *table_get(struct table *t, uint64_t key);
/* The only slot of the key has the value then. false: no memory. */
bool table_put(struct table *t, uint64_t key, uint64_t value);
/* One more slot of the key. false: no memory. */
bool table_add(struct table *t, uint64_t key, uint64_t value);
void table_remove(struct table *t, struct table_slot *s);

/* `value`: not 0. */
static inline void table_set(struct table *t, struct table_slot *s, uint64_t value)
{
	t->n += !s->value;
	s->value = value;
}

/* The first slot of the key, or the one behind `after`; NULL: there is no other. */
static inline struct table_slot *table_next(const struct table *t, uint64_t key,
					    const struct table_slot *after)
{
	size_t mask = t->slots - 1, i = (size_t)hash_u64(key);

	if (!t->slots)
		return NULL;
	if (after)
		i = (size_t)(after - t->slot) + 1;
	while (t->slot[i & mask].value && t->slot[i & mask].key != key)
		i++;
	return t->slot[i & mask].value ? &t->slot[i & mask] : NULL;
}

/* 0: none. */
static inline uint64_t table_find(const struct table *t, uint64_t key)
{
	const struct table_slot *s = table_next(t, key, NULL);

	return s ? s->value : 0;
}

/* Values that are pointers. */
static inline void *table_ptr(uint64_t value)
{
	return (void *)(uintptr_t)value;
}
