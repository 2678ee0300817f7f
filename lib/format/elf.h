/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf.h - parser of little-endian ELF files of either class, as used for crash dumps.
 * Pure: bytes in, structs out, no allocation.
 *
 * A dump may be truncated, so program headers that point past the end of the file are
 * returned unchanged; only the headers themselves must be complete.
 */
#pragma once

#include <atwalk/base.h>

enum {
	ELF_ET_CORE = 4,
	ELF_PT_LOAD = 1,
	ELF_PT_NOTE = 4,
	ELF_NT_PRSTATUS = 1,
	ELF_NT_EXTRACT = 1,      /* of "atwalk": see lib/extract */
	ELF_NT_OPENING = 2,      /* of "atwalk": lines KEY=VALUE, as in VMCOREINFO */
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

/* Does the file have the ELF magic? */
bool elf_magic(struct atw_blob head);

/* ATW_E_FORMAT: not ELF. _UNSUPPORTED: big-endian. _DAMAGED: see the error. */
int elf_parse(struct atw_blob file, struct elf *ret, struct atw_err *err);

/* i < e->phnum; cannot fail, because elf_parse() checked that the table is complete. */
struct elf_phdr elf_phdr(const struct elf *e, uint32_t i);

struct elf_note {
	uint64_t at;             /* in the file */
	uint32_t type;
	const char *name;        /* not NUL-terminated */
	size_t namelen;          /* without trailing NULs */
	struct atw_blob desc;
};

/* Iterator over the notes of a segment, or of the part that is in the file. */
struct elf_notes {
	struct atw_blob seg;
	uint64_t base;           /* offset of the segment in the file */
	uint64_t off;            /* of the next note in the segment */
};

struct elf_notes elf_notes(const struct elf *e, const struct elf_phdr *ph);
/* ATW_OK, ATW_END, or ATW_E_DAMAGED if a note exceeds its segment. */
int elf_notes_next(struct elf_notes *it, struct elf_note *ret, struct atw_err *err);
bool elf_note_is(const struct elf_note *n, const char *name, uint32_t type);

/*
 * Control register CRn (0, 2, 3, 4) in the "QEMU" note of an x86 CPU: a pointer to its 8
 * bytes; NULL if the note has another layout.
 */
const void *elf_qemu_cr(const struct elf_note *n, unsigned cr);

/* "x86_64", "aarch64": the machine as in uname -m; NULL for unknown ones. */
const char *elf_machine_name(const struct elf *e);
