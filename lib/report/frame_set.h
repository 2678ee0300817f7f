/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_set.h - sets of page frames: a bit each, 32 MiB for a terabyte; their owners. */
#pragma once

#include "base/table.h"
#include "census/model.h"

/*
 * Small, because a hostile capture may put each frame into another chunk, and large
 * enough to keep the table of chunks small.
 */
#define FRAMES_CHUNK 4096
/* Limit of chunks: 32 TiB in pages of 4 KiB, a GiB of bits or of owners. */
#define FRAMES_MOST ((uint64_t)2 << 20)

struct frame_chunks {
	struct table table;
	uint64_t nr;
	void *last;                      /* the last chunk that was looked up: `nr` */
};

struct frame_set {
	struct frame_chunks chunks;      /* bits of frames, by frame / FRAMES_CHUNK */
};

void frames_deinit(struct frame_set *s);
/* Adds `pages` frames from `frame` on; *ret is the number of new ones. */
int frames_add(struct frame_set *s, uint64_t frame, uint64_t pages, uint64_t *ret,
	       struct atw_err *err);
/* The same for pages with known frames; pages that all map one frame count once. */
int frames_add_pages(struct frame_set *s, const struct census_pages *p, uint64_t page,
		     uint64_t *ret, struct atw_err *err);

/* ---- owners ---- */

/*
 * Exclusive-frame (USS) tracker: frames that only one group of processes maps,
 * but more than once.
 *
 * The first group that maps a frame owns it, as long as no other group maps it. Once all
 * mappings of the frame were seen, the owner is final. So one pass is enough, and only
 * frames that are mapped more than once take memory.
 */
enum { OWNERS_CHUNK = 64 };

struct owners_frame {
	uint32_t owner;          /* 1 + group; 0: none yet, or several groups */
	uint32_t left;           /* remaining mappings */
};

struct owners {
	struct frame_chunks chunks;      /* frames, by frame / OWNERS_CHUNK */
};

void owners_deinit(struct owners *o);
/*
 * `group` maps the frame `times` more; the total is `refs`. To be called for each frame
 * of a run. *ret: 1 if this was the last mapping and all are of the group, else 0.
 * ATW_E_NOMEM, and ATW_E_LIMIT: more frames than a machine has.
 */
int owners_add(struct owners *o, uint64_t pfn, uint64_t refs, uint64_t times, uint32_t group,
	       unsigned *ret, struct atw_err *err);
