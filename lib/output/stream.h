/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.h - an output: all that rows go through on their way. */
#ifndef OUTPUT_STREAM_H
#define OUTPUT_STREAM_H

#include "output/ahead.h"
#include "output/sink.h"
#include "output/tally.h"
#include "output/outfile.h"
#include "record/filter.h"
#include "record/group.h"
#include "record/sort.h"

enum output_state { TAKING, COMMITTED, FAILED };

struct atw_output {
	struct filter *filter;           /* NULL: every row */
	struct group *group;             /* NULL: rows as they are */
	struct sorter *sorter;           /* NULL: in the order they come */

	struct columns shown;            /* of what reaches the sink */
	bool as_is;                      /* all of them, in their order */
	struct atw_column col[SCHEMA_MAX];
	struct atw_schema schema;
	union atw_value v[SCHEMA_MAX];

	struct atw_sink sink;
	struct writer w;
	struct outfile target;
	struct buf notes;
	struct buf heading;              /* for the next row; empty: none */
	uint64_t rows;                   /* past the filter */
	bool sumless;                    /* no sums behind the rows, and the limit is of each flush */
	uint64_t before;                 /* rows before the last one */
	uint64_t limit, left_out;        /* rows that are shown, at most; those that are not */
	bool dropped;                    /* the last one was not */
	bool waits;                      /* nothing was shown yet: the first rows are in `ahead` */
	struct ahead ahead;
	struct tally tally;              /* of all that passed the filter; not of groups */

	enum output_state state;
	struct atw_err failure;          /* FAILED: why */
};

/* open.c: what is written before the first row. */
int output_begin(struct atw_output *out, struct atw_err *err);
int output_write_failed(struct atw_output *out, struct atw_err *err);

#endif
