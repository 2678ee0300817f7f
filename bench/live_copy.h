/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_copy.h - the bounds of all that reads struct pages: to copy those of a process, or
 * of all frames, through BPF, and to do nothing with them.
 */
#pragma once

#include <err.h>
#include <stdlib.h>

#include "linux/memmap.h"
#include "source/source.h"

enum { COPY_ROOM = 256 << 10 };          /* as much as a run of the program brings */

/* Parts of the page array, found out beforehand. */
struct copy_plan {
	struct atw_source *src;
	struct atw_piece *piece;
	size_t n, cap;
	uint64_t frames;
	char *room;              /* where all of them go to, one behind the other */
};

static inline int copy_by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct atw_piece *)a)->pa.u, y = ((const struct atw_piece *)b)->pa.u;

	return x < y ? -1 : x > y;
}

/* Struct pages of frames of one section. */
static inline void copy_add(struct copy_plan *c, struct atw_memmap *m, uint64_t pfn, uint64_t n)
{
	atw_pa pa;

	if (!memmap_stretch(m->kmem, &m->where, pfn, n, &pa))
		return;
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 4096;
		c->piece = reallocarray(c->piece, c->cap, sizeof(*c->piece));
		if (!c->piece)
			err(1, "a plan of copies");
	}
	c->piece[c->n++] = (struct atw_piece){ .pa = pa, .len = (size_t)n * m->where.size };
	c->frames += n;
}

/* In order of their addresses, what is adjacent as one, but no more than there is room for. */
static inline void copy_settle(struct copy_plan *c, struct atw_source *src)
{
	size_t n = 0, at = 0;

	c->src = src;
	c->room = malloc(COPY_ROOM);
	if (!c->room)
		err(1, "a plan of copies");
	qsort(c->piece, c->n, sizeof(*c->piece), copy_by_address);
	for (size_t i = 0; i < c->n; i++) {
		struct atw_piece *p = &c->piece[i], *last = n ? &c->piece[n - 1] : NULL;

		if (last && last->pa.u + last->len == p->pa.u && last->len + p->len <= 4096)
			last->len += p->len;
		else
			c->piece[n++] = *p;
	}
	c->n = n;
	for (size_t i = 0; i < n; at += c->piece[i++].len) {
		if (at + c->piece[i].len > COPY_ROOM)
			at = 0;
		c->piece[i].buf = c->room + at;
	}
}

/* Any number of rounds. */
static inline uint64_t copy_go(const struct copy_plan *c)
{
	enum { AT_ONCE = 64 };

	for (size_t i = 0; i < c->n; i += AT_ONCE)
		atw_read_many(c->src, c->piece + i, c->n - i < AT_ONCE ? c->n - i : AT_ONCE,
			      NULL);
	return c->frames;
}

static inline void copy_drop(struct copy_plan *c)
{
	free(c->piece);
	free(c->room);
	*c = (struct copy_plan){ 0 };
}
