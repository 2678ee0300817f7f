/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_needs.h - members, sizes and enumerators from the DWARF of a vmlinux, for kernels
 * without BTF. Parsed by libdw, which is optional at build time.
 */
#ifndef LINUX_DWARF_NEEDS_H
#define LINUX_DWARF_NEEDS_H

#include "linux/needs.h"

/*
 * The counterpart of needs_from_types(); `types`: how many of the required types were
 * found. ATW_E_UNSUPPORTED: built without libdw. Errors do not include the name of the
 * file.
 */
int needs_from_dwarf(struct needs *n, const char *path, uint32_t *types,
		     struct atw_err *err);

#endif
