/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_sizes.h - sums of a listing, by page size. */
#ifndef CLI_MAP_SIZE_H
#define CLI_MAP_SIZE_H

#include "atwalk.h"

/* What is no size of pages. */
enum { SIZE_SEVERAL, SIZE_UNKNOWN };

struct map_size {
	uint64_t page, bytes, pages;
};

/* A mode has few sizes: a list will do. */
struct map_sizes {
	struct map_size v[16];
	size_t n;
};

void map_sizes_add(struct map_sizes *t, uint64_t page, uint64_t bytes, uint64_t pages);
/* "2 ranges, 12K mapped: 12K in 3 pages of 4K" */
void map_sizes_note(struct map_sizes *t, uint64_t rows, struct atw_output *out);

#endif
