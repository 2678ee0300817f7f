/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads.h - placement of a file in a process, by the file's program headers. */
#ifndef CENSUS_LOADS_H
#define CENSUS_LOADS_H

#include "census/unit.h"

/* A VMA of the file: its first address, the offset in the file, and its permissions. */
struct loads_view {
	uint64_t start, offset;
	bool exec, write;
};

/* Of all copies of a file, the unit with the program headers. NULL: none has them. */
const struct unit *loads_of(struct unit *u);
/*
 * The PT_LOAD segment of the VMA; also sets the load bias of the file in this process.
 * NULL: no segment, or the program headers are not recorded. `page`: bytes.
 */
const struct capture_load *loads_place(struct unit *u, uint64_t page,
				       const struct loads_view *v);
/* For a placed file: is this address in PT_GNU_RELRO? */
bool loads_relro(struct unit *u, uint64_t page, uint64_t start);
/* Are start..last in the zero-filled end of a segment (.bss)? */
bool loads_bss(struct unit *u, uint64_t page, uint64_t start, uint64_t last);

#endif
