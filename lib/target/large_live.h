/* SPDX-License-Identifier: GPL-2.0-or-later */
/* large_live.h - settings of large pages, from /proc and /sys of the running kernel. */
#ifndef TARGET_LARGE_LIVE_H
#define TARGET_LARGE_LIVE_H

#include "base/buf.h"
#include "target/large.h"

/* Files are read once a process, when they are first asked for. All zero is fine. */
struct large_live {
	uint64_t block;          /* bytes of the large page that the settings are of */
	struct thp_settings set;
	uint32_t pid;
	bool mounts_tried, smaps_tried, process_tried;
	struct buf mounts, smaps;
	size_t at;               /* in smaps, behind the area at `upto` */
	uint64_t upto;
	enum thp_when process;
};

/* What the system allows to the area's kind of memory; *ret says which so far. */
void large_live_system(struct large_live *l, uint32_t pid, uint64_t block,
		       const struct atw_area *a, struct large_may *ret);
/* Fill all of *ret, for an area that is only known from /proc. */
void large_live_may(struct large_live *l, uint32_t pid, uint64_t block,
		    const struct atw_area *a, struct large_may *ret);
/*
 * Is the area at `start` mapped by frame numbers (VM_PFNMAP), so that pagemap has no
 * entries for it? Also true if this is not known.
 */
bool large_live_is_pfnmap(struct large_live *l, uint32_t pid, uint64_t start);
/* What was read of a process is of a moment; settings last. */
void large_live_forget(struct large_live *l);
void large_live_deinit(struct large_live *l);

#endif
