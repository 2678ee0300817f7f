/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * areas_tree.h - the maple tree of an mm_struct, slot by slot. Internal to areas.c, which
 * restarts it where the tree of a running process changes.
 */
#pragma once

#include "linux/areas.h"

enum { AREAS_DEPTH = 31 };               /* MAPLE_HEIGHT_MAX */

/* A node on the path from the root. */
struct areas_level {
	uint64_t at;
	uint64_t first, last;
	enum maple_type type;
	unsigned next;
	struct maple_slot slot;  /* the one before next */
	unsigned char bytes[MAPLE_NODE_MAX];
};

struct areas_tree {
	struct maple_layout layout;
	unsigned depth, nodes;
	uint64_t root;           /* root entry */
	bool ahead;              /* VMAs are read ahead, because they have not changed
				  * so far */
	bool unnamed;            /* their files are not */
	struct areas_level level[AREAS_DEPTH];
};

/*
 * From its first slot on. `ended`: VMAs that end before it are not read ahead. ATW_E_LIMIT: it
 * has too many nodes, and there is nothing more to read.
 */
int areas_tree_start(struct areas_tree *t, const struct members *v, uint64_t mm, uint64_t ended,
		     struct atw_err *err);
/*
 * The next slot with a VMA; ATW_END behind the last. Slots that end before `from` are passed.
 * After a failure the node that is damaged is passed.
 */
int areas_tree_next(struct areas_tree *t, const struct members *v, uint64_t ended, uint64_t from,
		    struct maple_slot *ret, struct atw_err *err);
/*
 * Does the tree still lead to the slot that was returned, and is each slot's range unchanged?
 */
bool areas_tree_holds(const struct areas_tree *t, const struct members *v, uint64_t mm);
/* Discards everything that was read ahead, and reads one node after the other. */
void areas_tree_one_by_one(struct areas_tree *t, const struct members *v);
