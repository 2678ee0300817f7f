/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overlay.c - resolution of ranges that overlap. */
#include "base/overlay.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sorted.h"

static uint64_t overlay_end(const struct extent *e)
{
	return e->start + e->len;
}

static bool overlay_beats(const struct extent *a, const struct extent *b)
{
	return a->placed != b->placed ? a->placed : a->order < b->order;
}

static int overlay_by_start(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return ORDER(x->start, y->start) ?: ORDER(x->order, y->order);
}

/* A heap of the ranges that hold the current address; the winner on top. */
struct overlay_heap {
	const struct extent **v;
	size_t n;
};

static void overlay_push(struct overlay_heap *h, const struct extent *e)
{
	size_t i = h->n++;

	while (i && overlay_beats(e, h->v[(i - 1) / 2])) {
		h->v[i] = h->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->v[i] = e;
}

static void overlay_pop(struct overlay_heap *h)
{
	const struct extent *last = h->v[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && overlay_beats(h->v[child + 1], h->v[child]))
			child++;
		if (!overlay_beats(h->v[child], last))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = last;
}

struct overlay_out {
	struct extent *v;
	size_t n, cap;
};

/* Append, or lengthen the last one when this carries it on. */
static bool overlay_emit(struct overlay_out *out, const struct extent *from, uint64_t start,
			 uint64_t end)
{
	uint64_t off = from->placed ? from->off + (start - from->start) : 0;
	struct extent *last = out->n ? &out->v[out->n - 1] : NULL;

	if (last && overlay_end(last) == start && last->kind == from->kind &&
	    (!from->placed || last->off + last->len == off)) {
		last->len += end - start;
		return true;
	}
	if (!ARRAY_ROOM(out->v, out->n, out->cap))
		return false;
	out->v[out->n++] = (struct extent){
		.start = start, .len = end - start, .off = off,
		.kind = from->kind, .placed = from->placed,
	};
	return true;
}

/*
 * One pass over the addresses, upwards: QEMU's `paging` dumps name the same
 * memory 65 thousand times over, so comparing every range with every other
 * one is out of the question.
 */
static bool overlay_sweep(const struct extent *in, size_t n, struct overlay_heap *h,
			  struct overlay_out *out)
{
	uint64_t pos = 0;
	size_t i = 0;

	while (i < n || h->n) {
		uint64_t stop;

		if (!h->n)
			pos = in[i].start;
		while (i < n && in[i].start == pos)
			overlay_push(h, &in[i++]);
		while (h->n && overlay_end(h->v[0]) <= pos)
			overlay_pop(h);
		if (!h->n)
			continue;
		stop = overlay_end(h->v[0]);
		if (i < n && in[i].start < stop)
			stop = in[i].start;
		if (!overlay_emit(out, h->v[0], pos, stop))
			return false;
		pos = stop;
	}
	return true;
}

bool overlay(struct extent **v, size_t *n, size_t *cap)
{
	_auto_free const struct extent **room = malloc((*n + 1) * sizeof(*room));
	struct overlay_heap h = { room, 0 };
	struct overlay_out out = { NULL, 0, 0 };

	SORT(*v, *n, overlay_by_start);
	if (!room || !overlay_sweep(*v, *n, &h, &out)) {
		free(out.v);
		return false;
	}
	free(*v);
	*v = out.v;
	*n = out.n;
	*cap = out.cap;
	return true;
}
