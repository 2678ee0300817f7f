/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_overlap.c - physical memory that rows of two kinds have in common. */
#include "check_overlap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/schema.h"

bool check_overlap_columns(const struct atw_schema *sc, struct check_overlap_columns *ret)
{
	ret->physical = schema_find(sc, "physical", strlen("physical"));
	ret->size = schema_find(sc, "size", strlen("size"));
	ret->address = schema_find(sc, "address", strlen("address"));
	ret->pid = schema_find(sc, "pid", strlen("pid"));
	return ret->physical >= 0 && ret->size >= 0;
}

static bool check_overlap_has(const struct atw_row *row, int column)
{
	return column >= 0 && row->have >> column & 1;
}

int check_overlap_add(struct check_ranges *r, const struct check_overlap_columns *c,
		      const struct atw_row *row)
{
	/* A table is at least where it begins. */
	uint64_t size = check_overlap_has(row, c->size) ? row->v[c->size].u : 1;
	struct check_range *range;

	if (!check_overlap_has(row, c->physical) ||
	    size > UINT64_MAX - row->v[c->physical].u)
		return 0;
	if (!array_reserve((void **)&r->v, &r->cap, r->n + 1, sizeof(*r->v)))
		return ATW_E_NOMEM;
	range = &r->v[r->n++];
	*range = (struct check_range){
		.first = row->v[c->physical].u, .size = size,
		.has_address = check_overlap_has(row, c->address),
		.has_pid = check_overlap_has(row, c->pid),
	};
	if (range->has_address)
		range->address = row->v[c->address].u;
	if (range->has_pid)
		range->pid = row->v[c->pid].u;
	return 1;
}

static int check_overlap_order(const void *a, const void *b)
{
	const struct check_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* From range *at on: the next stretch of memory that is in any of the ranges. */
static bool check_overlap_next(const struct check_ranges *r, size_t *at, uint64_t *first,
			       uint64_t *end)
{
	if (*at == r->n)
		return false;
	*first = r->v[*at].first;
	*end = *first + r->v[*at].size;
	for (++*at; *at < r->n && r->v[*at].first <= *end; ++*at)
		if (r->v[*at].first + r->v[*at].size > *end)
			*end = r->v[*at].first + r->v[*at].size;
	return true;
}

static void check_overlap_say_one(struct buf *b, const struct check_ranges *r,
				  uint64_t at)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct check_range *x = &r->v[i];

		if (at < x->first || at - x->first >= x->size)
			continue;
		if (x->has_address)
			buf_printf(b, " address=0x%" PRIx64,
				   x->address + (at - x->first));
		if (x->has_pid)
			buf_printf(b, " pid=%" PRIu64, x->pid);
		return;
	}
}

static void check_overlap_say(struct buf *b, const struct check_ranges side[2],
			      uint64_t first, uint64_t size)
{
	buf_printf(b, "%sphysical=0x%" PRIx64 " size=%" PRIu64, b->len ? "; " : "", first,
		   size);
	check_overlap_say_one(b, &side[0], first);
	buf_str(b, " and");
	check_overlap_say_one(b, &side[1], first);
}

uint64_t check_overlap(struct check_ranges side[2], unsigned shown, struct buf *what,
		       uint64_t *more)
{
	uint64_t first[2], end[2], bytes = 0;
	size_t at[2] = {0};
	bool going = true;

	*more = 0;
	for (int i = 0; i < 2; i++) {
		if (side[i].n)
			qsort(side[i].v, side[i].n, sizeof(*side[i].v),
			      check_overlap_order);
		going &= check_overlap_next(&side[i], &at[i], &first[i], &end[i]);
	}
	while (going) {
		uint64_t from = first[0] > first[1] ? first[0] : first[1];
		uint64_t to = end[0] < end[1] ? end[0] : end[1];
		int behind = end[0] <= end[1] ? 0 : 1;

		if (from < to) {
			bytes += to - from;
			if (shown && shown--)
				check_overlap_say(what, side, from, to - from);
			else
				++*more;
		}
		going = check_overlap_next(&side[behind], &at[behind], &first[behind],
					   &end[behind]);
	}
	return bytes;
}
