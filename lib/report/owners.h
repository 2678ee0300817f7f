/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners.h - exclusive-frame (USS) tracker: frames that only one group of processes maps,
 * but more than once.
 *
 * The first group that maps a frame owns it, as long as no other group maps it. Once all
 * mappings of the frame were seen, the owner is final. So one pass is enough, and only
 * frames that are mapped more than once take memory.
 */
#ifndef REPORT_OWNERS_H
#define REPORT_OWNERS_H

#include "base/table.h"

enum { OWNERS_CHUNK = 64 };

struct owners_frame {
	uint32_t owner;          /* 1 + group; 0: none yet, or several groups */
	uint32_t left;           /* remaining mappings */
};

struct owners {
	struct table chunks;             /* frames, by frame / OWNERS_CHUNK */
	uint64_t nr;
	struct owners_frame *last;       /* the chunk met last, and its number */
};

void owners_deinit(struct owners *o);
/*
 * `group` maps the frame `times` more; the total is `refs`. To be called for each frame
 * of a run. *ret: 1 if this was the last mapping and all are of the group, else 0.
 * ATW_E_NOMEM, and ATW_E_LIMIT: more frames than a machine has.
 */
int owners_add(struct owners *o, uint64_t pfn, uint64_t refs, uint64_t times, uint32_t group,
	       unsigned *ret, struct atw_err *err);

#endif
