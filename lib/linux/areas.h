/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas.h - iterator over the VMAs of an mm_struct. */
#ifndef LINUX_AREAS_H
#define LINUX_AREAS_H

#include "linux/process.h"

#include "linux/members.h"

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

#endif
