// SPDX-License-Identifier: GPL-2.0-or-later
/* extents.c - map from physical addresses to places in a file. */
#include "source/extents.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
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
		return atw_err_set(err, ATW_E_LIMIT, "more than 2^32 ranges of memory");
	if (!ARRAY_ROOM(x->v, x->n, x->cap))
		return atw_err_nomem(err);
	x->v[x->n] = (struct extent){
		.start = start, .len = len, .off = off,
		.order = x->n, .kind = kind,
		.placed = kind == ATW_DATA || kind == ATW_ZERO,
	};
	x->n++;
	return ATW_OK;
}

int extents_build(struct extents *x, struct atw_err *err)
{
	if (!overlay(&x->v, &x->n, &x->cap))
		return atw_err_nomem(err);
	x->hot = &nowhere;
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
