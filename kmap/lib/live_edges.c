/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/live_edges.h"

void live_edges_free(struct live_edges *x)
{
	table_deinit(&x->sites);
	x->n = 0;
}

static uint32_t live_edges_site_of(struct live_edges *x, uint64_t ip)
{
	uint32_t site = (uint32_t)table_find(&x->sites, ip);

	if (site)
		return site;
	site = kstore_site(x->store, ip);
	if (site && !table_put(&x->sites, ip, site)) {
		x->store->s->count.lost_accesses++;
		return 0;
	}
	return site;
}

void live_edges_add(struct live_edges *x, uint32_t object, uint64_t va, uint64_t ip, uint32_t pid,
		    uint32_t writes, uint32_t reads)
{
	struct kshare *s = x->store->s;
	struct kshare_edge *e;
	uint32_t site;
	int32_t task_id;

	if (atomic_load(&s->gate) & KSHARE_ONE && (int32_t)pid != atomic_load(&s->only_pid)) {
		s->count.unfiltered += reads + writes;
		return;
	}
	site = live_edges_site_of(x, ip);
	task_id = x->named ? kstore_task_of(x->store, (int32_t)pid) : (int32_t)pid & KSHARE_PID;
	e = site ? kstore_edge_for(x->store, object, site, task_id, writes, reads) : NULL;
	if (!e)
		return;
	e->reads += reads;
	e->writes += writes;
	s->count.reads += reads;
	s->count.writes += writes;
	x->n += reads + writes;
	kstore_line(x->store, object, va, writes, reads);
}
