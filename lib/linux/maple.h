/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maple.h - one node of a maple tree (Linux, include/linux/maple_tree.h), as
 * bytes. Pure; what the pointers in it lead to is for others to see.
 */
#ifndef LINUX_MAPLE_H
#define LINUX_MAPLE_H

#include <atwalk/base.h>

enum { MAPLE_NODE_MAX = 256 };   /* bytes; its size is also its alignment */

/* One type of node: where its pivots and slots are. */
struct maple_shape {
	uint16_t pivot, slot;    /* offsets */
	uint16_t slots;          /* how many; one less pivots. 0: no such type */
};

enum maple_type { MAPLE_LEAF, MAPLE_RANGE, MAPLE_ARANGE, MAPLE_TYPES };

/* What this kernel's trees look like. */
struct maple_layout {
	uint32_t size;           /* of a node */
	uint8_t number[MAPLE_TYPES];     /* a type's, in a pointer to a node */
	struct maple_shape shape[MAPLE_TYPES];
};

/* Are nodes as large, and their members inside, as they have to be? */
bool maple_layout_good(const struct maple_layout *l);

/* Is what the tree has for a root a node, and not the only thing in it? */
bool maple_is_root(uint64_t entry);
/* Is what a leaf has, or a tree without nodes, something and not just a mark? */
bool maple_is_pointer(uint64_t entry);
/* Of a node: where it lies; its type, or MAPLE_TYPES for one we do not know. */
uint64_t maple_node(uint64_t entry);
enum maple_type maple_type_of(const struct maple_layout *l, uint64_t entry);

/* What a slot answers for; inclusive. */
struct maple_slot {
	uint64_t first, last, entry;
};

/*
 * Slot i of a node that answers for first..last, to be asked from 0 on with
 * what came before in *prev: ATW_OK, ATW_END after the last, ATW_E_DAMAGED
 * when pivots go down or leave the node's range.
 */
int maple_slot(const struct maple_layout *l, enum maple_type type,
	       const void *node, uint64_t first, uint64_t last, unsigned i,
	       const struct maple_slot *prev, struct maple_slot *ret);

#endif
