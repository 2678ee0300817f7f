/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmem_ahead.c - batched reads of structs of a running kernel. */
#include "linux/kmem.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/*
 * Room for the leaves below one node of a maple tree of VMAs (16), the VMAs in them (15
 * each) and their files and dentries, a few hundred bytes at most each.
 */
enum { MOST = 1024, PLACES = 2 * MOST, ROOM = 128 << 10 };

struct kmem_ahead {
	struct kmem *m;
	uint32_t n, read;        /* number of items; number of those that are read */
	size_t used;             /* of bytes[] */
	struct ahead_item {
		uint64_t va, pa;
		uint32_t at, len;        /* in bytes[] */
		bool there;
	} item[MOST];
	uint16_t place[PLACES];  /* 1 + index in item[]; cleared for each node */
	struct atw_piece piece[MOST];
	char bytes[ROOM];
};

struct kmem_ahead *kmem_ahead_create(struct kmem *m)
{
	struct kmem_ahead *a = malloc(sizeof(*a));

	if (!a)
		return NULL;
	a->m = m;
	kmem_ahead_forget(a);
	return a;
}

void kmem_ahead_destroy(struct kmem_ahead *a)
{
	free(a);
}

void kmem_ahead_forget(struct kmem_ahead *a)
{
	a->n = a->read = 0;
	a->used = 0;
	memset(a->place, 0, sizeof(a->place));
}

static uint32_t ahead_place(const struct kmem_ahead *a, uint64_t va)
{
	uint32_t i = (uint32_t)hash_u64(va) % PLACES;

	while (a->place[i] && a->item[a->place[i] - 1].va != va)
		i = (i + 1) % PLACES;
	return i;
}

void kmem_ahead_add(struct kmem_ahead *a, uint64_t va, size_t len)
{
	uint32_t place = ahead_place(a, va);
	atw_pa first, last;

	/*
	 * Items that are not physically contiguous, or repeat an address with another
	 * size, are left to kmem_hold().
	 */
	if (a->place[place] || a->n == MOST || !len || len > ROOM - a->used ||
	    kmem_physical(a->m, va, &first, NULL) < 0 ||
	    kmem_physical(a->m, va + len - 1, &last, NULL) < 0 || last.u - first.u != len - 1)
		return;
	a->item[a->n++] = (struct ahead_item){
		.va = va, .pa = first.u, .at = (uint32_t)a->used, .len = (uint32_t)len,
	};
	a->place[place] = (uint16_t)a->n;
	a->used += len;
}

void kmem_ahead_read(struct kmem_ahead *a)
{
	uint32_t n = a->n - a->read;

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct ahead_item *it = &a->item[a->read + i];

		a->piece[i] = (struct atw_piece){ ATW_PA(it->pa), a->bytes + it->at, it->len, 0 };
	}
	kmem_read_pieces(a->m, a->piece, n);
	for (uint32_t i = 0; i < n; i++)
		a->item[a->read + i].there = a->piece[i].got == (ssize_t)a->piece[i].len;
	a->read = a->n;
}

static const struct ahead_item *ahead_item(const struct kmem_ahead *a, uint64_t va, size_t len)
{
	uint16_t i = a->place[ahead_place(a, va)];

	return i && i <= a->read && a->item[i - 1].there && a->item[i - 1].len == len
	       ? &a->item[i - 1] : NULL;
}

const void *kmem_ahead_find(const struct kmem_ahead *a, uint64_t va, size_t len)
{
	const struct ahead_item *it = ahead_item(a, va, len);

	if (!it)
		return NULL;
	kmem_touch(a->m, ATW_PA(it->pa), len);
	return a->bytes + it->at;
}

bool kmem_ahead_hold(const struct kmem_ahead *a, uint64_t va, size_t len)
{
	const struct ahead_item *it = ahead_item(a, va, len);

	if (it)
		kmem_hold_copy(a->m, va, ATW_PA(it->pa), a->bytes + it->at, len);
	return it;
}

bool kmem_ahead_same(struct kmem_ahead *a, unsigned n)
{
	size_t len = 0;

	n = n < a->read ? n : a->read;
	for (unsigned i = 0; i < n; i++) {
		const struct ahead_item *it = &a->item[i];

		if (!it->there || it->len > ROOM - a->used - len)
			return false;
		a->piece[i] = (struct atw_piece){
			ATW_PA(it->pa), a->bytes + a->used + len, it->len, 0,
		};
		len += it->len;
	}
	kmem_read_pieces(a->m, a->piece, n);
	for (unsigned i = 0; i < n; i++)
		if (a->piece[i].got != (ssize_t)a->item[i].len ||
		    memcmp(a->piece[i].buf, a->bytes + a->item[i].at, a->item[i].len) != 0)
			return false;
	return true;
}
