/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.h - parts of `atwalk map`: sums and the column `node` (map_sums.c), large pages
 * (map_large.c), and targets without page tables (map_pages.c, for walk as well).
 */
#pragma once

#include "listing.h"
#include "target/large.h"
#include "target/large_guest.h"

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

/* ---- sums by page size ---- */

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

/* ---- map_large.c ---- */

/* `map --large`: a row an area. Prints errors; the exit status. */
int map_large(const struct common *c, const struct session *src, int argc, char **argv);
/* A few lines below the summary of a whole process; none where they are not shown. */
void map_large_notes(const struct common *c, const struct session *src,
		     struct atw_output *out);

/* How --units has amounts. */
struct large_units {
	enum atw_units units;
	unsigned page_shift;
};
const char *large_amount(const struct large_units *by, uint64_t bytes, char buf[24]);
/* The lines themselves; `here`: it is this machine's memory. */
void large_note(const struct large_sum *s, const struct large_units *by, uint64_t block,
		bool here, struct atw_output *out);

/* The same of a guest, with what the host has below its pages. */
void large_guest_note(const struct large_guest_sum *s, const struct large_units *by,
		      uint64_t block, struct atw_output *out);

/* ---- map_pages.c ---- */

/*
 * Both return an exit status, and leave the source open. Without targets map lists all
 * of the process that is asked for.
 */
int map_by_pages(const struct common *c, struct session *src, struct listing *l, unsigned split,
		 const struct address_arg *t, int n);
/* map --watch. */
int watch_by_pages(const struct common *c, struct session *src, const struct space_opts *space,
		   const char *text, unsigned split, int argc, char **argv);
/* `lines`: of --cache-line, or NULL. */
struct walk_lines;
int walk_by_pages(const struct common *c, struct session *src, struct listing *l,
		  const struct address_arg *t, int n, struct walk_lines *lines);
