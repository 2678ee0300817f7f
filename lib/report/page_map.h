/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_map.h - an area as the paper draws it: a mark a page, 64 pages a line. */
#ifndef REPORT_PAGE_MAP_H
#define REPORT_PAGE_MAP_H

#include "base/buf.h"
#include "census/model.h"

/* 1 to 9: how often a page is mapped. */
enum map_mark {
	MAP_ABSENT = 0, MAP_MANY = 10, MAP_SWAPPED, MAP_ZERO, MAP_UNKNOWN, MAP_DEVICE,
	MAP_ODD,                         /* neither there nor not: a guard page, on its way */
	MAP_UNTOLD,                      /* content not recorded; never kept as such */
	MAP_MARKS,
};

enum { MAP_LINE = 64 };

enum map_mark map_mark(const struct census_pages *p);

/* ---- marks, kept: how many of the same, in few bytes ---- */

void map_keep(struct buf *b, enum map_mark mark, uint64_t pages);
/* The next of those; *at moves behind it. false: that was all. */
bool map_kept(const struct buf *b, size_t *at, size_t end, enum map_mark *mark,
	      uint64_t *pages);

/* ---- lines ---- */

struct map {
	const struct census_out *out;
	char line[MAP_LINE];
	unsigned n;
	uint64_t fold;                   /* more lines of nothing in a row are two */
};

void map_begin(struct map *m, const struct census_out *out);
void map_add(struct map *m, enum map_mark mark, uint64_t pages);
void map_end(struct map *m);

/*
 * The marks as text, for programs: ".*15 #*2 .*1 #*5". Longer than `most` bytes, it
 * ends with "...".
 */
struct map_text {
	struct buf *to;
	size_t most;
	enum map_mark mark;
	uint64_t pages;                  /* of that mark, not written yet */
};
void map_text_add(struct map_text *t, enum map_mark mark, uint64_t pages);
void map_text_end(struct map_text *t);

#endif
