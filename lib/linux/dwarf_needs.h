/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_needs.h - members, sizes and enumerators out of a vmlinux' DWARF, for
 * kernels without BTF. libdw does the reading; a build without it says so.
 */
#ifndef LINUX_DWARF_NEEDS_H
#define LINUX_DWARF_NEEDS_H

#include "linux/needs.h"

/*
 * Fill in what needs_from_types() fills in; `types`: how many of those that
 * are wanted were found. ATW_E_UNSUPPORTED: built without libdw. Errors do not
 * name the file.
 */
int needs_from_dwarf(struct needs *n, const char *path, uint32_t *types,
		     struct atw_err *err);

#endif
