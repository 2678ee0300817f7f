/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads.h - placement of a file in a process, by the file's program headers. */
#ifndef CENSUS_LOADS_H
#define CENSUS_LOADS_H

#include "census/unit.h"

/* An area of the file: its first address, where in the file that is, and its rights. */
struct loads_view {
	uint64_t start, offset;
	bool exec, write;
};

/* Of all copies of a file, the unit with the program headers. NULL: none has them. */
const struct unit *loads_of(struct unit *u);
/*
 * The PT_LOAD segment of the area; also sets where the file's own addresses lie in this
 * process. NULL: no segment, or the program headers are not recorded. `page`: bytes.
 */
const struct capture_load *loads_place(struct unit *u, uint64_t page,
				       const struct loads_view *v);
/* Of a file that was placed: is this address made read-only once it was relocated? */
bool loads_relro(struct unit *u, uint64_t page, uint64_t start);
/* Do start..last lie behind what is in the file of a load: memory that begins as zeroes? */
bool loads_bss(struct unit *u, uint64_t page, uint64_t start, uint64_t last);

#endif
