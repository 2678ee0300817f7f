/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own.h - internal interface of the files that make an extract. */
#ifndef EXTRACT_OWN_H
#define EXTRACT_OWN_H

#include "extract/extract.h"

#include "base/buf.h"
#include "extract/marks.h"
#include "extract/tables.h"
#include "linux/kernel.h"
#include "linux/spaces.h"

struct extract {
	struct atw_kernel *k;
	struct kmem *m;
	struct byte_marks marks;
	struct tables tables;
	struct spaces spaces;
	struct buf notes;
	bool paused;             /* reads are not recorded now */
	size_t longest;          /* limit of a single recorded read; 0: none */
	struct atw_extract_stats st;
};

/* All data that is later queried about the kernel. */
void extract_facts(struct extract *x);
/* Tables of an address space. Fails only without memory; other failures are counted. */
int extract_space(struct extract *x, const struct mmu_space *sp, const char *name,
		  struct atw_err *err);
/* VMAs and tables of a process; failures likewise. */
int extract_process(struct extract *x, const struct owned_space *o, struct atw_err *err);
void extract_deinit(struct extract *x);

#endif
