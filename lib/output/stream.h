/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream.h - internal state of an output: the pipeline that rows pass through. */
#pragma once

#include "output/annotate.h"
#include "output/behind.h"
#include "output/kept.h"
#include "output/sink.h"
#include "output/outfile.h"
#include "record/filter.h"
#include "record/group.h"
#include "record/sort.h"

/* Sums of the columns that can be added up. */
struct tally {
	uint64_t rows;
	uint64_t unknown;                /* bit set of columns with n/a in some row, or
					  * an overflow */
	uint64_t v[64];
};

void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row);
/* The columns that are shown of a row, with values in `v` unless it is shown as it is. */
struct atw_row columns_of(const struct columns *shown, bool as_is, const struct atw_row *row,
			  union atw_value *v);

enum output_state { TAKING, COMMITTED, FAILED };

struct atw_output {
	struct filter *filter;           /* NULL: every row */
	struct annotation *annotate;       /* NULL: no columns of plugins */
	bool late;                       /* the filter is about these */
	struct group *group;             /* NULL: no grouping */
	struct sorter *sorter;           /* NULL: no sorting */

	struct columns shown;            /* columns that the sink gets */
	bool as_is;                      /* all columns in the order of the schema */
	struct atw_column col[SCHEMA_MAX];
	struct atw_schema schema;
	union atw_value v[SCHEMA_MAX];

	struct atw_sink sink;
	struct writer w;
	struct outfile target;
	struct buf notes;
	struct buf heading;              /* above the next row; empty: none */
	uint64_t rows;                   /* that passed the filter */
	struct atw_output_sum *sum;      /* NULL: not wanted */
	bool sumless;                    /* no row of sums, and the limit applies to
					  * each flush */
	uint64_t given, before;          /* rows that are shown; those before the last flush */
	uint64_t limit, left_out;        /* limit of shown rows; number of others */
	bool dropped;                    /* the last row was left out */
	bool waits;                      /* nothing was emitted yet: the first rows are
					  * in `kept` */
	struct kept_rows kept;
	struct behind *behind;           /* NULL: rows are formatted when they are emitted */
	struct tally tally;              /* sums of rows that passed the filter; not of
					  * groups */

	const struct atw_tap *tap;       /* takes the rows; nothing is written then */

	enum output_state state;
	struct atw_err failure;          /* FAILED: the reason */
};

/* open.c: writes what precedes the first row. */
int output_begin(struct atw_output *out, struct atw_err *err);
int output_write_failed(struct atw_output *out, struct atw_err *err);
/* output.c: formats what was kept, with values in `v`. */
int output_show_kept(struct atw_output *out, struct kept_rows *k, union atw_value *v,
		     struct atw_err *err);
