/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfunit.h - program headers and build ID of a program or library, from the first bytes
 * of the file, to identify its VMAs. Pure.
 */
#ifndef FORMAT_ELFUNIT_H
#define FORMAT_ELFUNIT_H

#include "format/capture.h"

enum { ELFUNIT_LOADS = CAPTURE_LOAD_MOST };

struct elfunit {
	struct capture_load load[ELFUNIT_LOADS];
	unsigned loads;
	bool cut;                    /* there are more than the array holds */
	struct capture_bytes build;  /* len 0: not known */
	/* Location of notes outside of these bytes; notes_len 0: none. */
	uint64_t notes, notes_len;
};

/*
 * `head`: the first bytes of the file. ATW_E_FORMAT: not an ELF file that can be mapped.
 */
int elfunit_parse(struct atw_blob head, struct elfunit *ret);
/* Reads the build ID from these notes, if it is not known yet. */
void elfunit_notes(struct atw_blob notes, struct elfunit *u);

#endif
