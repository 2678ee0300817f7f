/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * extract.h - a dump of a dump: its page tables and what the kernel says of
 * itself and its tasks, and nothing of what the pages hold.
 *
 * The result is an ELF core. Every question about translations, tasks and
 * memory areas has the answer in it that it has in the whole dump.
 */
#ifndef EXTRACT_EXTRACT_H
#define EXTRACT_EXTRACT_H

#include "linux/linux.h"

struct atw_extract_opts {
	size_t size;             /* sizeof this struct, for the ABI */
	bool pages;              /* with struct page of what processes map */
};

struct atw_extract_stats {
	uint64_t spaces;         /* address spaces: processes', CPUs', the kernel's */
	uint64_t tables, table_bytes;
	uint64_t fact_bytes;     /* of everything else */
	uint64_t pages;          /* of 4 KiB that the file has, in so many runs */
	uint64_t runs;
	uint64_t bytes;          /* of the file */
	/* What the source lacks, and the result therefore too. */
	uint64_t lost;           /* page tables */
	uint64_t bad_tasks, bad_spaces;
	struct atw_err first;    /* the first of these two */
	bool no_tasks;           /* none were found: `first` says why */
	uint64_t bad_areas;      /* address spaces with areas, or names of areas,
	                          * that could not be read */
	struct atw_err first_area;       /* the first of these */
};

/* Takes the file's bytes, first to last. Less than 0 ends it. */
typedef int atw_extract_write(void *arg, const void *data, size_t len,
			      struct atw_err *err);
/*
 * The kernel must have been opened for this and not been asked anything: what
 * it reads from now on is what goes into the file.
 */
int atw_extract(struct atw_kernel *k, const struct atw_extract_opts *o,
		atw_extract_write *fn, void *arg,
		struct atw_extract_stats *ret, struct atw_err *err);

#endif
