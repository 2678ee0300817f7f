/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_ranges.h - NUMA node of a frame, by the R: line that contains it. */
#pragma once

#include "census/model.h"

/* MAX_NUMNODES is 1024. Frames of nodes with higher numbers have an unknown node. */
enum { NODES = 1024, NODE_UNKNOWN = NODES };

struct node_range;

/* Begins zeroed. */
struct node_ranges {
	struct node_range *v;
	size_t n, cap, near;
};

void node_ranges_deinit(struct node_ranges *r);
/* At CENSUS_ON_RAM. */
int node_ranges_add(struct node_ranges *r, const struct census_event *ev, struct atw_err *err);

/*
 * Resident pages are split by node: the next of `p` that are on one, from page *at on,
 * which begins at 0 and is advanced. Returns their number; 0: there are no more.
 */
uint64_t node_ranges_next(struct node_ranges *r, const struct census_pages *p, uint64_t page,
			  uint64_t *at, uint32_t *node);
