// SPDX-License-Identifier: GPL-2.0-or-later
/* maple.c - decoder of maple tree nodes. */
#include "linux/areas.h"

#include "base/bytes.h"

/*
 * lib/maple_tree.c: nodes are aligned to 256, and pointers to them have their type in
 * bits 3 to 6. That of the root is an internal entry of an xarray (its low bits are 10),
 * because the root may also be a plain pointer.
 */
enum {
	INTERNAL = 2, KIND = 3,
	LOWEST = 4096,           /* small internal entries are marks */
	TYPE_SHIFT = 3, TYPE_MASK = 15,
};

bool maple_layout_good(const struct maple_layout *l)
{
	if (l->size != MAPLE_NODE_MAX)
		return false;
	for (unsigned t = 0; t < MAPLE_TYPES; t++) {
		const struct maple_shape *s = &l->shape[t];

		if (s->slots < 2 || s->slots > MAPLE_NODE_MAX / 8 ||
		    s->pivot > MAPLE_NODE_MAX - 8 * (s->slots - 1) ||
		    s->slot > MAPLE_NODE_MAX - 8 * s->slots)
			return false;
	}
	return true;
}

bool maple_is_root(uint64_t entry)
{
	return (entry & KIND) == INTERNAL && entry > LOWEST;
}

bool maple_is_pointer(uint64_t entry)
{
	return !(entry & KIND) && entry > LOWEST;
}

uint64_t maple_node(uint64_t entry)
{
	return entry & ~(uint64_t)(MAPLE_NODE_MAX - 1);
}

enum maple_type maple_type_of(const struct maple_layout *l, uint64_t entry)
{
	unsigned number = entry >> TYPE_SHIFT & TYPE_MASK, t = 0;

	while (t < MAPLE_TYPES && l->number[t] != number)
		t++;
	return t;
}

int maple_slot(const struct maple_layout *l, enum maple_type type,
	       const void *node, uint64_t first, uint64_t last, unsigned i,
	       const struct maple_slot *prev, struct maple_slot *ret)
{
	const struct maple_shape *s = &l->shape[type];
	const char *p = node;
	uint64_t pivot = last, start = first;

	if (i) {
		if (prev->last >= last)
			return ATW_END;
		start = prev->last + 1;
	}
	if (i >= s->slots)
		return ATW_E_DAMAGED;    /* its range is not covered completely */
	/*
	 * The last slot has no pivot; a pivot of 0 means that the previous slot was the
	 * last.
	 */
	if (i < s->slots - 1u)
		pivot = get_le64(p + s->pivot + 8 * i);
	if (!pivot && i)
		pivot = last;
	if (pivot < start || pivot > last)
		return ATW_E_DAMAGED;
	*ret = (struct maple_slot){ start, pivot, get_le64(p + s->slot + 8 * i) };
	return ATW_OK;
}
