/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dentry_path.h - the path of an open file: fs/d_path.c. */
#ifndef LINUX_DENTRY_PATH_H
#define LINUX_DENTRY_PATH_H

#include "linux/members.h"

/*
 * The result of d_path() for a reader with the root of the mount namespace. `mnt` and
 * `dentry` are the members of a struct path.
 */
int path_read(const struct members *v, uint64_t mnt, uint64_t dentry,
	      char *ret, size_t len, struct atw_err *err);
/* For very many paths: each component decrements *steps; ATW_E_LIMIT at 0. */
int path_read_within(const struct members *v, uint64_t mnt, uint64_t dentry,
		     uint32_t *steps, char *ret, size_t len, struct atw_err *err);

#endif
