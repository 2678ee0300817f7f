/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - state of atwalk report while it reads records and prints reports. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

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
	 * Reports, then the pictures of those that have one, then of a page what is on
	 * its head: all are fed at once.
	 */
	const struct census_report *kind[2 * ANSWERS + 1];
	void *state[2 * ANSWERS + 1];
	size_t n, all;                           /* reports; with pictures */
	const struct census_picture *picture[ANSWERS];   /* NULL: none is wanted */
	void **drawing[ANSWERS];                 /* its state */
	void **head;                             /* likewise */
	char *const *source;
	size_t nsources;
	bool live;                               /* the SOURCE is the running system */
	struct census_summary summary;           /* of all sources */
	/* Of the last source: until they answer, reports may keep what it has. */
	struct census_model *model;
};

/* report_check.c: options and sources that go with all of them? Complains itself. */
int report_check(const struct report *r, int argc, char **argv);

/* report_answer.c: as struct answers wants them; arg is the report. */
int report_finish(void *arg, size_t i, struct atw_output *out, struct atw_err *err);
int report_draw(void *arg, size_t i, struct scene *s, struct atw_err *err);
void report_rows(void *arg, size_t i, struct atw_output_opts *oo);
void report_head_of(void *arg, struct buf *ret);
/* Between two looks: what is known for good leaves now. */
int report_emit_snapshot(struct report *r, struct atw_err *err);

#endif
