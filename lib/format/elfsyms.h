/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsyms.h - the symbol table of an ELF64 file, with the interface of kallsyms.h.
 *
 * Symbols that kernels do not list are omitted: files, sections, undefined ones, and
 * mapping symbols of assemblers ($x, .L...). Addresses are those of the file, without the
 * offset of KASLR. The file is borrowed.
 */
#pragma once

#include "format/elfsec.h"

struct elfsyms {
	const struct elfsec *elf;
	struct atw_blob table;   /* an integral number of symbols */
	struct atw_blob strings; /* ends with a NUL, or is empty */
	uint32_t all;            /* entries of the table */
	uint32_t n;              /* entries that are symbols */
	struct elfsyms_place { uint64_t address; uint32_t entry; } *place; /* sorted */
};

/* ATW_E_MISSING: the file has no symbols. `elf` is borrowed and must stay valid. */
int elfsyms_init(struct elfsyms *ret, const struct elfsec *elf, struct atw_err *err);
/* A zeroed struct is accepted. */
void elfsyms_deinit(struct elfsyms *s);

/*
 * In one pass, see kallsyms_find_many(). Of several symbols of a name a global one, else
 * the first of the table.
 */
size_t elfsyms_find_many(const struct elfsyms *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);

struct elfsyms_symbol {
	uint64_t address;
	uint64_t size;           /* from the table; else up to the next symbol, as in
				  * kallsyms.h */
	char type;               /* letter as in nm(1) */
	const char *name;
};
/* The symbol that contains this address; ATW_E_MISSING: there is none. */
int elfsyms_near(const struct elfsyms *s, uint64_t address, struct elfsyms_symbol *ret);
/*
 * All symbols by address; *it begins as 0. A size that the table lacks is 0. ATW_END: no
 * more.
 */
int elfsyms_next(const struct elfsyms *s, uint32_t *it, struct elfsyms_symbol *ret);
