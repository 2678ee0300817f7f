/* SPDX-License-Identifier: GPL-2.0-or-later */
/* own.h - an extract that is being made: what its parts share. */
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
	bool paused;             /* what is read now is not kept */
	size_t longest;          /* nor is more than that in one go; 0: any */
	struct atw_extract_stats st;
};

/* All data that is later queried about the kernel. */
void extract_facts(struct extract *x);
/* Tables of an address space. A failure is one of memory; others are counted. */
int extract_space(struct extract *x, const struct mmu_space *sp, const char *name,
		  struct atw_err *err);
/* Areas and tables of a process; failures likewise. */
int extract_process(struct extract *x, const struct owned_space *o, struct atw_err *err);
void extract_deinit(struct extract *x);

#endif
