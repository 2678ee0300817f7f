/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - arrays that find their elements again by up to three words.
 */
#ifndef KMAP_TABLE_H
#define KMAP_TABLE_H

#include <atwalk/base.h>

struct kmap_key {
	uint64_t a, b, c;
};

/* Elements are structs that begin with their key. */
struct kmap_table {
	void *v;
	size_t elem;             /* bytes */
	size_t n, cap;
	uint32_t *slot;          /* 1 + index; at most half full */
	size_t nslots;           /* a power of two, or 0 */
};

void kmap_table_init(struct kmap_table *t, size_t elem);
void kmap_table_deinit(struct kmap_table *t);
/*
 * Its number, from 0 in the order they were met; a new one is zeroed but for its
 * key. -1: no memory, or more of them than can be.
 */
int64_t kmap_table_get(struct kmap_table *t, struct kmap_key k, bool *fresh);
/* -1: there is none. */
int64_t kmap_table_find(const struct kmap_table *t, struct kmap_key k);
/* The last one takes its number. */
void kmap_table_remove(struct kmap_table *t, size_t i);

#endif
