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
#include <string.h>

#include "base/cleanup.h"
#include "linux/areas.h"
#include "linux/memmap.h"

enum {
	OBJECTS = 1, KERNEL = 2, FLAGS = 7,      /* enum page_memcg_data_flags */
	ONLINE = 2,                              /* CSS_ONLINE */
	PARENTS = 64,                            /* limit of folders in a path, too */
};

/* The folder of a cgroup; charges of a removed one belong to its parent. */
static bool memcg_node_of(const struct atw_memmap *m, uint64_t memcg, uint64_t *ret)
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
	if (!kernel_member(m->k, css, N_css_cgroup, &cgroup) ||
	    !kernel_member(m->k, cgroup, N_cgroup_kn, &node) ||
	    !kernel_member(m->k, node, N_kernfs_priv, &owner) || owner != cgroup)
		return false;
	*ret = node;
	return true;
}

/* 0: it is charged to none. */
static bool memcg_find(const struct atw_memmap *m, uint64_t data, uint64_t *ret)
{
	uint64_t memcg = data & ~(uint64_t)FLAGS;

	*ret = 0;
	/* The objects of a slab have an obj_cgroup each. */
	if (!memcg || data & OBJECTS)
		return true;
	if (!(data & KERNEL) && memcg_node_of(m, memcg, ret))
		return true;
	return kernel_member(m->k, memcg, N_objcg_memcg, &memcg) &&
	       memcg_node_of(m, memcg, ret);
}

static bool memcg_number(const struct atw_memmap *m, uint64_t data, uint64_t *ret)
{
	uint64_t node;

	if (!memcg_find(m, data, &node))
		return false;
	*ret = 0;
	return !node || kernel_member(m->k, node, N_kernfs_id, ret);
}

uint32_t memcg_member(const struct atw_memmap *m)
{
	const struct needs *n = kernel_needs(m->k);
	uint32_t at = n->member[N_page_memcg_data] != NEED_NONE ? n->member[N_page_memcg_data]
							      : n->member[N_page_mem_cgroup];

	return at == NEED_NONE || at > m->where.size - 8 || n->member[N_memcg_css] == NEED_NONE
		       ? NEED_NONE : at;
}

int atw_memmap_cgroup(struct atw_memmap *m, uint64_t pfn, uint64_t *ret)
{
	const uint32_t at = memcg_member(m);
	struct cgroup_name *c;
	uint8_t buf[PAGE_STRUCT_MAX];
	const uint8_t *p;
	uint64_t data;

	if (at == NEED_NONE)
		return ATW_E_UNSUPPORTED;
	p = memmap_bytes(m->kmem, &m->where, pfn, buf, NULL);
	if (!p)
		return ATW_E_MISSING;
	data = get_le64(p + at);
	c = &m->cgroup[data / 64 % CGROUP_NAMES];
	if (!c->known || c->data != data) {
		*c = (struct cgroup_name){ .data = data };
		c->found = memcg_number(m, data, &c->number);
		c->known = true;
	}
	if (!c->found)
		return ATW_E_DAMAGED;
	*ret = c->number;
	return ATW_OK;
}

/* ---- paths ---- */

/* Built backwards, as the names are found. */
bool cgroup_path(const struct members *v, uint64_t node, char *buf, size_t len)
{
	static const enum need_member id[] = { N_kernfs_parent, N_kernfs_name };
	size_t at = len - 1;
	char name[256];

	buf[at] = '\0';
	for (unsigned i = 0; i < PARENTS && node; i++) {
		uint64_t up = 0, text = 0;
		bool read;
		size_t n;

		members_hold(v, node, id, ARRAY_SIZE(id));
		read = member_get(v, node, N_kernfs_parent, &up, NULL) == ATW_OK;
		if (member_get(v, node, N_kernfs_name, &text, NULL) != ATW_OK)
			text = 0;
		members_release(v);
		if (!read)
			return false;
		if (!up) {               /* the root has no name */
			if (at == len - 1)
				buf[--at] = '/';
			memmove(buf, buf + at, len - at);
			return true;
		}
		if (!text || kmem_text(v->m, text, name, sizeof(name), NULL) < 0)
			return false;
		n = strlen(name);
		if (n + 1 > at)
			return false;
		at -= n;
		memcpy(buf + at, name, n);
		buf[--at] = '/';
		node = up;
	}
	return false;
}

bool memcg_path(const struct atw_memmap *m, uint64_t data, char *buf, size_t len)
{
	const struct members v = { .n = kernel_needs(m->k), .m = m->kmem };
	uint64_t node;

	return memcg_find(m, data, &node) && node && cgroup_path(&v, node, buf, len);
}
