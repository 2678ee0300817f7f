/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.c - NUMA node of a frame; zones.
 *
 * page->flags contains it, but its bits depend on the configuration and are not recorded
 * anywhere. The pglist_data of each node has its range of frames. If that array cannot be
 * found, a machine with one node does not need it.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "linux/machine.h"
#include "linux/memmap.h"

enum { NODES_MAX = 1024, ZONES_MAX = 16 };

static uint32_t node_member(const struct atw_kernel *k, uint32_t from_types,
			    const char *key)
{
	uint64_t u;

	if (k->have_vi && atw_vmcoreinfo_u64(&k->vi, key, &u) == ATW_OK && u < NEED_NONE)
		return (uint32_t)u;
	return from_types;
}

static int node_add(struct nodes *n, size_t *cap, struct node_span s)
{
	if (!array_reserve((void **)&n->v, cap, n->n + 1, sizeof(*n->v)))
		return ATW_E_NOMEM;
	for (size_t i = 0; i < n->n; i++)
		if (s.start < n->v[i].end && n->v[i].start < s.end)
			n->overlap = true;
	n->v[n->n++] = s;
	return ATW_OK;
}

static int node_one(struct kmem *m, const uint32_t at[3], uint64_t pgdat, uint32_t id,
		    struct nodes *n, size_t *cap)
{
	uint64_t start, pages;
	uint32_t number = id;

	if (kmem_u64(m, pgdat + at[0], &start, NULL) < 0 ||
	    kmem_u64(m, pgdat + at[1], &pages, NULL) < 0 || !pages ||
	    start + pages < start)
		return ATW_OK;
	if (at[2] != NEED_NONE &&
	    (kmem_u32(m, pgdat + at[2], &number, NULL) < 0 || number != id))
		return ATW_OK;
	return node_add(n, cap, (struct node_span){start, start + pages, id, pgdat});
}

/* Is its bit known to be clear in node_online_map? */
static bool node_is_offline(struct kmem *m, uint64_t map, uint32_t id)
{
	uint64_t word;

	return map && kmem_u64(m, map + id / 64 * 8, &word, NULL) == ATW_OK &&
	       !(word >> id % 64 & 1);
}

