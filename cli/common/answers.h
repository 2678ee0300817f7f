/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answers.h - several answers to one pass over a source, each with a name and rows of
 * its own: as tables, as pictures, or as a page of both, to where the user said.
 *
 *	answers_choose(&a, "basic,areas");      which
 *	answers_check(&a);                      do the options go with all of them?
 *	answers_open(&a, &err);                 could all of them be written? Before the pass
 *	answers_print(&a, &err);                 after it
 *	answers_close(&a, status);
 */
#pragma once

#include "command.h"
#include "plot/html_report.h"
#include "plot/draw.h"
#include "output/outfile.h"

enum { ANSWERS = 32 };           /* of one pass */

struct answer {
	const char *name, *title, *help;
	const struct atw_schema *schema;
	bool picture;                    /* it has a picture */
};

struct answers {
	/* Set by the command. */
	const struct common *c;
	const char *command;             /* for people: "report" */
	const char *title;               /* of a page of them */
	bool bare;                       /* a layout of their own, for plain output */
	struct opt_number limit;         /* rows of each; 0 of them are no answer */
	bool (*kind)(size_t i, struct answer *ret);      /* all there are; false past the end */
	/* Rows of answer i, to `out` if it is not NULL; then it may be drawn. */
	int (*finish)(void *arg, size_t i, struct atw_output *out, struct atw_err *err);
	int (*draw)(void *arg, size_t i, struct scene *s, struct atw_err *err);
	/* What is wanted of its rows beside what is of all. NULL: nothing. */
	void (*rows)(void *arg, size_t i, struct atw_output_opts *oo);
	/* Of what a page is, once all is read. NULL: it does not say. */
	void (*head)(void *arg, struct buf *ret);
	void *arg;

	struct answer v[ANSWERS];        /* those that were chosen */
	size_t which[ANSWERS], n;        /* their numbers */
	bool plain;
	const struct picture_format *format;     /* the answer is a picture; NULL: rows */
	bool page;                       /* it is a page of both: HTML */
	struct atw_output *out[ANSWERS]; /* NULL: not open */
	struct outfile *target[ANSWERS];  /* of several files: all get names at once */
	struct outfile drawn[ANSWERS];    /* a file that waits for its name */
	struct html *html;
	bool made;                       /* the folder they go to */
	bool lacks;                      /* a result is incomplete, as reported */
};

/* SOURCE... NAME[,NAME...]: the names go to the front of argv, where they belong. */
void answers_order(const struct answers *a, int argc, char **argv);
/* Is each of NAME[,NAME...] one that there is? */
bool answers_known(const struct answers *a, const char *list);
/* NAME[,NAME...], and what the format means for them. Prints errors; 0 or an exit status. */
int answers_choose(struct answers *a, const char *list);
/* Does the output have pictures? */
static inline bool answers_drawn(const struct answers *a)
{
	return a->format || a->page;
}
/* Checks the options. Prints errors; returns 0 or an exit status. */
int answers_check(const struct answers *a);
/* Opens and checks the outputs of all answers, before anything is read. */
int answers_open(struct answers *a, struct atw_err *err);
int answers_print(struct answers *a, struct atw_err *err);
/* Closes the outputs; after a failure nothing is left, not even an empty folder. */
void answers_close(struct answers *a, bool failed);

/* Output options for the rows of answer i. */
void answers_rows(const struct answers *a, size_t i, struct atw_output_opts *ret);

/* answers_picture.c */
int answers_check_picture(const struct answers *a);
int answers_check_pictures(struct answers *a, struct atw_err *err);
int answers_open_page(struct answers *a, struct atw_err *err);
int answers_print_pictures(struct answers *a, struct atw_err *err);

/* For answers_picture.c. "FOLDER/NAME.ending", or -o itself where one answer is all. false: it is too long. */
bool answers_path(const struct answers *a, size_t i, const char *ending, char path[4096]);
/* The folder for several, if -o names one. A signal that ends all of it takes it along. */
int answers_folder(struct answers *a, struct atw_err *err);
