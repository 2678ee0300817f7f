/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maple.h - a node of a maple tree (Linux, include/linux/maple_tree.h) as bytes. Pure;
 * pointers in it are not followed.
 */
#ifndef LINUX_MAPLE_H
#define LINUX_MAPLE_H

#include <atwalk/base.h>

enum { MAPLE_NODE_MAX = 256 };   /* bytes; also its maximal alignment */

/* Layout of one type of node. */
struct maple_shape {
	uint16_t pivot, slot;    /* offsets */
	uint16_t slots;          /* number; there is one pivot less. 0: no such type */
};

enum maple_type { MAPLE_LEAF, MAPLE_RANGE, MAPLE_ARANGE, MAPLE_TYPES };

/* Layout of maple trees of this kernel. */
struct maple_layout {
	uint32_t size;           /* of a node */
	uint8_t number[MAPLE_TYPES];     /* number of each type in a pointer to a node */
	struct maple_shape shape[MAPLE_TYPES];
};

/* Are the sizes valid, and the members inside of the node? */
bool maple_layout_good(const struct maple_layout *l);

/* Is the root entry a node, and not the only element? */
bool maple_is_root(uint64_t entry);
/* Is the entry of a leaf, or of a tree without nodes, a pointer and not a mark? */
bool maple_is_pointer(uint64_t entry);
/* The address of a node; its type, or MAPLE_TYPES if that is unknown. */
uint64_t maple_node(uint64_t entry);
enum maple_type maple_type_of(const struct maple_layout *l, uint64_t entry);

/* The range of a slot; inclusive. */
struct maple_slot {
	uint64_t first, last, entry;
};

/*
 * Slot i of a node that covers first..last; to be called from 0 on with the previous slot
 * in *prev: ATW_OK, ATW_END after the last, ATW_E_DAMAGED if pivots descend or leave the
 * range of the node.
 */
int maple_slot(const struct maple_layout *l, enum maple_type type,
	       const void *node, uint64_t first, uint64_t last, unsigned i,
	       const struct maple_slot *prev, struct maple_slot *ret);

#endif
