/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfunit.h - program headers and build id, from the first bytes of a program or
 * library, for the areas that are mapped of it. Pure.
 */
#ifndef FORMAT_ELFUNIT_H
#define FORMAT_ELFUNIT_H

#include "format/capture.h"

enum { ELFUNIT_LOADS = CAPTURE_LOAD_MOST };

struct elfunit {
	struct capture_load load[ELFUNIT_LOADS];
	unsigned loads;
	bool cut;                    /* it has more of them */
	struct capture_bytes build;  /* len 0: not known */
	/* Where notes lie that are not among these bytes; notes_len 0: nowhere. */
	uint64_t notes, notes_len;
};

/* `head`: the file's first bytes. ATW_E_FORMAT: no ELF, or none that can be mapped. */
int elfunit_parse(struct atw_blob head, struct elfunit *ret);
/* The build id out of these notes, if it is not known yet. */
void elfunit_notes(struct atw_blob notes, struct elfunit *u);

#endif
