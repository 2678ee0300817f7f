/* SPDX-License-Identifier: GPL-2.0-or-later */
/* checking.h - policies evaluated over the rows of listings. */
#pragma once

#include "check_overlap.h"
#include "policy.h"
#include "record/filter.h"

enum check_verdict { CHECK_OK, CHECK_VIOLATED, CHECK_UNKNOWN };

struct check_result {
	const struct policy *policy;
	enum check_verdict verdict;
	uint64_t count, limit;
	bool counted;    /* the listing was there: `count` is known so far */
	bool known;      /* and nothing is missing in it */
	bool limited;    /* `limit` is known */
	struct buf what; /* the first rows that violate it, or why nothing is known */
	/* Of a program: which of its looks that was (check_looks.h). */
	const char *moment; /* NULL: it is not about a program */
	char task[16];
	uint64_t pid, looks;

	/* While the listing runs. */
	struct filter *where, *right, *needs, *unknown;
	struct check_ranges side[2]; /* POLICY_OVERLAP */
	struct check_overlap_columns at;
	struct buf why; /* a row that says that it is not known */
	int column;
	uint64_t matched, undecided, shown;
	bool needed;
};

/* Options of `check` that are options of its listings, too. */
enum {
	CHECK_PID,
	CHECK_TASK,
	CHECK_KERNEL,
	CHECK_ROOT,
	CHECK_PAGING,
	CHECK_PTE_EXT,
	CHECK_CBIT,
	CHECK_PASSED,
};

struct checking {
	const struct common *c;
	const char *source;
	bool runs; /* a program: `source` is the running kernel */
	const char *passed[CHECK_PASSED];
	const struct policies *policies;
	struct check_result *result;   /* one each */
	const struct config *baseline; /* NULL: none */
};

/*
 * Runs each listing once and decides. Prints errors; 0, or EXIT_USAGE where a policy
 * or an option is wrong: then there are no results.
 */
int checking_run(struct checking *k);
void checking_release(struct checking *k);

/* check_text.c: "address=0x1000 rights=rwx", of these columns and of those that say what
 * it is. */
void check_text(struct buf *ret, const struct atw_schema *sc, const struct atw_row *row,
		uint64_t columns);
