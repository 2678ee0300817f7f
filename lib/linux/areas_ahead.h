/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas_ahead.h - areas of a running process, those of several leaves of its tree at once. */
#ifndef LINUX_AREAS_AHEAD_H
#define LINUX_AREAS_AHEAD_H

#include "linux/maple.h"
#include "linux/members.h"

/*
 * Read the leaves below the node that `entry` leads to, or that one if it is a leaf, and
 * what their areas and files are known by; it has `bytes` and answers for first..last.
 * What ends before `from` is left out, and all that was read ahead so far is forgotten.
 * false: a leaf changed meanwhile, so nothing of it counts.
 */
bool areas_ahead(const struct members *v, const struct maple_layout *l, uint64_t entry,
		 const void *bytes, uint64_t first, uint64_t last, uint64_t from);
/* members_hold() of the members of a vm_area_struct. */
void area_hold(const struct members *v, uint64_t vma);

#endif
