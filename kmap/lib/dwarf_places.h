/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_places.h - source file of a code address, from a vmlinux' DWARF. It is
 * read by libdw; a build without libdw reports that.
 */
#pragma once

#include <atwalk/base.h>

struct dwarf_places;

/* ATW_E_UNSUPPORTED: built without libdw. Errors do not name the file. */
int dwarf_places_open(const char *path, struct dwarf_places **ret, struct atw_err *err);
/*
 * The file that was compiled, "mm/slub.c", without the folder that all of them are in;
 * the text stays valid until close. NULL: not known. Code out of a header belongs to
 * the file that includes it.
 */
const char *dwarf_places_file(struct dwarf_places *p, uint64_t address);
/* NULL is fine. */
void dwarf_places_close(struct dwarf_places *p);
