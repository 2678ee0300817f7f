/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate.h - parts of the command annotate: rows, and sums of them. */
#pragma once

#include "base/table.h"
#include "listing.h"
#include "target/place.h"
#include "trace/data_source.h"
#include "trace/reader.h"

enum annotate_col {
	A_LINE, A_ADDRESS, A_KIND, A_SIZE, A_EVENTS, A_WEIGHT, A_CACHE, A_TLB, A_PHYSICAL,
	A_PAGE, A_NODE, A_STATE, A_RIGHTS, A_USE, A_PAGEFLAGS, A_PID, A_TASK, A_TID, A_CPU,
	A_TIME, A_IP, A_SYMBOL, A_SEEN_PHYSICAL, A_SEEN_PAGE, A_AREA_RIGHTS, A_AREA, A_INPUT,
	A_COLS,
};
#define ACOL(c) ((uint64_t)1 << (c))

/* What is known of an address: states of listings, and one more. */
enum { ANNOTATE_UNREADABLE = STATE_REPEAT + 1, ANNOTATE_STATES };
extern const struct atw_names annotate_states;

/* One reference and its place. */
struct annotate_ref {
	const struct trace_ref *ref;
	struct atw_blob input;
	struct place place;
	unsigned state;          /* of annotate_states, with `have_state` */
	bool have_state;
	uint64_t pid;            /* with `have_pid` */
	bool have_pid;
	const char *task;        /* NULL: unknown */
	const char *area;        /* NULL: none, or unknown */
};

/* ---- annotate_rows.c ---- */

struct annotate_rows {
	struct atw_column col[A_COLS];
	struct atw_schema schema;
	const char *flag[64];
	struct atw_names flags;
	char symbol[512], input[TRACE_LINE_MAX + 1];
};

/* narrow: for a plain table. */
void annotate_columns(struct annotate_rows *r, const struct listing *l, bool narrow);
int annotate_row(struct annotate_rows *r, const struct annotate_ref *a, uint64_t line,
		 struct atw_output *out, struct atw_err *err);

/* ---- annotate_sums.c: --summary ---- */

struct annotate_sum {
	uint64_t samples;        /* lines */
	uint64_t events;         /* that these stand for; so do the following */
	uint64_t tlb_known, tlb_misses, cache_known, cache_misses;
	uint64_t weight, weighed; /* sum of weights, and samples that have one */
};

struct annotate_group {
	uint64_t pid, start, page;
	unsigned state;
	enum large_why why;
	bool have_pid, have_state, have_page, have_area, have_why;
	uint8_t rights;          /* of the area, with have_rights */
	bool have_rights;
	char task[17];
	char *area;
	struct annotate_sum sum;
};

struct annotate_sums {
	struct table table;      /* of groups, by a hash of what they differ in */
	struct annotate_group *group;
	size_t n, cap;
	uint64_t smallest;       /* bytes of a page */
	bool eligible;           /* the source says which areas may have large pages */
	bool unset;              /* but not what the system allows */
	struct annotate_sum all;
	struct annotate_sum unlisted;    /* of areas beyond the limit */
};

extern const struct atw_schema annotate_sums_schema;
int annotate_sums_add(struct annotate_sums *s, const struct annotate_ref *a,
		      struct atw_err *err);
/* Emits the rows, and lines below them. */
int annotate_sums_put(struct annotate_sums *s, struct atw_output *out, struct atw_err *err);
void annotate_sums_deinit(struct annotate_sums *s);
