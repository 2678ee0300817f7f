/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_set.h - sets of page frames: a bit each, 32 MiB for a terabyte. */
#ifndef REPORT_FRAME_SET_H
#define REPORT_FRAME_SET_H

#include "base/table.h"
#include "census/model.h"

/*
 * Small, because a hostile capture may put each frame into another chunk, and large
 * enough to keep the table of chunks small.
 */
#define FRAMES_CHUNK 4096
/* Limit of chunks: 32 TiB in pages of 4 KiB, a GiB of bits. */
#define FRAMES_MOST ((uint64_t)2 << 20)

struct frame_set {
	struct table chunks;             /* bits of frames, by frame / FRAMES_CHUNK */
	uint64_t nr, *last;              /* the last chunk that was looked up */
};

void frames_deinit(struct frame_set *s);
/* Adds `pages` frames from `frame` on; *ret is the number of new ones. */
int frames_add(struct frame_set *s, uint64_t frame, uint64_t pages, uint64_t *ret,
	       struct atw_err *err);
/* The same for pages with known frames; pages that all map one frame count once. */
int frames_add_pages(struct frame_set *s, const struct census_pages *p, uint64_t page,
		     uint64_t *ret, struct atw_err *err);

#endif
