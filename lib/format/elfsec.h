/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsec.h - named sections of an ELF64 file: of a vmlinux or of its separate debug file.
 *
 * Pure: the file is borrowed. The section table is checked to lie in the file; the
 * contents of a section are checked on access, because a debug file lists many sections
 * without their contents.
 */
#pragma once

#include "format/capture.h"

enum {
	ELFSEC_SYMTAB = 2,       /* sh_type */
	ELFSEC_NOTE = 7,
	ELFSEC_NOBITS = 8,
	ELFSEC_WRITE = 1,        /* sh_flags */
	ELFSEC_ALLOC = 2,
	ELFSEC_EXEC = 4,
	ELFSEC_COMPRESSED = 0x800,
};

struct elfsec {
	struct atw_blob file;
	uint16_t type;           /* e_type */
	uint16_t machine;        /* e_machine */
	uint16_t entsize;        /* distance from one section header to the next */
	uint32_t n;              /* number of sections, may be 0 */
	uint64_t shoff;
	struct atw_blob names;   /* ends with a NUL, or is empty */
};

struct elfsec_section {
	const char *name;        /* "" if it is not readable */
	uint32_t type, link;
	uint64_t flags, address, offset, size, entsize;
};

/*
 * ATW_E_FORMAT: not ELF. _UNSUPPORTED: 32 bits or big-endian. _DAMAGED: the section table
 * lies outside the file.
 */
int elfsec_parse(struct atw_blob file, struct elfsec *ret, struct atw_err *err);

/* Cannot fail: section i < e->n, otherwise one of type 0 without a name. */
struct elfsec_section elfsec_at(const struct elfsec *e, uint32_t i);
/* The first section of that name; ATW_E_MISSING: there is none. */
int elfsec_find(const struct elfsec *e, const char *name, struct elfsec_section *ret);
/*
 * Its contents. ATW_E_MISSING: listed without contents (a debug file). _UNSUPPORTED:
 * compressed. _DAMAGED: outside the file.
 */
int elfsec_bytes(const struct elfsec *e, const struct elfsec_section *s,
		 struct atw_blob *ret, struct atw_err *err);
/* The build ID from any section of notes; ATW_E_MISSING: there is none. */
int elfsec_build_id(const struct elfsec *e, struct atw_blob *ret);

/* ---- elfunit ---- */

/*
 * Program headers and build ID of a program or library, from the first bytes
 * of the file, to identify its VMAs. Pure.
 */

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
