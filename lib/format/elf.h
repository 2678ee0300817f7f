/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf.h - little-endian ELF files of either class, as crash dumps use them.
 * Pure: bytes in, structs out, nothing allocated.
 *
 * A dump may be cut short, so a program header that points past the end of
 * the file is returned as it stands; only the headers themselves must be whole.
 */
#ifndef FORMAT_ELF_H
#define FORMAT_ELF_H

#include <atwalk/base.h>

enum {
	ELF_ET_CORE = 4,
	ELF_PT_LOAD = 1,
	ELF_PT_NOTE = 4,
	ELF_NT_PRSTATUS = 1,
	ELF_NT_EXTRACT = 1,      /* of "atwalk": see lib/extract */
	ELF_NT_OPENING = 2,      /* of "atwalk": lines of KEY=VALUE, as VMCOREINFO has */
};

struct elf {
	struct atw_blob file;
	bool is64;
	uint16_t type;           /* e_type */
	uint16_t machine;        /* e_machine */
	uint16_t phentsize;      /* distance from one program header to the next */
	uint32_t phnum;          /* the real count, PN_XNUM resolved */
	uint64_t phoff;
};

struct elf_phdr {
	uint64_t at;             /* where the header itself lies in the file */
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz;
};

/* Does the file begin like any ELF file? */
bool elf_magic(struct atw_blob head);

/* ATW_E_FORMAT: not ELF. _UNSUPPORTED: big-endian. _DAMAGED: see the error. */
int elf_parse(struct atw_blob file, struct elf *ret, struct atw_err *err);

/* i < e->phnum; cannot fail, elf_parse() has seen that the table is whole. */
struct elf_phdr elf_phdr(const struct elf *e, uint32_t i);

struct elf_note {
	uint64_t at;             /* in the file */
	uint32_t type;
	const char *name;        /* not NUL-terminated */
	size_t namelen;          /* without the NULs at its end */
	struct atw_blob desc;
};

/* Goes over the notes of one segment, or over what the file has of it. */
struct elf_notes {
	struct atw_blob seg;
	uint64_t base;           /* the segment's place in the file */
	uint64_t off;            /* of the next note in it */
};

struct elf_notes elf_notes(const struct elf *e, const struct elf_phdr *ph);
/* ATW_OK, ATW_END, or ATW_E_DAMAGED when a note reaches out of its segment. */
int elf_notes_next(struct elf_notes *it, struct elf_note *ret,
		   struct atw_err *err);
bool elf_note_is(const struct elf_note *n, const char *name, uint32_t type);

/*
 * Control register CRn (0, 2, 3, 4) out of the "QEMU" note of an x86 CPU, as
 * the 8 bytes that lie in it; NULL when the note is of another layout.
 */
const void *elf_qemu_cr(const struct elf_note *n, unsigned cr);

/* "x86_64", "aarch64": what uname -m says on it; NULL for the unusual. */
const char *elf_machine_name(const struct elf *e);

#endif
