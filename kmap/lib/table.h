/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - arrays that find their elements again by up to three words.
 *
 * Specialised: recordings have millions of edges. base/table.h, which has 64 bits of key
 * and of value in each slot, took 10% more time and 100 MB more for the reports about
 * 2 million edges, and 25% more time to compress them.
 */
#pragma once

#include <atwalk/base.h>

struct kmap_key {
	uint64_t a, b, c;
};

/* Elements are structs that begin with their key. */
struct kmap_table {
	void *v;
	size_t elem;             /* bytes */
	size_t n, cap;
	struct kmap_slot {
		uint32_t tag;    /* half of the key's hash */
		uint32_t at;     /* 1 + index in v[]; 0: free */
	} *slot;                 /* at most half are used */
	size_t nslots;           /* a power of two, or 0 */
};

void kmap_table_init(struct kmap_table *t, size_t elem);
void kmap_table_deinit(struct kmap_table *t);
/*
 * Its number, from 0 in the order they were met; a new one is zeroed but for its
 * key. -1: no memory, or more of them than can be. `fresh` may be NULL.
 */
int64_t kmap_table_get(struct kmap_table *t, struct kmap_key k, bool *fresh);
/* The element, which stays in place until there is another new one. NULL: as -1. */
void *kmap_table_elem(struct kmap_table *t, struct kmap_key k, bool *fresh);
/* -1: there is none. */
int64_t kmap_table_find(const struct kmap_table *t, struct kmap_key k);
/* The last one takes its number. */
void kmap_table_remove(struct kmap_table *t, size_t i);
