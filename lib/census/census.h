/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - census stream: records of physical memory, from producers to reports.
 *
 *	producer                         stream           consumer
 *	collect.c  a provider    \                     /  write.c   a capture's text
 *	read.c     a capture      -> census_sink ->   <   model.c -> events -> reports
 *
 * The stream carries the records of atwalk-capture(5), so that consumers need not
 * distinguish a live system, a dump and a capture of either. It is seen once and never
 * kept: a terabyte of memory is 100 million runs.
 */
#ifndef CENSUS_CENSUS_H
#define CENSUS_CENSUS_H

#include "record/record.h"

#include "format/capture.h"

struct provider;

/* ---- the stream ---- */

/*
 * Records in the order of a capture: H: R: S: before all others, except for H: lines
 * that are known only at the end; U: before the first V: of the file, and once more if
 * more is known of it later; T:, then V: P: and runs of each area; then F:, E:. L:
 * lines stand where the failure occurred, but never between a V: and its runs. Texts
 * belong to the producer and are valid until the call returns. A failure ends the
 * stream.
 */
struct census_sink {
	int (*record)(void *arg, const struct capture_record *rec, struct atw_err *err);
	/*
	 * The run belongs to the area before it. M: and F: lines come as runs, never as
	 * records. ATW_E_LIMIT: the run claims more than can be counted, and was not
	 * counted; the producer reports its position and continues.
	 */
	int (*run)(void *arg, const struct capture_run *run, struct atw_err *err);
	int (*frames)(void *arg, const struct capture_frames *run, struct atw_err *err);
	void *arg;
};

/* ---- producers ---- */

struct census_read_opts {
	/*
	 * Called for each faulty line or run, with file and line, and if the file is
	 * truncated; intact records are passed on all the same. Only the first faults
	 * are reported one by one, and the rest as a number. NULL: the first fault is a
	 * failure.
	 */
	void (*damaged)(void *arg, const struct atw_err *err);
	void *arg;
};
/*
 * read.c: a capture's text, from a file or a pipe ("-"), packed by zstd or not.
 * ATW_E_FORMAT: it is none.
 */
int census_read(const char *path, const struct census_read_opts *o,
		const struct census_sink *to, struct atw_err *err);

struct census_collect_opts {
	bool frames;             /* all frames of RAM, too: F: */
	bool threads;            /* of processes, too: T: */
	bool slabs;              /* slab caches, too: H: slab.NAME */
	bool no_areas;           /* tasks alone: no V: P: M: */
	bool no_tasks;           /* nor any of these */
	/*
	 * Of each task what its pages add up to is enough, where the provider has such
	 * sums: one area, without a name, and runs of no frame. `kinds`: flags of each page
	 * as well; else of large ones alone.
	 */
	bool sums, kinds;
	bool refs;               /* count mappings first; or the kernel's counts alone */
	bool raw;                /* entries as they are, and all flags of pages: those that
	                          * come and go break runs */
	uint32_t pid;            /* this process alone; 0: all */
	uint64_t area_runs;      /* held at once: longer areas come in parts; 0: 65536 */
	/* Progress, in steps of about the same size. NULL: not reported. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};
/* collect.c: what a provider knows. */
int census_collect(struct provider *p, const struct census_collect_opts *o,
		   const struct census_sink *to, struct atw_err *err);

/* ---- write.c: the text ---- */

struct census_writer;
/*
 * `fd` stays the caller's. `level`: of zstd, 1 to 19; 0: plain text. The first line
 * and the last are the writer's: records of these are passed over.
 */
int census_writer_open(int fd, int level, struct census_writer **ret, struct atw_err *err);
struct census_sink census_writer_sink(struct census_writer *w);
/* Everything has left when this returns ATW_OK; adds the E: line. */
int census_writer_end(struct census_writer *w, struct atw_err *err);
/* NULL is fine. */
void census_writer_close(struct census_writer *w);

#endif
