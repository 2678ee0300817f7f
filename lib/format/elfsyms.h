/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfsyms.h - the symbol table of an ELF64 file, asked as kallsyms is.
 *
 * Left out is what no kernel lists either: files, sections, what is not
 * defined, and the marks that assemblers leave ($x, .L...). Addresses are those
 * of the file: KASLR has not moved them. The file is borrowed.
 */
#ifndef FORMAT_ELFSYMS_H
#define FORMAT_ELFSYMS_H

#include "format/elfsec.h"

struct elfsyms {
	const struct elfsec *elf;
	struct atw_blob table;   /* of whole symbols */
	struct atw_blob strings; /* ends with a NUL, or has no bytes */
	uint32_t all;            /* entries of the table */
	uint32_t n;              /* those that are symbols */
	struct elfsyms_place { uint64_t address; uint32_t entry; } *place;  /* in order */
};

/* ATW_E_MISSING: the file has no symbols. `elf` must stay where it is. */
int elfsyms_init(struct elfsyms *ret, const struct elfsec *elf, struct atw_err *err);
/* Fine on a zeroed struct. */
void elfsyms_deinit(struct elfsyms *s);

/* Of several with that name a global one, then the first of the table. */
int elfsyms_find(const struct elfsyms *s, const char *name, uint64_t *ret);
/* The same for many in one pass; see kallsyms_find_many(). */
size_t elfsyms_find_many(const struct elfsyms *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);

struct elfsyms_symbol {
	uint64_t address;
	uint64_t size;           /* the table's; else, as in kallsyms.h, to the next one */
	char type;               /* as nm has it */
	const char *name;
};
/* The symbol that has this address in it; ATW_E_MISSING: none has. */
int elfsyms_near(const struct elfsyms *s, uint64_t address, struct elfsyms_symbol *ret);

#endif
