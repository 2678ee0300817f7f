/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_node.h - the column `node` of map, if it is wanted. */
#ifndef CLI_MAP_NODE_H
#define CLI_MAP_NODE_H

#include "listing.h"

enum { NODE_NONE = -1 };                 /* not known */

/* Bytes of each node. */
struct node_sum {
	bool wanted;
	struct node_bytes {
		int64_t node;
		uint64_t bytes;
	} *v;
	size_t n, cap;
};

void node_sum_add(struct node_sum *s, int64_t node, uint64_t bytes);
/* Emits "by node: 3.1M on 0, 900K on 1, 4K unknown", if the column node is shown. */
void node_sum_note(struct node_sum *s, struct atw_output *out);
void node_sum_deinit(struct node_sum *s);

/* Nodes from the kernel's memory map (struct page): all targets but live:pagemap. */
struct map_node {
	struct node_sum sum;
	struct atw_memmap *memmap;       /* NULL: it does not */
	unsigned page_shift;
};

/* Remarks why, if nodes are wanted and not known. */
void map_node_init(struct map_node *m, const struct common *c, const struct session *src);
void map_node_deinit(struct map_node *m);
/* Of all that a range maps; NODE_NONE also where it lies on several. */
int64_t map_node_of(struct map_node *m, const struct mmu_range *g);
/* Where in the range memory of another node begins; 0: nowhere. */
uint64_t map_node_border(struct map_node *m, const struct mmu_range *g);
/* Its bytes count. */
void map_node_count(struct map_node *m, const struct mmu_range *g);

#endif
