/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memcg.c - the memory cgroup that a page is charged to, by its number in
 * /proc/kpagecgroup: mm/memcontrol.c, page_cgroup_ino().
 *
 * The first page of a folio has a mem_cgroup or, for kernel allocations
 * (MEMCG_DATA_KMEM), an obj_cgroup that has one; before 87eaceb3faa5 (5.11) in a member
 * of another name. A cgroup and the kernfs node of its folder point to each other, which
 * verifies the pointer.
 */
#include "linux/memmap.h"

enum {
	OBJECTS = 1, KERNEL = 2, FLAGS = 7,      /* enum page_memcg_data_flags */
	ONLINE = 2,                              /* CSS_ONLINE */
	PARENTS = 64,
};

/* Charges of a removed cgroup belong to its parent. */
static bool memcg_number_of(const struct atw_memmap *m, uint64_t memcg, uint64_t *ret)
{
	uint64_t css = memcg + kernel_needs(m->k)->member[N_memcg_css];
	uint64_t flags = 0, cgroup = 0, node = 0, owner = 0;

	for (unsigned i = 0; i < PARENTS; i++) {
		if (!kernel_member(m->k, css, N_css_flags, &flags))
			return false;
		if (flags & ONLINE)
			break;
		if (!kernel_member(m->k, css, N_css_parent, &css) || !css)
			return false;
	}
	return kernel_member(m->k, css, N_css_cgroup, &cgroup) &&
	       kernel_member(m->k, cgroup, N_cgroup_kn, &node) &&
	       kernel_member(m->k, node, N_kernfs_priv, &owner) && owner == cgroup &&
	       kernel_member(m->k, node, N_kernfs_id, ret);
}

static bool memcg_find(const struct atw_memmap *m, uint64_t data, uint64_t *ret)
{
	uint64_t memcg = data & ~(uint64_t)FLAGS;

	*ret = 0;
	/* The objects of a slab have an obj_cgroup each. */
	if (!memcg || data & OBJECTS)
		return true;
	if (!(data & KERNEL) && memcg_number_of(m, memcg, ret))
		return true;
	return kernel_member(m->k, memcg, N_objcg_memcg, &memcg) &&
	       memcg_number_of(m, memcg, ret);
}

int atw_memmap_cgroup(struct atw_memmap *m, uint64_t pfn, uint64_t *ret)
{
	struct cgroup_name *c;
	uint8_t buf[PAGE_STRUCT_MAX];
	const struct needs *n;
	enum need_member id;
	const uint8_t *p;
	uint64_t data;

	n = kernel_needs(m->k);
	id = n->member[N_page_memcg_data] != NEED_NONE ? N_page_memcg_data : N_page_mem_cgroup;
	if (n->member[id] == NEED_NONE || n->member[id] > m->where.size - 8 ||
	    n->member[N_memcg_css] == NEED_NONE)
		return ATW_E_UNSUPPORTED;
	p = memmap_bytes(m->kmem, &m->where, pfn, buf, NULL);
	if (!p)
		return ATW_E_MISSING;
	data = get_le64(p + n->member[id]);
	c = &m->cgroup[data / 64 % CGROUP_NAMES];
	if (!c->known || c->data != data) {
		*c = (struct cgroup_name){ .data = data };
		c->found = memcg_find(m, data, &c->number);
		c->known = true;
	}
	if (!c->found)
		return ATW_E_DAMAGED;
	*ret = c->number;
	return ATW_OK;
}
