/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * zones.h - frames for which the running kernel has not initialised a struct page yet.
 *
 * Some kernels delay that until the memory is needed, from the beginning of a node's
 * highest zone on. Such frames are counted in MemTotal and MemFree, but not as managed by
 * a zone; /proc/kpageflags has 0 for them, as for the kernel's own.
 */
#ifndef HOST_ZONES_H
#define HOST_ZONES_H

#include <atwalk/base.h>

/* Frames first..end-1. */
struct sys_late_range {
	uint64_t first, end;
};

struct sys_late {
	struct sys_late_range *v;
	size_t n, cap;
};

/*
 * Candidates for such frames: the ends of zones. Memory reserved at boot is not managed
 * either, so preceding frames may be among these. n is 0 if all frames have a struct
 * page, or if this is not known. `root` is "" except in tests.
 */
void sys_late_read(const char *root, uint64_t page, struct sys_late *ret);
void sys_late_deinit(struct sys_late *l);
bool sys_late_has(const struct sys_late *l, uint64_t pfn);

#endif
