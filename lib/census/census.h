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
#pragma once

#include "base/buf.h"
#include "format/capture.h"
#include "record/record.h"

struct provider;

/* ---- the stream ---- */

/*
 * Records in the order of a capture: H: R: S: before all others, except for H: lines
 * that are known only at the end; U: before the first V: of the file, and once more if
 * more is known of it later; T:, then V: P: and runs of each area; then F:, C:, E:. L:
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
	/*
	 * NULL, or takes T: V: P: and M: lines as text, as many as `count` says, where they
	 * would come as records and runs: threads format them then.
	 */
	int (*lines)(void *arg, const char *text, size_t len, const struct capture_end *count,
		     struct atw_err *err);
};

/* ---- texts of a task ---- */

/* Offsets in a buffer that keeps them. */
struct census_texts {
	size_t name, cgroup, exe;
};
struct census_texts census_texts_keep(struct buf *b, const struct capture_task *t);
/* Has the texts of `t`, which are of the same lengths, point into the buffer. */
void census_texts_set(struct capture_task *t, const struct buf *b,
		      const struct census_texts *at);

/* ---- producers ---- */

struct census_read_opts {
	/*
	 * Called for each faulty line or run, with file and line, and if the file is
	 * truncated; valid records are passed on nevertheless. Only the first faults are
	 * reported individually, the rest as a number. NULL: the first fault is a
	 * failure.
	 */
	void (*damaged)(void *arg, const struct atw_err *err);
	void *arg;
	unsigned threads;        /* that parse beside the caller's */
};
/*
 * read.c: reads a capture from a file or a pipe ("-"), compressed or not. ATW_E_FORMAT:
 * not a capture.
 */
int census_read(const char *path, const struct census_read_opts *o,
		const struct census_sink *to, struct atw_err *err);

struct census_collect_opts {
	bool frames;             /* all frames of RAM as well: F: */
	bool threads;            /* threads of processes as well: T: */
	bool slabs;              /* slab caches as well: H: slab.NAME */
	bool cached;             /* with frames: files in the page cache as well: C: */
	bool no_areas;           /* tasks only: no V: P: M: */
	bool no_tasks;           /* nor tasks */
	/*
	 * Only the sums of each task's pages are needed, if the provider has them: one
	 * VMA without a name, and runs without frames. `kinds`: with flags of each page;
	 * else only of large ones.
	 */
	bool sums, kinds;
	bool refs;               /* count mappings first; or only the kernel's
				  * mapcounts */
	bool raw;                /* unmodified entries, and all flags of pages:
				  * volatile ones break runs */
	uint32_t pid;            /* only this process; 0: all */
	uint64_t area_runs;      /* runs per part of a VMA; 0: 65536 */
	/* Progress, in steps of about the same size. NULL: not reported. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
	/*
	 * Threads beside the caller's that collect processes, if `another` opens a further
	 * provider of the same source for each of them. These are closed by census_collect().
	 */
	unsigned jobs;
	int (*another)(void *arg, struct provider **ret, struct atw_err *err);
	void *another_arg;
};
/* collect.c: reads a provider. */
int census_collect(struct provider *p, const struct census_collect_opts *o,
		   const struct census_sink *to, struct atw_err *err);

/* ---- write.c: captures ---- */

struct census_writer;
/*
 * `fd` remains owned by the caller. `level`: of zstd, 1 to 19; 0: plain text. The writer
 * adds the first and the last line: records of these are ignored.
 */
int census_writer_open(int fd, int level, struct census_writer **ret, struct atw_err *err);
struct census_sink census_writer_sink(struct census_writer *w);
/* Adds the E: line; ATW_OK: all output has been written. */
int census_writer_end(struct census_writer *w, struct atw_err *err);
/* NULL is accepted. */
void census_writer_close(struct census_writer *w);
