/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsec.h - the sections of an ELF64 file, by name: what a vmlinux, or the
 * debug file that was split off it, has beside its code.
 *
 * Pure: the file is borrowed. The table of sections has been seen to lie in
 * the file; a section's own bytes are checked when they are asked for, since a
 * debug file lists many that it does not have.
 */
#ifndef FORMAT_ELFSEC_H
#define FORMAT_ELFSEC_H

#include <atwalk/base.h>

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
	uint32_t n;              /* sections; 0 is none, and there may be 0 */
	uint64_t shoff;
	struct atw_blob names;   /* ends with a NUL, or has no bytes */
};

struct elfsec_section {
	const char *name;        /* "" where none can be read */
	uint32_t type, link;
	uint64_t flags, address, offset, size, entsize;
};

/*
 * ATW_E_FORMAT: not ELF. _UNSUPPORTED: 32 bits or big-endian. _DAMAGED: the
 * table of sections is not in the file.
 */
int elfsec_parse(struct atw_blob file, struct elfsec *ret, struct atw_err *err);

/* Cannot fail: section i < e->n, or one of type 0 without a name. */
struct elfsec_section elfsec_at(const struct elfsec *e, uint32_t i);
/* The first of that name; ATW_E_MISSING: there is none. */
int elfsec_find(const struct elfsec *e, const char *name, struct elfsec_section *ret);
/*
 * Its bytes. ATW_E_MISSING: listed and not kept (a debug file). _UNSUPPORTED:
 * compressed. _DAMAGED: outside the file.
 */
int elfsec_bytes(const struct elfsec *e, const struct elfsec_section *s,
		 struct atw_blob *ret, struct atw_err *err);
/* The linker's build ID, out of any section of notes; ATW_E_MISSING: none. */
int elfsec_build_id(const struct elfsec *e, struct atw_blob *ret);

#endif
