// SPDX-License-Identifier: GPL-2.0-or-later
/* extents.c - map from physical addresses to places in a file. */
#include "source/extents.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/sorted.h"

/* What `hot` points to before the first hit: an extent that holds nothing. */
static const struct extent nowhere = { .len = 0 };

void extents_deinit(struct extents *x)
{
	free(x->v);
	*x = (struct extents){ 0 };
}

int extents_add(struct extents *x, uint64_t start, uint64_t len, uint64_t off,
		enum atw_extent_kind kind, struct atw_err *err)
{
	uint64_t end;

	if (!len)
		return ATW_OK;
	if (!add_u64(start, len, &end))
		return atw_err_set(err, ATW_E_DAMAGED,
			"memory at 0x%" PRIx64 ": 0x%" PRIx64 " bytes reach past the last 64-bit address",
			start, len);
	if (x->n >= UINT32_MAX)
		return atw_err_set(err, ATW_E_LIMIT,
				   "more than 2^32 ranges of memory");
	if (!ARRAY_ROOM(x->v, x->n, x->cap))
		return atw_err_nomem(err);
	x->v[x->n] = (struct extent){
		.start = start, .len = len, .off = off,
		.order = (uint32_t)x->n, .kind = (uint8_t)kind,
	};
	x->n++;
	return ATW_OK;
}

static uint64_t extents_end_of(const struct extent *e)
{
	return e->start + e->len;
}

static bool extents_stored(const struct extent *e)
{
	return e->kind == ATW_DATA || e->kind == ATW_ZERO;
}

static bool extents_beats(const struct extent *a, const struct extent *b)
{
	if (extents_stored(a) != extents_stored(b))
		return extents_stored(a);
	return a->order < b->order;
}

static int extents_by_start(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* A heap of the ranges that hold the current address; the winner on top. */
struct extents_heap {
	const struct extent **v;
	size_t n;
};

static void extents_heap_push(struct extents_heap *h, const struct extent *e)
{
	size_t i = h->n++;

	while (i && extents_beats(e, h->v[(i - 1) / 2])) {
		h->v[i] = h->v[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->v[i] = e;
}

static void extents_heap_pop(struct extents_heap *h)
{
	const struct extent *last = h->v[--h->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && extents_beats(h->v[child + 1], h->v[child]))
			child++;
		if (!extents_beats(h->v[child], last))
			break;
		h->v[i] = h->v[child];
		i = child;
	}
	h->v[i] = last;
}

/* Append, or lengthen the last one when this carries it on. */
static bool extents_emit(struct extents *out, const struct extent *from, uint64_t start,
			 uint64_t end)
{
	bool has = extents_stored(from);
	uint64_t off = has ? from->off + (start - from->start) : 0;
	struct extent *last = out->n ? &out->v[out->n - 1] : NULL;

	if (last && extents_end_of(last) == start && last->kind == from->kind &&
	    (!has || last->off + last->len == off)) {
		last->len += end - start;
		return true;
	}
	if (!ARRAY_ROOM(out->v, out->n, out->cap))
		return false;
	out->v[out->n++] = (struct extent){
		.start = start, .len = end - start, .off = off,
		.kind = from->kind,
	};
	return true;
}

/*
 * One pass over the addresses, upwards: QEMU's `paging` dumps name the same
 * memory 65 thousand times over, so comparing every range with every other
 * one is out of the question.
 */
static bool extents_sweep(const struct extents *in, struct extents_heap *h,
			  struct extents *out)
{
	uint64_t pos = 0;
	size_t i = 0;

	while (i < in->n || h->n) {
		uint64_t stop;

		if (!h->n)
			pos = in->v[i].start;
		while (i < in->n && in->v[i].start == pos)
			extents_heap_push(h, &in->v[i++]);
		while (h->n && extents_end_of(h->v[0]) <= pos)
			extents_heap_pop(h);
		if (!h->n)
			continue;
		stop = extents_end_of(h->v[0]);
		if (i < in->n && in->v[i].start < stop)
			stop = in->v[i].start;
		if (!extents_emit(out, h->v[0], pos, stop))
			return false;
		pos = stop;
	}
	return true;
}

int extents_build(struct extents *x, struct atw_err *err)
{
	struct extents out = { .hot = &nowhere };
	_auto_free const struct extent **room = NULL;
	struct extents_heap h;

	room = malloc((x->n + 1) * sizeof(*room));
	if (x->n)
		qsort(x->v, x->n, sizeof(*x->v), extents_by_start);
	h = (struct extents_heap){room, 0};
	if (!room || !extents_sweep(x, &h, &out)) {
		extents_deinit(&out);
		return atw_err_nomem(err);
	}
	extents_deinit(x);
	*x = out;
	return ATW_OK;
}

const struct extent *extents_search(struct extents *x, uint64_t pa)
{
	size_t i = SORTED_UP_TO(x->v, x->n, start, pa);

	if (!i || pa - x->v[i - 1].start >= x->v[i - 1].len)
		return NULL;
	x->hot = &x->v[i - 1];
	return x->hot;
}

int extents_extent(struct extents *x, atw_pa pa, struct atw_extent *ret)
{
	const struct extent *e = extents_find(x, pa.u);
	size_t next;

	if (e) {
		*ret = (struct atw_extent){
			pa, e->len - (pa.u - e->start), e->kind,
		};
		return ATW_OK;
	}
	next = SORTED_UP_TO(x->v, x->n, start, pa.u);
	if (next == x->n)
		return ATW_END;
	*ret = (struct atw_extent){ pa, x->v[next].start - pa.u, ATW_NONE };
	return ATW_OK;
}

uint64_t extents_total(const struct extents *x, enum atw_extent_kind kind)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].kind == kind)
			sum += x->v[i].len;
	return sum;
}
