/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - functions by address: those that a recording brings along, or those of a
 * file of its kernel.
 */
#pragma once

#include "linux/linux.h"

#include "base/buf.h"

/*
 * Symbols from the header lines of a recording; zeroed it is empty. The same function
 * may occur again.
 */
struct kmap_own_symbols {
	struct buf text;                 /* "ADDR t NAME" lines; freed by the owner */
	uint64_t n, all;                 /* so many are here; in all, 0: not known */
};
/* Of any other key nothing is done. false: no memory. */
bool kmap_own_symbols_header(struct kmap_own_symbols *s, struct atw_blob key,
			     struct atw_blob value);

struct kmap_symbols_opts {
	const char *symbols;             /* kallsyms, System.map or vmlinux; NULL: the file's own */
	const char *kernel;              /* vmlinux with debug information; NULL: none */
};

struct kmap_symbols;

/* Of the files. Errors name the option and its file. */
int kmap_symbols_open(const struct kmap_symbols_opts *o, struct kmap_symbols **ret,
		      struct atw_err *err);
/*
 * And of the recording, once; its text must stay. ATW_E_DAMAGED: a file is of another
 * kernel.
 */
int kmap_symbols_of(struct kmap_symbols *s, const struct kmap_symbols_opts *o,
		    const struct kmap_own_symbols *own, struct atw_err *err);
/* NULL is fine. */
void kmap_symbols_close(struct kmap_symbols *s);

/* Are there any? Has the kernel's file debug information? */
bool kmap_symbols_any(const struct kmap_symbols *s);
bool kmap_symbols_dwarf(const struct kmap_symbols *s);
/* The function that an instruction is in; its size is 0 where it is not known. */
bool kmap_symbols_near(const struct kmap_symbols *s, uint64_t ip, struct lnx_symbol *ret);
