/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LINUX_AREAS_H
#define LINUX_AREAS_H

#include "linux/process.h"

#include "linux/members.h"

struct named_files;

/* Areas of an mm seen through `v`; `release` as in names.h. */
int areas_open_at(struct members v, uint64_t mm, unsigned page_shift,
		  unsigned release, struct atw_areas **ret, struct atw_err *err);

/* atw_areas_open(), and names of files are kept in `files` for those that come behind. */
int areas_open_named(struct atw_kernel *k, uint64_t mm, struct named_files *files,
		     struct atw_areas **ret, struct atw_err *err);

/*
 * Bytes of all areas of an mm together, which its kernel keeps; without a look at them.
 * ATW_E_UNSUPPORTED: it is not known where.
 */
int areas_size(struct atw_kernel *k, uint64_t mm, uint64_t *ret, struct atw_err *err);

#endif
