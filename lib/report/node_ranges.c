/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/node_ranges.h"

#include "report/report.h"

struct node_range {
	uint64_t first, last;            /* bytes */
	uint32_t node;
};

void node_ranges_deinit(struct node_ranges *r)
{
	free(r->v);
}

/* R: lines ascend; the node of one that does not is unknown. */
int node_ranges_add(struct node_ranges *r, const struct census_event *ev, struct atw_err *err)
{
	if (!(ev->ram_has & CAPTURE_R_NODE) || ev->ram->node >= NODES ||
	    ev->ram->last < ev->ram->start || (r->n && ev->ram->start <= r->v[r->n - 1].last))
		return ATW_OK;
	if (!ARRAY_ROOM(r->v, r->n, r->cap))
		return atw_err_nomem(err);
	r->v[r->n++] = (struct node_range){
		ev->ram->start, ev->ram->last, (uint32_t)ev->ram->node,
	};
	return ATW_OK;
}

/* The node of a frame; *last is the last byte for which it is valid. */
static uint32_t node_ranges_at(struct node_ranges *r, uint64_t pa, uint64_t *last)
{
	size_t low;

	*last = UINT64_MAX;
	if (r->near < r->n && pa >= r->v[r->near].first && pa <= r->v[r->near].last) {
		*last = r->v[r->near].last;
		return r->v[r->near].node;
	}
	low = SORTED_BELOW(r->v, r->n, last, pa);
	if (low == r->n)
		return NODE_UNKNOWN;
	if (r->v[low].first > pa) {
		*last = r->v[low].first - 1;
		return NODE_UNKNOWN;
	}
	r->near = low;
	*last = r->v[low].last;
	return r->v[low].node;
}

uint64_t node_ranges_next(struct node_ranges *r, const struct census_pages *p, uint64_t page,
			  uint64_t *at, uint32_t *node)
{
	const uint64_t left = p->pages - *at, pa = p->pa + (p->same ? 0 : *at * page);
	uint64_t last, run = left;

	*node = NODE_UNKNOWN;
	if (left && p->known & CENSUS_PA) {
		*node = node_ranges_at(r, pa, &last);
		if (!p->same && (last - pa) / page < left)
			run = (last - pa) / page + 1;
	}
	*at += run;
	return run;
}
