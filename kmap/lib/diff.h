/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - differences between two KMAPs. Caches and code are compared by name, so that
 * recordings of different kernels can be compared.
 */
#pragma once

#include "kmap/lib/names.h"

enum kmap_diff_what { KMAP_DIFF_CACHE, KMAP_DIFF_SITE, KMAP_DIFF_EDGE, KMAP_DIFFS };

struct kmap_counts {
	uint64_t objects, size, reads, writes;
};

struct kmap_diff_row {
	struct kmap_key key;             /* of the texts */
	enum kmap_diff_what what;
	const char *cache, *type, *code; /* NULL: missing; code: of sites and edges */
	bool in[2];
	struct kmap_counts n[2];
};

struct kmap_side {
	const struct kmap_model *m;
	const struct kmap_names *names;
	enum kmap_level level;           /* the same on both sides */
};

struct kmap_diff {
	struct intern texts;
	struct kmap_table row[KMAP_DIFFS];
	uint64_t compared;               /* that were looked at */
};

int kmap_diff_init(struct kmap_diff *d, const struct kmap_side side[2], struct atw_err *err);
/* Fine on a zeroed struct. */
void kmap_diff_deinit(struct kmap_diff *d);
/* Which differences count. */
struct kmap_diff_opts {
	bool no_counts;                  /* only of those that one side alone has */
	uint64_t least;                  /* objects, reads or writes differ by so many, */
	uint64_t ratio;                  /* and by so many thousandths; 0: by any */
};

/*
 * Those that differ, one kind after the other, largest first in each.
 */
int kmap_diff_each(const struct kmap_diff *d, const struct kmap_diff_opts *o,
		   int (*row)(void *arg, const struct kmap_diff_row *r, struct atw_err *err),
		   void *arg, struct atw_err *err);
