/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas.h - iterator over the VMAs of an mm_struct. */
#ifndef LINUX_AREAS_H
#define LINUX_AREAS_H

#include "linux/process.h"
#include "linux/members.h"
#include "linux/maple.h"

struct named_files;

/* VMAs of an mm through `v`; `release` as in vma_name.h. */
int areas_open_at(struct members v, uint64_t mm, unsigned page_shift,
		  unsigned release, struct atw_areas **ret, struct atw_err *err);

/* atw_areas_open() with a cache of file names that is shared by several iterators. */
int areas_open_named(struct atw_kernel *k, uint64_t mm, struct named_files *files,
		     struct atw_areas **ret, struct atw_err *err);

/*
 * Total size of all VMAs of an mm (total_vm), which the kernel counts. ATW_E_UNSUPPORTED:
 * the member is not known.
 */
int areas_size(struct atw_kernel *k, uint64_t mm, uint64_t *ret, struct atw_err *err);

/* ---- areas_ahead.c ---- */

/*
 * Read-ahead of VMAs of a running process: several leaves of the maple
 * tree at once.
 */

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
