/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmfile.h - the file of --kernel: what it is, and what is in it. That it
 * belongs to the dump at hand, and how far KASLR moved the kernel from where
 * the file has it, file_match.c finds out.
 */
#ifndef LINUX_VMFILE_H
#define LINUX_VMFILE_H

#include "base/buf.h"
#include "base/file.h"
#include "format/elfsyms.h"
#include "format/symtext.h"
#include "linux/kernel.h"

enum vmfile_kind { VMFILE_ELF, VMFILE_TEXT, VMFILE_BTF };

struct vmfile {
	struct file file;
	struct buf copy;         /* of a file that cannot be mapped */
	struct atw_blob bytes;   /* of either */
	enum vmfile_kind kind;
	struct elfsec elf;
	struct elfsyms elfsyms;
	struct symtext text;
	bool symbols;            /* it has some */
	struct atw_blob btf;     /* len 0: none */
	bool dwarf;              /* has .debug_info, its own or elsewhere */
	struct atw_blob build_id;        /* len 0: none */
	/* Where its image lies, by its own addresses, both inclusive. */
	uint64_t first, last;

	/* Filled in by kernel_file_open(). */
	bool matched;            /* shown to be of this kernel */
	bool placed;             /* shift is known */
	uint64_t shift;          /* from the file's addresses to the kernel's */
	char from[256];          /* its name and why it is trusted, as words */
};

/* Recognised by its bytes. Errors do not name the file. */
int vmfile_open(const char *path, struct vmfile **ret, struct atw_err *err);
void vmfile_close(struct vmfile *f);

/* As they stand in the file. */
size_t vmfile_find_many(const struct vmfile *f, const char *const *names,
			uint64_t *addr, bool *have, size_t n);
uint32_t vmfile_count(const struct vmfile *f);

/*
 * Where they are in memory; ATW_E_MISSING also as long as the shift is unknown.
 * What lies outside of the image, a CPU's data or a constant, is not shifted.
 */
int vmfile_symbol(const struct vmfile *f, const char *name, uint64_t *ret);
void vmfile_symbols_many(const struct vmfile *f, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);
int vmfile_near(const struct vmfile *f, uint64_t address, struct lnx_symbol *ret);

/*
 * Open k->file and see that it is of this kernel. Nothing to do without one;
 * every error names it.
 */
int kernel_file_open(struct atw_kernel *k, struct atw_err *err);

#endif
