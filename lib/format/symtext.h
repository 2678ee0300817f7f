/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtext.h - symbols as lines of text: System.map, /proc/kallsyms.
 *
 *	ffffffff81000000 T _stext
 *	ffffffffc0a21000 t helper	[module]
 *
 * Pure: the text is borrowed and must stay as it is. Lines that are something
 * else are counted and passed over, unless they are the most of it. Addresses
 * are those of the text: System.map has none of what KASLR added.
 */
#ifndef FORMAT_SYMTEXT_H
#define FORMAT_SYMTEXT_H

#include <atwalk/base.h>

enum {
	SYMTEXT_NAME = 512,      /* longest name and its NUL, as in kallsyms.h */
	SYMTEXT_MODULE = 64,
};

struct symtext_line {
	uint64_t address;
	uint32_t at;             /* where the line begins in the text */
	uint16_t name;           /* where its name begins, from there */
	uint16_t len;            /* of the name */
};

struct symtext {
	struct atw_blob text;
	struct symtext_line *line;
	uint32_t n;              /* symbols */
	uint32_t bad;            /* lines that are none */
	uint32_t first_bad;      /* the first one's number, from 1; 0: none */
	uint32_t *order;         /* lines by address, or NULL: they are as they lie */
};

/*
 * _E_FORMAT: not such a text. _E_PERM: it is, but every address is 0, as /proc/kallsyms
 * shows them to processes without CAP_SYSLOG. _E_LIMIT: over 4 GiB.
 */
int symtext_init(struct symtext *ret, struct atw_blob text, struct atw_err *err);
/* Fine on a zeroed struct. */
void symtext_deinit(struct symtext *s);

/* The first symbol of that name; /proc/kallsyms has the kernel's own first. */
int symtext_find(const struct symtext *s, const char *name, size_t len,
		 uint64_t *ret);

/* The same for many names in one pass; see kallsyms_find_many(). */
size_t symtext_find_many(const struct symtext *s, const char *const *names,
			 uint64_t *addr, bool *have, size_t n);

struct symtext_symbol {
	uint64_t address;
	uint64_t size;           /* as in kallsyms.h */
	char type;
	char name[SYMTEXT_NAME];
	char module[SYMTEXT_MODULE];  /* "" in the kernel's own */
};

/* The symbol that has this address in it; ATW_E_MISSING: none has. */
int symtext_near(const struct symtext *s, uint64_t address,
		 struct symtext_symbol *ret);

/* All of them, as they lie in the text; *it begins as 0. ATW_END: no more. */
int symtext_next(const struct symtext *s, uint32_t *it, struct symtext_symbol *ret);

#endif
