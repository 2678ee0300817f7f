/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - state of atwalk report while it reads records and prints reports. */
#pragma once

#include "common/answers.h"
#include "census.h"
#include "report/picture.h"

enum report_by {
	REPORT_BY_USUAL, REPORT_BY_PROCESS, REPORT_BY_USER, REPORT_BY_CGROUP, REPORT_BY_UNIT,
};

struct report_opts {
	struct census_source_opts source;
	bool virtual, paper, bare;
	const char *watch;
	enum report_by by;
	struct opt_number limit;
};

struct report {
	const struct common *c;
	const struct report_opts *o;
	struct answers a;
	/*
	 * Reports, then their pictures, then the head of a page: all receive the same
	 * records.
	 */
	const struct census_report *kind[2 * ANSWERS + 1];
	void *state[2 * ANSWERS + 1];
	size_t n, all;                           /* reports; with pictures */
	const struct census_picture *picture[ANSWERS];   /* NULL: none is wanted */
	void **drawing[ANSWERS];                 /* its state */
	void **head;                             /* likewise */
	char *const *source;
	size_t nsources;
	bool here;                               /* the SOURCE is the running system */
	struct census_summary summary;           /* of all sources */
	/* Model of the last source: reports may refer to it until they have finished. */
	struct census_model *model;
};

/* Does it change between two looks: the running system, or a guest? */
bool report_is_live(const char *source);
/* Are the SOURCEs of running processes, with the PIDs of this PID namespace? */
bool report_has_own_pids(char *const *source, size_t n);
/*
 * report_plugin.c: runs argv[0] if it is a report of a plugin; *ret is the exit status then.
 * false: it is none.
 */
bool report_plugin_run(struct report *r, int argc, char **argv, int *ret);
/* report_check.c: checks that options and sources suit all reports. Prints errors. */
int report_check(const struct report *r, int argc, char **argv);

/* report_answer.c: callbacks of struct answers; arg is the report. */
int report_finish(void *arg, size_t i, struct atw_output *out, struct atw_err *err);
int report_draw(void *arg, size_t i, struct scene *s, struct atw_err *err);
void report_rows(void *arg, size_t i, struct atw_output_opts *oo);
void report_head_of(void *arg, struct buf *ret);
/* Emits the rows that are final, between two snapshots. */
int report_emit_snapshot(struct report *r, struct atw_err *err);
