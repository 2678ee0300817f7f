/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slab_caches.c - the kernel's slab caches, with the sums of /proc/slabinfo: mm/slub.c,
 * get_slabinfo(). A kernel without CONFIG_SLUB_DEBUG does not count its slabs.
 */
#include "linux/machine.h"

#include <inttypes.h>

#include "linux/kernel.h"

enum {
	CACHES = 65536,              /* limit of a list that may be circular */
	PARTIAL = 1 << 20,           /* limit of partial slabs whose free objects are
				      * counted */
	NODES = 1024,
	OO_SHIFT = 16,               /* order of a slab, above the number of its
				      * objects */
	ORDER = 30,
};

static const enum need_member wanted[] = {
	N_cache_name, N_cache_list, N_cache_size, N_cache_oo, N_cache_node, N_cache_node_slabs,
	N_cache_node_objects,
};

static unsigned slab_caches_node_count(const struct members *v)
{
	uint32_t n = 1;

	if (v->n->symbol[Y_nr_node_ids] &&
	    kmem_u32(v->m, v->n->symbol[Y_nr_node_ids], &n, NULL) < 0)
		n = 1;
	return n && n <= NODES ? n : 1;
}

/* The address of the pointer to a cache's struct for node i. */
static uint64_t slab_caches_node_link(const struct members *v, uint64_t cache, unsigned i)
{
	uint64_t at = cache + v->n->member[N_cache_node];
	uint32_t each = v->n->size[S_cache_per_node];

	if (!each || !member_have(v, N_cache_per_node_node))
		return at + i * (uint64_t)8;
	return at + i * (uint64_t)each + v->n->member[N_cache_per_node_node];
}

/* Free objects in partial slabs; false: not known. */
static bool slab_caches_add_free(const struct members *v, uint64_t node, uint64_t *sum)
{
	uint64_t head, link, many;

	if (!member_have(v, N_cache_node_partial) || !member_have(v, N_slab_list) ||
	    !member_have(v, N_slab_counters) ||
	    member_get(v, node, N_cache_node_npartial, &many, NULL) < 0 || many > PARTIAL)
		return false;
	head = link = node + v->n->member[N_cache_node_partial];
	for (uint64_t i = 0; i <= many; i++) {
		uint64_t slab, counters, in_use, objects;

		if (kmem_u64(v->m, link, &link, NULL) < 0)
			return false;
		if (link == head)
			return i == many;
		slab = link - v->n->member[N_slab_list];
		/*
		 * inuse:16, objects:15, frozen:1; also if the word has further bits
		 * behind them.
		 */
		if (member_get(v, slab, N_slab_counters, &counters, NULL) < 0)
			return false;
		in_use = counters & 0xffff;
		objects = counters >> 16 & 0x7fff;
		if (in_use > objects)
			return false;
		*sum += objects - in_use;
	}
	return false;
}

static int slab_caches_one(const struct members *v, uint64_t cache, unsigned nodes,
			   struct slab_cache *ret, struct atw_err *err)
{
	uint64_t name = 0, oo = 0, at, unused = 0;
	struct capture_slab s = { .has_active = true };
	int r = member_get(v, cache, N_cache_name, &name, err) ?:
		kmem_text(v->m, name, ret->name, sizeof(ret->name), err) ?:
		member_get(v, cache, N_cache_size, &s.size, err) ?:
		member_get(v, cache, N_cache_oo, &oo, err);

	for (unsigned i = 0; i < nodes && r == ATW_OK; i++) {
		uint64_t slabs = 0, objects = 0;

		r = kmem_u64(v->m, slab_caches_node_link(v, cache, i), &at, err);
		if (r < 0 || !at)
			continue;
		r = member_get(v, at, N_cache_node_slabs, &slabs, err) ?:
		    member_get(v, at, N_cache_node_objects, &objects, err);
		s.has_active = s.has_active && slab_caches_add_free(v, at, &unused);
		s.slabs += slabs;
		s.objects += objects;
	}
	if (r < 0)
		return r;
	if (oo >> OO_SHIFT > ORDER || s.slabs >> 40 || s.objects >> 56 || unused > s.objects)
		return atw_err_set(err, ATW_E_DAMAGED, "slab cache at 0x%" PRIx64
				   ": has counts that cannot be", cache);
	s.pages = s.slabs << (oo >> OO_SHIFT);
	s.active = s.has_active ? s.objects - unused : 0;
	ret->slab = s;
	return ATW_OK;
}

int slab_caches(struct atw_kernel *k, slab_cache_fn *emit, void *arg, struct atw_err *err)
{
	struct members v = { .n = kernel_needs(k) };
	uint64_t head = v.n->symbol[Y_slab_caches], link = head, n = 0;
	unsigned nodes;
	int r = kernel_kmem(k, &v.m, err);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && r == ATW_OK; i++)
		if (!head || !member_have(&v, wanted[i]))
			r = atw_err_set(err, ATW_E_UNSUPPORTED,
					"cannot find slab caches: symbols or types are missing");
	if (r < 0)
		return r;
	nodes = slab_caches_node_count(&v);
	while ((r = kmem_u64(v.m, link, &link, err)) == ATW_OK && link != head) {
		struct slab_cache c;

		if (n++ == CACHES)
			return atw_err_set(err, ATW_E_DAMAGED, "the list of slab caches has no end");
		r = slab_caches_one(&v, link - v.n->member[N_cache_list], nodes, &c, err);
		if (r == ATW_OK)
			r = emit(arg, &c, err);
		if (r < 0)
			return r;
	}
	return r;
}
