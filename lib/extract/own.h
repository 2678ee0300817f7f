/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own.h - what the parts of an extract share: processes, page tables, struct pages, and
 * what a running kernel had.
 */
#ifndef EXTRACT_OWN_H
#define EXTRACT_OWN_H

#include "extract/extract.h"
#include "base/buf.h"
#include "extract/marks.h"
#include "linux/kernel.h"
#include "linux/spaces.h"
#include "walk/walk.h"
#include "base/table.h"

/* ---- tables.c: the page tables of address spaces, each table once ---- */

struct tables {
	struct byte_marks *marks;
	/*
	 * Tables are read without marking: for a running machine. Each space is walked
	 * again then, because a table of a process that ended may be another's by now;
	 * but tables visited while `shared` is set are visited once.
	 */
	bool reading, shared;
	struct table seen;       /* by address and level */
	uint64_t bytes, lost;
	void *scratch;           /* room for the largest table */
	bool failed;             /* an allocation failed */
};

void tables_deinit(struct tables *t);
/* All tables that both roots of the space lead to. ATW_E_LIMIT: those visited so far. */
int tables_add(struct tables *t, const struct mmu_space *sp, struct atw_err *err);

/* ---- own.c ---- */

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

/* ---- pages.c: struct pages of mapped memory for an extract ---- */

/* Larger reads are whole sections of struct pages. */
enum { PAGES_LONGEST = 512 };

/*
 * Marks struct pages in the units in which they will be read. The caller marks other
 * reads that are needed to find them.
 */
int pages_add(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m,
	      struct atw_err *err);
/*
 * Without a symbol for the huge zero folio: marks the struct page from which it is
 * recognized, if processes map it.
 */
void pages_add_zeroes(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m);

/* ---- moving.c: consistent read of a running machine for an extract ---- */

/*
 * Processes start, end and change while they are read. Those that exist in the first and
 * the last snapshot are read until the recorded bytes are complete, and the lists of
 * tasks are written as if there were no others.
 */

struct moving {
	struct atw_source *record, *replay;
	uint64_t bad_tasks;      /* unreadable ones; `first` is the first failure */
	struct atw_err first;
};

int moving_read(struct atw_kernel *k, struct moving *ret, struct atw_err *err);
void moving_deinit(struct moving *m);

#endif
