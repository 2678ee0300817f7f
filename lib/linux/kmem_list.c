// SPDX-License-Identifier: GPL-2.0-or-later
/* kmem_list.c - structs of a list of a running kernel, read ahead together. */
#include "linux/kmem.h"

#include <stdlib.h>

enum { MOST = 64, BEHIND = 256 };

struct kmem_list {
	struct kmem *m;
	struct kmem_list_shape shape;
	uint64_t reading;        /* incremented by each one */
	size_t n, hot;
	uint64_t at[MOST];
	uint64_t behind_at[MOST];        /* 0: none, or it could not be read */
	struct atw_piece piece[MOST];
	char behind[MOST][BEHIND];
	char bytes[];            /* n * shape.len */
};

struct kmem_list *kmem_list_create(struct kmem *m, const struct kmem_list_shape *s)
{
	struct kmem_list *l;

	if (!kmem_is_live(m) || !s->len || s->next > s->len - 8 || s->pointer > s->len - 8 ||
	    s->behind_len > BEHIND)
		return NULL;
	l = calloc(1, sizeof(*l) + (size_t)MOST * s->len);
	if (l) {
		l->m = m;
		l->shape = *s;
	}
	return l;
}

void kmem_list_destroy(struct kmem_list *l)
{
	free(l);
}

void kmem_list_forget(struct kmem_list *l)
{
	if (l)
		l->n = 0;
}

uint64_t kmem_list_reading(const struct kmem_list *l)
{
	return l && l->n ? l->reading : 0;
}

static bool list_leads_on(const struct kmem_list *l, uint64_t va)
{
	for (size_t i = 0; i + 1 < l->n; i++)
		if (l->at[i] == va)
			return true;
	return false;
}

/* What each of the structs points to; what cannot be read is left to its reader. */
static void list_read_behind(struct kmem_list *l)
{
	const struct kmem_list_shape *s = &l->shape;

	for (size_t i = 0; i < l->n; i++) {
		uint64_t p = get_le64(l->bytes + i * s->len + s->pointer);
		atw_pa pa = { 0 };

		l->behind_at[i] = p + s->behind;
		l->piece[i] = (struct atw_piece){ .buf = l->behind[i] };
		if (p && kmem_physical(l->m, p + s->behind, &pa, NULL) == ATW_OK)
			l->piece[i].len = s->behind_len;
		l->piece[i].pa = pa;
	}
	kmem_read_pieces(l->m, l->piece, l->n);
	for (size_t i = 0; i < l->n; i++)
		if (!l->piece[i].len || l->piece[i].got != (ssize_t)l->piece[i].len)
			l->behind_at[i] = 0;
}

void kmem_list_from(struct kmem_list *l, uint64_t va)
{
	if (!l || list_leads_on(l, va))
		return;
	l->hot = 0;
	l->n = kmem_read_list(l->m, &(struct atw_chain){
		.va = va, .len = l->shape.len, .next = l->shape.next, .back = l->shape.next,
		.max = MOST, .at = l->at, .buf = l->bytes,
	});
	l->reading++;
	if (l->n && l->shape.behind_len)
		list_read_behind(l);
}

const void *kmem_list_find(struct kmem_list *l, uint64_t va, size_t len)
{
	for (size_t i = 0; i < l->n; i++) {
		size_t at = (l->hot + i) % l->n;
		uint64_t off = va - l->at[at];

		if (off < l->shape.len && len <= l->shape.len - off) {
			l->hot = at;
			return l->bytes + at * l->shape.len + off;
		}
		off = va - l->behind_at[at];
		if (l->behind_at[at] && off < l->shape.behind_len &&
		    len <= l->shape.behind_len - off)
			return l->behind[at] + off;
	}
	return NULL;
}
