/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtext.h - symbols as lines of text: System.map, /proc/kallsyms.
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0a21000 t helper	[module]
 *
 * Pure: the text is borrowed and must stay unchanged. Other lines are counted and
 * skipped, unless they are the majority. Addresses are those of the text: System.map does
 * not include the offset of KASLR.
 */
#pragma once

#include <atwalk/base.h>

enum {
	SYMTEXT_NAME = 512,      /* longest name including its NUL, as in kallsyms.h */
	SYMTEXT_MODULE = 64,
};

struct symtext_line {
	uint64_t address;
	uint32_t at;             /* offset of the line in the text */
	uint16_t name;           /* offset of its name in the line */
	uint16_t len;            /* of the name */
};

struct symtext {
	struct atw_blob text;
	struct symtext_line *line;
	uint32_t n;              /* symbols */
	uint32_t bad;            /* lines that are not symbols */
	uint32_t first_bad;      /* number of the first of them, from 1; 0: none */
	uint32_t *order;         /* lines by address, or NULL if the text is sorted */
};

/*
 * _E_FORMAT: not such a text. _E_PERM: all addresses are 0, as /proc/kallsyms shows them
 * to processes without CAP_SYSLOG. _E_LIMIT: over 4 GiB.
 */
int symtext_init(struct symtext *ret, struct atw_blob text, struct atw_err *err);
/* A zeroed struct is accepted. */
void symtext_deinit(struct symtext *s);

/*
 * The first symbols of these names, in one pass; see kallsyms_find_many(). In
 * /proc/kallsyms the kernel's own come first.
 */
size_t symtext_find_many(const struct symtext *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);

struct symtext_symbol {
	uint64_t address;
	uint64_t size;           /* as in kallsyms.h */
	char type;
	char name[SYMTEXT_NAME];
	char module[SYMTEXT_MODULE];  /* "" for the kernel itself */
};

/* The symbol that contains this address; ATW_E_MISSING: there is none. */
int symtext_near(const struct symtext *s, uint64_t address, struct symtext_symbol *ret);

/* All symbols in the order of the text; *it begins as 0. ATW_END: no more. */
int symtext_next(const struct symtext *s, uint32_t *it, struct symtext_symbol *ret);
