/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * areas_ahead.h - read-ahead of VMAs of a running process: several leaves of the maple
 * tree at once.
 */
#ifndef LINUX_AREAS_AHEAD_H
#define LINUX_AREAS_AHEAD_H

#include "linux/maple.h"
#include "linux/members.h"

/*
 * Read the leaves below the node that `entry` points to, or that node if it is a leaf,
 * and the members of their VMAs and files that the iterator needs. The node has `bytes`
 * and covers first..last. VMAs that end before `from` are skipped, and everything that
 * was read ahead before is discarded. false: a leaf changed meanwhile, so nothing is
 * valid.
 */
bool areas_ahead(const struct members *v, const struct maple_layout *l, uint64_t entry,
		 const void *bytes, uint64_t first, uint64_t last, uint64_t from);
/* members_hold() of the members of a vm_area_struct. */
void area_hold(const struct members *v, uint64_t vma);

#endif
