/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_map.h - the map of a VMA as in Figure 4 of Movall et al.: a mark per page, 64
 * pages per line.
 */
#pragma once

#include "base/buf.h"
#include "census/model.h"

/* 1 to 9: the mapcount. */
enum map_mark {
	MAP_ABSENT = 0, MAP_MANY = 10, MAP_SWAPPED, MAP_ZERO, MAP_UNKNOWN, MAP_DEVICE,
	MAP_ODD,                         /* neither present nor absent: a guard page, a
					  * migration entry */
	MAP_MISSING,                     /* content not recorded; never stored */
	MAP_MARKS,
};

enum { MAP_LINE = 64 };

enum map_mark map_mark(const struct census_pages *p);

/* ---- storage of marks: run lengths in few bytes ---- */

void map_keep(struct buf *b, enum map_mark mark, uint64_t pages);
/* Pages of an area from `at` on, which is advanced; what lies between is absent. */
void map_keep_pages(struct buf *b, uint64_t *at, const struct census_pages *p, uint64_t page);
/* The next run; *at is advanced. false: no more. */
bool map_kept(const struct buf *b, size_t *at, size_t end, enum map_mark *mark,
	      uint64_t *pages);

/* ---- lines ---- */

struct map {
	const struct census_out *out;
	char line[MAP_LINE];
	unsigned n;
	uint64_t fold;                   /* fold more than this number of equal lines */
};

void map_begin(struct map *m, const struct census_out *out);
void map_add(struct map *m, enum map_mark mark, uint64_t pages);
void map_end(struct map *m);

/*
 * The marks as text, for programs: ".*15 #*2 .*1 #*5". If longer than `most` bytes, it
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
