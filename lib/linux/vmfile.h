/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmfile.h - the file of --kernel: its format and contents. file_match.c checks that it
 * belongs to the dump, and finds the offset that KASLR added.
 */
#pragma once

#include "base/buf.h"
#include "base/file.h"
#include "format/elfsyms.h"
#include "format/symtext.h"
#include "linux/kernel.h"

enum vmfile_kind { VMFILE_ELF, VMFILE_TEXT, VMFILE_BTF };

struct vmfile {
	struct file file;
	struct buf copy;         /* of a file that cannot be mapped */
	struct atw_blob bytes;   /* the mapped file, or `copy` */
	enum vmfile_kind kind;
	struct elfsec elf;
	struct elfsyms elfsyms;
	struct symtext text;
	bool symbols;            /* it has some */
	struct atw_blob btf;     /* len 0: none */
	bool dwarf;              /* has .debug_info, or a separate debug file has */
	struct atw_blob build_id;        /* len 0: none */
	/* Range of its image, by its own addresses, both inclusive. */
	uint64_t first, last;

	/* Filled in by kernel_file_open(). */
	bool matched;            /* verified to match this kernel */
	bool placed;             /* shift is known */
	uint64_t shift;          /* from the file's addresses to the kernel's */
	char from[256];          /* its name and how it was verified, as text */
};

/* The format is detected from its bytes. Errors do not include the name of the file. */
int vmfile_open(const char *path, struct vmfile **ret, struct atw_err *err);
void vmfile_close(struct vmfile *f);

/* Addresses as in the file. */
size_t vmfile_find_many(const struct vmfile *f, const char *const *names,
			uint64_t *addr, bool *have, size_t n);
uint32_t vmfile_count(const struct vmfile *f);

/*
 * Addresses in memory; ATW_E_MISSING also if the shift is unknown. Symbols outside of the
 * image, per-CPU data or constants, are not shifted.
 */
int vmfile_symbol(const struct vmfile *f, const char *name, uint64_t *ret);
void vmfile_symbols_many(const struct vmfile *f, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);
int vmfile_near(const struct vmfile *f, uint64_t address, struct lnx_symbol *ret);
/* All of them; *it begins as 0. ATW_END: no more, or the shift is unknown. */
int vmfile_next(const struct vmfile *f, uint32_t *it, struct lnx_symbol *ret);

/*
 * Open k->file and verify that it matches this kernel. Does nothing without a file; every
 * error includes its name.
 */
int kernel_file_open(struct atw_kernel *k, struct atw_err *err);
