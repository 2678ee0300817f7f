/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_kcore.h - the running kernel's memory through /proc/kcore.
 *
 * The kernel presents itself as an ELF core: a segment for each range of its
 * address space, and of those that are RAM the physical address as well. No
 * type of the kernel's is needed to read it, and nothing has to be searched.
 */
#pragma once

#include "source/extents.h"

/*
 * Make `s` read /proc/kcore: its operations become those of this file. After a
 * failure `s` is as it was. ATW_E_PERM says what would allow it.
 */
int live_kcore_open(struct atw_source *s, struct atw_err *err);

/* The same of a file like it. Only `ram` of it is read; NULL: all it has. */
int live_kcore_open_file(struct atw_source *s, const char *path,
			 const struct extents *ram, struct atw_err *err);
