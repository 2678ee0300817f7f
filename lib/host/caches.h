/* SPDX-License-Identifier: GPL-2.0-or-later */
/* caches.h - geometry of the CPU caches from /sys of the running kernel. */
#pragma once

#include <atwalk/base.h>

enum { CACHES_LEVELS = 4 };

/* A cache that holds data. `line` 0: not known, or not the same for all CPUs. */
struct sys_cache {
	uint64_t size;           /* bytes; 0: not known */
	uint32_t line;           /* bytes */
	uint32_t sets, ways;     /* ways 0: not known */
};

/* By level: level[0] is that of level 1. */
struct sys_caches {
	struct sys_cache level[CACHES_LEVELS];
};

/* `root` is "" except in tests. false: nothing is known. */
bool sys_caches_read(const char *root, struct sys_caches *ret);
/*
 * The set that an address is cached in. Caches are indexed by physical addresses; where
 * only the bits inside of a page count, the virtual one has the same. false: not known.
 * So it is for caches that hash addresses over slices, as those above level 2 do, and for
 * a number of sets that is no power of two.
 */
bool sys_caches_set(const struct sys_caches *c, unsigned level, const uint64_t *pa,
		    uint64_t va, uint64_t page, uint64_t *ret);
