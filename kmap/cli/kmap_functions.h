/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_functions.h - names of functions while a KMAP is being read. */
#pragma once

#include "kmap/lib/format.h"
#include "kmap/lib/symbols.h"
#include "kmap/lib/table.h"
#include "record/intern.h"

struct function;

struct kmap_functions {
	const struct kmap_symbols_opts *o;
	bool wanted;             /* false: names are not needed, nothing is kept */
	bool files;              /* there are some: what the recording has is compared with them */
	bool compared;
	struct kmap_own_symbols own;     /* up to then */
	/* The recording's, by address; the last ones are not sorted in yet. */
	struct function *function;
	size_t nfunctions, sorted, room;
	struct kmap_symbols *symbols;
	struct kmap_table known; /* instructions that were looked up */
	struct intern texts;
};

/* Opens the files. */
int kmap_functions_init(struct kmap_functions *f, const struct kmap_symbols_opts *o, bool wanted,
			struct atw_err *err);
/* Fine on a zeroed struct. */
void kmap_functions_deinit(struct kmap_functions *f);
/*
 * Header lines of the file, and that an object comes, or the end. ATW_E_DAMAGED: files are
 * of another kernel than the recording.
 */
int kmap_functions_header(struct kmap_functions *f, const struct kmap_record *rec,
			  struct atw_err *err);
int kmap_functions_ready(struct kmap_functions *f, bool last, struct atw_err *err);
/* Are any functions known? */
bool kmap_functions_any(const struct kmap_functions *f);
/* NULL: unknown, not an address of code, or names are not wanted. Valid until deinit. */
const char *kmap_functions_name(struct kmap_functions *f, uint64_t ip);
