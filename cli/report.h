/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - what atwalk report keeps while it listens and answers. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "census.h"
#include "census/picture.h"
#include "output/html_report.h"
#include "output/picture.h"
#include "output/target.h"

struct report_opts {
	struct census_source_opts source;
	bool virtual, paper;
	const char *watch;
	const char *by;
	struct opt_number limit;
};

/* All of one pass. */
enum { REPORTS = 32 };

struct report {
	const struct common *c;
	const struct report_opts *o;
	/*
	 * Reports, then the pictures of those that have one, then of a page what is on
	 * its head: all are fed at once.
	 */
	const struct census_report *kind[2 * REPORTS + 1];
	void *state[2 * REPORTS + 1];
	struct atw_output *out[REPORTS];         /* NULL: not open */
	struct target *target[REPORTS];          /* of several files: all get names at once */
	size_t n, all;                           /* reports; with pictures */
	bool plain;
	bool live;                               /* the SOURCE is the running system */
	bool lacks;                              /* some was not told what it is about */
	bool made;                               /* the folder they go to */
	struct census_told told;                 /* of all sources */
	/* Of the last source: until they answer, reports may keep what it has. */
	struct census_model *model;

	/* report_picture.c */
	const struct picture_format *format;     /* the answer is a picture; NULL: rows */
	bool page;                               /* it is a page of both: HTML */
	struct html *html;
	void **head;                             /* its state */
	char *const *source;
	size_t nsources;
	const struct census_picture *picture[REPORTS];   /* NULL: none is wanted */
	void **drawing[REPORTS];                 /* its state */
	struct target drawn[REPORTS];            /* a file that waits for its name */
};

/* report_check.c: options and sources that go with all of them? Likewise. */
int report_check(const struct report *r, int argc, char **argv);

/* report_answer.c: what was typed must suit all of them, before anything is read. */
int report_open(struct report *r, struct atw_err *err);
/* Between two looks: what is known for good leaves now. */
int report_tell_look(struct report *r, struct atw_err *err);
int report_answer(struct report *r, struct atw_err *err);
/* How rows of report i are wanted. */
void report_output_opts(const struct report *r, size_t i, struct atw_output_opts *ret);

/* Is the answer a picture or a page? Complains itself; 0 or an exit status. */
int report_choose_pictures(struct report *r);
/* Can they be written, as far as can be told before? */
int report_check_pictures(struct report *r, struct atw_err *err);
/* A page has one output for all reports. */
int report_open_page(struct report *r, struct atw_err *err);
int report_answer_pictures(struct report *r, struct atw_err *err);

/* Run report i; rows go to `out` too, if it is not NULL. */
int report_finish(struct report *r, size_t i, struct atw_output *out, struct atw_err *err);
/* "FOLDER/NAME.ending", or -o itself where one report is all. false: it is too long. */
bool report_path(const struct report *r, size_t i, const char *ending, char path[4096]);
/* The folder for several reports, if -o names one. */
int report_folder(struct report *r, struct atw_err *err);

#endif
