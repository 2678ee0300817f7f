/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas_ahead.c - read-ahead of maple tree leaves and their VMAs. */
#include "linux/areas.h"

#include "base/cleanup.h"

static const enum need_member of_area[] = {
	N_vma_start, N_vma_end, N_vma_flags, N_vma_file, N_vma_pgoff, N_vma_ops,
	N_vma_private, N_vma_anon_name,
};

void area_hold(const struct members *v, uint64_t vma)
{
	members_hold(v, vma, of_area, ARRAY_SIZE(of_area));
}

/* ---- targets of slots ---- */

static void ahead_area(const struct members *v, uint64_t vma)
{
	members_soon(v, vma, of_area, ARRAY_SIZE(of_area));
}

static uint64_t ahead_file_of(const struct members *v, uint64_t vma)
{
	uint64_t file = 0;

	area_hold(v, vma);
	if (member_have(v, N_vma_file))
		member_get(v, vma, N_vma_file, &file, NULL);
	members_release(v);
	return file;
}

static void ahead_file(const struct members *v, uint64_t vma)
{
	uint64_t file = ahead_file_of(v, vma);

	if (file)
		names_soon_file(v, file);
}

static void ahead_dentry(const struct members *v, uint64_t vma)
{
	uint64_t file = ahead_file_of(v, vma);

	if (file)
		names_soon_dentry(v, file);
}

/* ---- nodes ---- */

struct ahead_leaf {
	uint64_t at, first, last;
};

struct leaves {
	const struct members *v;
	const struct maple_layout *l;
	uint64_t from;
	struct ahead_leaf leaf[MAPLE_NODE_MAX / 8];
	unsigned n;
};

/* Add a part of each VMA to the read-ahead, and read it. */
static void areas_ahead_leaves_read(const struct leaves *t,
				    void (*soon)(const struct members *v, uint64_t vma))
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct ahead_leaf *f = &t->leaf[i];
		const void *p = kmem_ahead_find(t->v->ahead, f->at, MAPLE_NODE_MAX);
		struct maple_slot s = { 0 }, prev;

		for (unsigned k = 0; p; k++) {
			prev = s;
			if (maple_slot(t->l, MAPLE_LEAF, p, f->first, f->last, k, &prev, &s) !=
			    ATW_OK)
				break;
			if (maple_is_pointer(s.entry) && s.last >= t->from)
				soon(t->v, s.entry);
		}
	}
	kmem_ahead_read(t->v->ahead);
}

/* The children of a node. */
static void areas_ahead_leaves_announce(struct leaves *t, enum maple_type type,
					const void *bytes, uint64_t first, uint64_t last)
{
	struct maple_slot s = { 0 }, prev;

	for (unsigned k = 0; prev = s, maple_slot(t->l, type, bytes, first, last, k, &prev, &s) ==
				       ATW_OK; k++)
		if (maple_type_of(t->l, s.entry) == MAPLE_LEAF && s.last >= t->from) {
			kmem_ahead_add(t->v->ahead, maple_node(s.entry), MAPLE_NODE_MAX);
			t->leaf[t->n++] = (struct ahead_leaf){
				maple_node(s.entry), s.first, s.last,
			};
		}
}

bool areas_ahead(const struct members *v, const struct maple_layout *l, uint64_t entry,
		 const void *bytes, uint64_t first, uint64_t last, uint64_t from, bool named)
{
	struct leaves t = { .v = v, .l = l, .from = from };
	enum maple_type type = maple_type_of(l, entry);

	kmem_ahead_forget(v->ahead);
	if (type != MAPLE_LEAF) {
		areas_ahead_leaves_announce(&t, type, bytes, first, last);
	} else {
		kmem_ahead_add(v->ahead, maple_node(entry), MAPLE_NODE_MAX);
		t.leaf[t.n++] = (struct ahead_leaf){ maple_node(entry), first, last };
	}
	if (!t.n)
		return true;
	kmem_ahead_read(v->ahead);
	areas_ahead_leaves_read(&t, ahead_area);
	if (named) {
		areas_ahead_leaves_read(&t, ahead_file);
		areas_ahead_leaves_read(&t, ahead_dentry);
	}
	/* The stamp of older kernels does not reflect each change. */
	return kmem_ahead_same(v->ahead, t.n);
}
