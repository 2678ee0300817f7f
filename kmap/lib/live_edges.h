/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_edges.h - accesses of a sample, counted where those of others are. */
#ifndef KMAP_LIVE_EDGES_H
#define KMAP_LIVE_EDGES_H

#include "base/table.h"
#include "kmap/lib/store.h"

struct live_edges {
	struct kstore *store;
	struct table sites;         /* of instructions */
	uint64_t n;                      /* accesses */
	bool named;                      /* numbers of threads are those that names are known by */
};

/* Fine on a zeroed struct. */
void live_edges_free(struct live_edges *x);
void live_edges_add(struct live_edges *x, uint32_t object, uint64_t va, uint64_t ip, uint32_t pid,
		    uint32_t writes, uint32_t reads);

#endif
