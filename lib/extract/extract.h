/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extract.h - extract of a dump: its page tables and the kernel's structures of itself
 * and its tasks, without the contents of pages.
 *
 * The result is an ELF core. Queries about translations, tasks and VMAs have the same
 * results as with the whole dump.
 */
#pragma once

#include "linux/linux.h"

struct atw_extract_stats {
	uint64_t spaces;         /* of processes, CPUs and the kernel */
	uint64_t tables, table_bytes;
	uint64_t fact_bytes;     /* of everything else */
	uint64_t pages;          /* pages of 4 KiB in the file, and runs of them */
	uint64_t runs;
	uint64_t bytes;          /* of the file */
	/* Missing in the source, and therefore in the result. */
	uint64_t lost;           /* page tables */
	uint64_t bad_tasks, bad_spaces;
	struct atw_err first;    /* the first of these two */
	bool no_tasks;           /* no tasks were found: `first` has the reason */
	uint64_t bad_areas;      /* address spaces with unreadable VMAs, or names of
				  * them */
	struct atw_err first_area;       /* the first of these */
};

/* Receives the bytes of the file in order. Less than 0 ends it. */
typedef int atw_extract_write(void *arg, const void *data, size_t len,
			      struct atw_err *err);
/*
 * The kernel must have been opened for this, without any lookup so far: what is read from
 * now on is written to the file. `pages`: with struct pages of mapped memory.
 */
int atw_extract(struct atw_kernel *k, bool pages, atw_extract_write *fn, void *arg,
		struct atw_extract_stats *ret, struct atw_err *err);
