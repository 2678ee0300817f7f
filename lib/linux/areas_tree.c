// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * areas_tree.c - the maple tree of an mm_struct, slot by slot. It has a limit of nodes and of
 * depth, and each node must point to its parent, so a damaged tree ends.
 */
#include "linux/areas_tree.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"

enum { AREAS_NODES = 1 << 20 };          /* ten slots each; vm.max_map_count is 65530 */

/* ---- layout ---- */

static struct maple_shape areas_shape(const struct needs *n, enum need_member pivot,
				      enum need_member slot)
{
	uint32_t p = n->member[pivot], s = n->member[slot];

	if (p == NEED_NONE || s == NEED_NONE || s < p || s > UINT16_MAX)
		return (struct maple_shape){ 0 };
	return (struct maple_shape){ (uint16_t)p, (uint16_t)s, (uint16_t)((s - p) / 8 + 1) };
}

static uint8_t areas_number(const struct needs *n, enum need_const c, uint8_t usual)
{
	return n->have_const[c] ? (uint8_t)n->constant[c] : usual;
}

static struct maple_layout areas_layout_of(const struct needs *n)
{
	struct maple_shape range = areas_shape(n, N_range64_pivot, N_range64_slot);

	return (struct maple_layout){
		.size = n->size[S_maple_node],
		.number[MAPLE_LEAF] = areas_number(n, C_maple_leaf_64, 1),
		.number[MAPLE_RANGE] = areas_number(n, C_maple_range_64, 2),
		.number[MAPLE_ARANGE] = areas_number(n, C_maple_arange_64, 3),
		.shape[MAPLE_LEAF] = range, .shape[MAPLE_RANGE] = range,
		.shape[MAPLE_ARANGE] = areas_shape(n, N_arange64_pivot, N_arange64_slot),
	};
}

/* ---- nodes ---- */

void areas_tree_one_by_one(struct areas_tree *t, const struct members *v)
{
	t->ahead = false;
	if (v->ahead)
		kmem_ahead_forget(v->ahead);
}

static int areas_read_node(const struct areas_tree *t, const struct members *v, uint64_t at,
			   unsigned char bytes[MAPLE_NODE_MAX], struct atw_err *err)
{
	const void *copy = t->ahead ? kmem_ahead_find(v->ahead, at, MAPLE_NODE_MAX) : NULL;

	if (!copy)
		return kmem_read(v->m, at, bytes, MAPLE_NODE_MAX, err);
	memcpy(bytes, copy, MAPLE_NODE_MAX);
	return ATW_OK;
}

/* Push the node that an entry points to. */
static int areas_push(struct areas_tree *t, const struct members *v, uint64_t ended,
		      const struct maple_slot *slot, struct atw_err *err)
{
	struct areas_level *l = &t->level[t->depth];
	uint64_t at = maple_node(slot->entry), parent;
	enum maple_type type = maple_type_of(&t->layout, slot->entry);
	int r;

	if (t->nodes++ >= AREAS_NODES)
		return atw_err_set(err, ATW_E_LIMIT, "its tree has more than %d nodes", AREAS_NODES);
	if (type == MAPLE_TYPES)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "node at 0x%" PRIx64 " of its tree is of no known type", at);
	if (t->depth == AREAS_DEPTH)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "node at 0x%" PRIx64 " of its tree lies too deep", at);
	r = areas_read_node(t, v, at, l->bytes, err);
	if (r < 0)
		return atw_err_wrap(err, "a node of its tree");
	/* The parent pointer of the root node points to the tree. */
	parent = maple_node(get_le64(l->bytes));
	if (t->depth && parent != l[-1].at)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "node at 0x%" PRIx64 " of its tree: its parent is 0x%" PRIx64
				   ", not 0x%" PRIx64, at, parent, l[-1].at);
	l->at = at;
	l->type = type;
	l->first = slot->first;
	l->last = slot->last;
	l->next = 0;
	t->depth++;
	/* Leaves below the same node were read together. */
	if (t->ahead && (type != MAPLE_LEAF || t->depth == 1) &&
	    !areas_ahead(v, &t->layout, slot->entry, l->bytes, slot->first, slot->last, ended,
			 !t->unnamed))
		areas_tree_one_by_one(t, v);
	return ATW_OK;
}

/* ---- the tree ---- */

int areas_tree_start(struct areas_tree *t, const struct members *v, uint64_t mm, uint64_t ended,
		     struct atw_err *err)
{
	struct maple_slot all = { .last = UINT64_MAX };
	int r = member_get(v, mm, N_mm_ma_root, &all.entry, err);

	t->depth = t->nodes = 0;
	if (r < 0)
		return r;
	t->root = all.entry;
	t->layout = areas_layout_of(v->n);
	if (!maple_layout_good(&t->layout))
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "this kernel's trees of areas are not of a kind that is known");
	if (maple_is_root(t->root))
		return areas_push(t, v, ended, &all, err);
	/*
	 * A VMA covers many addresses, while a tree without nodes only has an entry for
	 * 0.
	 */
	return !maple_is_pointer(t->root) ? ATW_OK :
		atw_err_set(err, ATW_E_DAMAGED, "0x%" PRIx64 " is not the root of a tree", t->root);
}

int areas_tree_next(struct areas_tree *t, const struct members *v, uint64_t ended, uint64_t from,
		    struct maple_slot *ret, struct atw_err *err)
{
	while (t->depth) {
		struct areas_level *l = &t->level[t->depth - 1];
		struct maple_slot prev = l->slot;
		int r = maple_slot(&t->layout, l->type, l->bytes, l->first, l->last,
				   l->next, &prev, &l->slot);

		if (r == ATW_END) {
			t->depth--;
			continue;
		}
		if (r < 0) {
			t->depth--;
			return atw_err_set(err, r, "node at 0x%" PRIx64
					   " of its tree: slot %u answers for addresses that it cannot",
					   l->at, l->next);
		}
		l->next++;
		if (l->slot.last < from)
			continue;
		if (l->type != MAPLE_LEAF) {
			r = areas_push(t, v, ended, &l->slot, err);
			if (r < 0)
				return r;
		} else if (maple_is_pointer(l->slot.entry)) {
			*ret = l->slot;
			return ATW_OK;
		}
	}
	return ATW_END;
}

/* The lowest node is checked first. */
bool areas_tree_holds(const struct areas_tree *t, const struct members *v, uint64_t mm)
{
	unsigned char bytes[MAPLE_NODE_MAX];
	uint64_t root;

	for (unsigned d = t->depth; d-- > 0;) {
		const struct areas_level *l = &t->level[d];
		const struct maple_shape *s = &t->layout.shape[l->type];
		struct maple_slot prev = { .last = l->slot.first - 1 }, is;
		unsigned i = l->next - 1;

		if (kmem_read(v->m, l->at, bytes, sizeof(bytes), NULL) < 0 ||
		    get_le64(bytes) != get_le64(l->bytes) ||
		    (i && get_le64(bytes + s->pivot + 8 * (i - 1)) != prev.last) ||
		    maple_slot(&t->layout, l->type, bytes, l->first, l->last, i, &prev,
			       &is) < 0 ||
		    is.last != l->slot.last || is.entry != l->slot.entry)
			return false;
	}
	return member_get(v, mm, N_mm_ma_root, &root, NULL) == ATW_OK && root == t->root;
}