/* The only bit of node_online_map; false: several, or not known. */
static bool node_only(struct atw_kernel *k, struct kmem *m, uint64_t at, uint32_t *ret)
{
	uint64_t bytes = 8, word;
	unsigned found = 0;

	if (!at)
		return false;
	if (k->have_vi)
		atw_vmcoreinfo_u64(&k->vi, "SIZE(nodemask_t)", &bytes);
	for (uint64_t i = 0; i < bytes / 8 && i < NODES_MAX / 64; i++) {
		if (kmem_u64(m, at + i * 8, &word, NULL) < 0)
			return false;
		if (!word)
			continue;
		if (found++ || word & (word - 1))
			return false;
		*ret = (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(word);
	}
	return found;
}

static int node_spans_init(struct atw_kernel *k, struct kmem *m, struct nodes *ret)
{
	const struct needs *n = kernel_needs(k);
	const uint32_t at[3] = {
		node_member(k, n->member[N_node_start],
			    "OFFSET(pglist_data.node_start_pfn)"),
		node_member(k, n->member[N_node_spanned],
			    "OFFSET(pglist_data.node_spanned_pages)"),
		node_member(k, n->member[N_node_id], "OFFSET(pglist_data.node_id)"),
	};
	uint64_t data = n->symbol[Y_node_data], pgdat, len = 64;
	size_t cap = 0;
	int r = ATW_OK;

	if (k->have_vi && !data)
		atw_vmcoreinfo_u64(&k->vi, "SYMBOL(node_data)", &data);
	if (k->have_vi && atw_vmcoreinfo_u64(&k->vi, "LENGTH(node_data)", &len) == ATW_OK &&
	    len > NODES_MAX)
		len = NODES_MAX;
	if (at[0] == NEED_NONE || at[1] == NEED_NONE)
		return ATW_OK;
	if (!data && n->symbol[Y_contig_page_data])
		return node_add(ret, &cap, (struct node_span){0, UINT64_MAX, 0, n->symbol[Y_contig_page_data]});
	/* Bytes behind a shorter array do not look like a valid pointer. */
	for (uint32_t i = 0; data && i < len && r == ATW_OK; i++) {
		if (kmem_u64(m, data + i * 8, &pgdat, NULL) < 0)
			break;
		if (pgdat && !node_is_offline(m, n->symbol[Y_node_online_map], i))
			r = node_one(m, at, pgdat, i, ret, &cap);
	}
	return r;
}

int nodes_init(struct atw_kernel *k, struct kmem *m, struct nodes *ret)
{
	size_t cap = 0;
	uint32_t id;

	*ret = (struct nodes){ 0 };
	if (node_only(k, m, kernel_needs(k)->symbol[Y_node_online_map], &id))
		return node_add(ret, &cap, (struct node_span){0, UINT64_MAX, id, 0});
	return node_spans_init(k, m, ret);
}

int atw_kernel_node(struct atw_kernel *k, size_t i, struct atw_node *ret,
		    struct atw_err *err)
{
	struct nodes n = { 0 };
	struct kmem *m;
	int r = kernel_kmem(k, &m, err) ?: node_spans_init(k, m, &n);

	if (r == ATW_OK && !n.n)
		r = atw_err_set(err, ATW_E_MISSING, "the descriptions of nodes cannot be found");
	else if (r == ATW_OK && i >= n.n)
		r = ATW_END;
	else if (r == ATW_OK)
		*ret = (struct atw_node){ n.v[i].id, n.v[i].start,
					  n.v[i].end - n.v[i].start };
	free(n.v);
	return r;
}

/* ---- zones ---- */

static int node_add_zone(const struct members *v, uint64_t zone, uint32_t node,
			 struct zone_spans *ret)
{
	struct zone_span s = { .node = node };
	uint64_t pages, name;

	if (member_get(v, zone, N_zone_start, &s.first, NULL) < 0 ||
	    member_get(v, zone, N_zone_spanned, &pages, NULL) < 0 || !pages ||
	    __builtin_add_overflow(s.first, pages, &s.end) ||
	    member_get(v, zone, N_zone_name, &name, NULL) < 0 ||
	    kmem_text(v->m, name, s.name, sizeof(s.name), NULL) < 0 || !*s.name)
		return ATW_OK;
	return zone_spans_add(ret, &s) ? ATW_OK : ATW_E_NOMEM;
}

void kernel_zones(struct atw_kernel *k, struct zone_spans *ret)
{
	const struct needs *n = kernel_needs(k);
	struct members v = { .n = n };
	struct nodes nodes = { 0 };
	uint64_t zones = 0;
	int r = kernel_kmem(k, &v.m, NULL) ?: node_spans_init(k, v.m, &nodes);

	*ret = (struct zone_spans){ 0 };
	if (!n->size[S_zone] || !member_have(&v, N_node_zones))
		nodes.n = 0;
	for (size_t i = 0; i < nodes.n && r == ATW_OK; i++) {
		if (member_get(&v, nodes.v[i].at, N_node_nzones, &zones, NULL) < 0)
			continue;
		for (uint64_t z = 0; z < MIN(zones, (uint64_t)ZONES_MAX) && r == ATW_OK; z++)
			r = node_add_zone(&v, nodes.v[i].at + n->member[N_node_zones] +
					  z * n->size[S_zone], nodes.v[i].id, ret);
	}
	if (r < 0)
		zone_spans_deinit(ret);
	free(nodes.v);
}

/* ---- frames ---- */

bool nodes_find(struct nodes *n, uint64_t pfn, uint32_t *ret)
{
	if (n->overlap || !n->n)
		return false;
	for (size_t i = n->last, left = n->n; left--; i = i + 1 < n->n ? i + 1 : 0)
		if (pfn >= n->v[i].start && pfn < n->v[i].end) {
			n->last = i;
			*ret = n->v[i].id;
			return true;
		}
	return false;
}

bool nodes_run(struct nodes *n, uint64_t pfn, uint64_t max, uint32_t *ret, uint64_t *same)
{
	uint64_t end = max > UINT64_MAX - pfn ? UINT64_MAX : pfn + max;
	bool found = nodes_find(n, pfn, ret);

	for (size_t i = 0; i < n->n && !n->overlap; i++) {
		uint64_t border = found ? n->v[i].end : n->v[i].start;

		if (border > pfn && border < end && (!found || n->v[i].start <= pfn))
			end = border;
	}
	*same = end - pfn;
	return found;
}
