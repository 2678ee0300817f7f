/* SPDX-License-Identifier: GPL-2.0-or-later */
/* collect.h - internal interface of census_collect(). */
#pragma once

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/table.h"
#include "census/census.h"
#include "linux/vm_flags.h"
#include "target/provider.h"

/* Files that have been emitted, by device and inode. */
struct told_file {
	uint64_t dev, inode;         /* dev: major << 32 | minor */
	uint32_t tries;
	bool known;                  /* no more information can be found */
};
struct told_files {
	struct told_file *v;
	size_t n, cap;
	struct table table;          /* 1 + index, by both */
};

struct collect_missed {
	uint64_t unsized;            /* pages for which it is not known whether large
				      * ones map them */
	uint64_t stale;              /* frames that were reused before they were read */
	uint64_t vanished;           /* tasks that ended before they were emitted */
};

struct jobs;

struct collect {
	struct provider *p;
	struct vma_cursor *vmas;     /* of the task under way, */
	struct page_cursor *pages;   /* and its pages */
	const struct census_collect_opts *o;
	const struct census_sink *to;
	uint64_t page;               /* bytes */
	struct extents ram;          /* of R: lines */
	struct told_files files;
	struct task_about *about;    /* attributes of the current task */
	uint64_t pid;                /* of the current task; 0: none */
	/* The sink's status for records that the provider's callback emitted. */
	int failed;
	struct atw_err why;

	/* The current area, and those of its pages that are not emitted yet. */
	bool open, outside;          /* outside: of no VMA of the process */
	bool blind;                  /* its pages are not known */
	struct atw_area area;
	uint64_t start, last;        /* of the part that runs belong to */
	struct capture_run *run;
	size_t n, cap;
	uint64_t unsummed;           /* pages like the last run's that are not added to
				      * `sums` yet */
	struct capture_sums sums;
	uint64_t resident;           /* pages */
	bool kinds, swaps;           /* known for all pages: origin, swap */
	bool counted, uncounted;     /* pages with known and with unknown counts
				      * occurred */

	bool summed;                 /* the provider has sums */
	struct jobs *jobs;           /* NULL: there are no threads */
	struct collect_missed missed;
	uint64_t gone;               /* the last task that ended before it was emitted; 0:
				      * none */
};

/* All that /proc/PID/maps shows of vm_flags. */
enum { COLLECT_AREA_FLAGS = VM_RIGHTS | VM_MAYSHARE };

/* collect.c */
int collect_lost(struct collect *c, const char *what, const struct atw_err *why,
		 struct atw_err *err);
int collect_lost_range(struct collect *c, const char *what, const char *why, uint64_t start,
		       uint64_t last, struct atw_err *err);

struct others;

/* Has the provider report failures to this collector. false: no memory. */
bool collect_begin(struct collect *c);
void collect_deinit(struct collect *c);
/* Task `i` of the provider's list, with failures that its callback met. */
int collect_one(struct collect *c, size_t i, struct atw_err *err);
/* The same behind tasks without memory that precede it. `others`: NULL: there are none. */
int collect_in_turn(struct collect *c, struct others *others, size_t i, struct atw_err *err);
void collect_progress(const struct collect *c, uint64_t done, uint64_t all);

/* ---- collect_task.c ---- */

/* Reads task `i` of the provider's list. */
int collect_task(struct collect *c, size_t i, struct atw_err *err);

/* Emits the U: line of the current VMA's file, if that was not emitted yet. */
int collect_file(struct collect *c, struct atw_err *err);
/* Does a U: line say more than those that were emitted? It is taken for emitted. */
bool collect_file_is_new(struct collect *c, const struct capture_record *rec);
void told_files_deinit(struct told_files *f);

/* ---- collect_others.c ---- */

/* Lists all tasks without memory, which others_emit_before() emits in parts. */
int collect_others(struct collect *c, struct others **ret, struct atw_err *err);
/* Emits those before process `pid`, which is the next one; UINT64_MAX: the rest. */
int others_emit_before(struct collect *c, struct others *o, uint64_t pid,
		       struct atw_err *err);
/* NULL is accepted. */
void others_drop(struct others *o);

/* ---- collect_jobs.c ---- */

/*
 * Tasks are listed. Threads begin with what is needed behind the count of mappings;
 * collect_jobs_end() ends them.
 */
void collect_jobs_ahead(struct collect *c);
void collect_jobs_end(struct collect *c);
/* Emits the slab caches; ATW_E_UNSUPPORTED: no thread has listed them. */
int collect_jobs_slabs(struct collect *c, struct atw_err *err);
/* ATW_E_UNSUPPORTED: not by several threads. `others`: see collect_others(); may be NULL. */
int collect_by_jobs(struct collect *c, struct others *others, struct atw_err *err);

/* ---- collect_area.c ---- */

/* Mask of the page flags that are emitted. */
uint64_t collect_flags(const struct collect *c);
/* `a` NULL: memory at `first` that belongs to no VMA. */
void collect_area_begin(struct collect *c, const struct atw_area *a, uint64_t first);
/* The part first..last of the run, which is in the VMA. */
int collect_piece(struct collect *c, const struct page_run *r, uint64_t first, uint64_t last,
		  struct atw_err *err);
/* Ends the current VMA, or its part up to `last`, and emits it. */
int collect_area_end(struct collect *c, uint64_t last, struct atw_err *err);
