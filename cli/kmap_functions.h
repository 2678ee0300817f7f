/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_functions.h - the functions of code, of a KMAP that is read as it comes. */
#ifndef CLI_KMAP_FUNCTIONS_H
#define CLI_KMAP_FUNCTIONS_H

#include "format/kmap.h"
#include "kmap/symbols.h"
#include "kmap/table.h"
#include "record/intern.h"

struct kmap_functions {
	const struct kmap_symbols_opts *o;
	bool wanted;             /* nobody asks for them: nothing is kept */
	bool ready;              /* the text of those of the recording is in use */
	struct kmap_own_symbols own;
	struct kmap_symbols *symbols;
	struct kmap_table known; /* instructions that were looked up */
	struct intern texts;
};

/* Opens the files. */
int kmap_functions_init(struct kmap_functions *f, const struct kmap_symbols_opts *o, bool wanted,
			struct atw_err *err);
/* Fine on a zeroed struct. */
void kmap_functions_deinit(struct kmap_functions *f);
/* Header lines of the file, and that there are no more of them. */
int kmap_functions_header(struct kmap_functions *f, const struct kmap_record *rec,
			  struct atw_err *err);
int kmap_functions_ready(struct kmap_functions *f, struct atw_err *err);
/* NULL: not known, no address of code, or nobody asks. Until deinit. */
const char *kmap_functions_name(struct kmap_functions *f, uint64_t ip);

#endif
