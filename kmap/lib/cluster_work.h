/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_work.h - state of the clustering, private to cluster.c and cluster_pays.c. */
#pragma once

#include "kmap/lib/cluster.h"
#include "kmap/lib/privilege.h"

typedef unsigned __int128 wide;

/* What a cluster does to the objects of a site: bits 1 << op. */
struct touch {
	uint32_t site, ops;
};

struct cluster_group {
	uint32_t first;                  /* the least of its units */
	uint64_t size;
	uint64_t instructions[KMAP_OPS];
	wide weight[KMAP_CALLS];         /* of all it does that to */
	struct touch *touch;
	size_t touches, cap_touch;
	uint32_t *pair;                  /* some may be dead */
	size_t pairs, cap_pair;
};

/* Two that call each other. */
struct pair {
	struct kmap_key key;             /* the units it began with */
	uint32_t a, b;                   /* groups */
	uint32_t heap;                   /* 1 + where in it; 0: it may not be merged */
	bool dead;
	uint64_t calls;                  /* that a merge saves */
	wide cost;
};

struct work {
	const struct kmap_model *m;
	const struct kmap_units *u;
	const struct kmap_cut *cut;
	struct cluster_group *g;
	uint32_t *into;                  /* of each group: where it went, or itself */
	uint64_t *weight;                /* of each site */
	uint32_t *at;                    /* of each site: 1 + its place in the present group's */
	uint32_t *with;                  /* of each group: 1 + its pair with the present one */
	struct kmap_table pair;
	uint32_t *heap;                  /* the best first */
	size_t heaped;
	uint64_t calls;
};

static inline struct pair *pair(const struct work *w, size_t i)
{
	return (struct pair *)w->pair.v + i;
}

/*
 * What a merge of each of group c's pairs pays is worked out again, and the heap with it.
 * Those that may never be merged are dead then.
 */
void cluster_weigh(struct work *w, uint32_t c);
/* Of the heap, if it is in it. */
void cluster_take_out(struct work *w, uint32_t i);
