/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster.h - compartments that follow from what was recorded: functions that call each
 * other are put together for as long as a bound holds, after uSCOPE's CLUSTER_SIZE and
 * CLUSTER_RATIO (see privilege.h).
 */
#pragma once

#include "kmap/lib/names.h"

enum kmap_cut_by { KMAP_CUT_SIZE, KMAP_CUT_RATIO, KMAP_CUTS };

struct kmap_cut {
	enum kmap_cut_by by;
	/*
	 * SIZE: no cluster has more bytes of code. RATIO: millionths of all calls that one
	 * more unit of privilege must save, at the least, in units of 10^-12.
	 */
	uint64_t bound;
	const char *text;                /* the bound, as the user typed it */
};

/*
 * *to: of each of the units its cluster, from 0 to *n - 1 in the order of their first
 * units. Freed by the caller. Units that call or are called must have sizes.
 *
 * Of F units with P pairs of a unit and a site, and E pairs of units that call, it
 * takes memory for P and E, and time for F * (P + E log E) at the very most.
 */
int kmap_cluster(const struct kmap_model *m, const struct kmap_units *functions,
		 const struct kmap_cut *cut, uint32_t **to, size_t *n, struct atw_err *err);

struct kmap_clusters {
	struct kmap_units functions, units;      /* a unit is a cluster */
	uint32_t *to;                            /* of each function: its cluster */
};
/* ATW_E_MISSING: there are no calls, or functions have no sizes. */
int kmap_clusters_init(struct kmap_clusters *c, const struct kmap_model *m,
		       const struct kmap_names *n, const struct kmap_cut *cut,
		       struct atw_err *err);
/* Fine on a zeroed struct. */
void kmap_clusters_deinit(struct kmap_clusters *c);
