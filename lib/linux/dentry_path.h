/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dentry_path.h - the path of a file that is open: fs/d_path.c. */
#ifndef LINUX_DENTRY_PATH_H
#define LINUX_DENTRY_PATH_H

#include "linux/members.h"

/*
 * As d_path() gives it to a reader with the root of the whole mount namespace. `mnt`
 * and `dentry` are the two members of a struct path.
 */
int path_read(const struct members *v, uint64_t mnt, uint64_t dentry,
	      char *ret, size_t len, struct atw_err *err);
/*
 * For very many paths: each step up takes one from *steps; ATW_E_LIMIT when
 * none are left.
 */
int path_read_within(const struct members *v, uint64_t mnt, uint64_t dentry,
		     uint32_t *steps, char *ret, size_t len, struct atw_err *err);

#endif
