/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy.h - policies of `check` and `audit`: what the rows of a listing must and must
 * not be.
 *
 *	[NAME]
 *	over = map --split rights       a command line without SOURCE
 *	forbid = EXPR                   or one of the other rules
 *	needs = EXPR                    a row that must be there; else nothing is known
 *	unknown = EXPR                  a row that must not be there; else nothing is known
 *	process = any                   --pid, --task and COMMAND do not select rows
 *	because = TEXT
 *	severity = error|warning
 */
#pragma once

#include "common/config.h"

enum policy_rule {
	POLICY_NONE,
	POLICY_FORBID,  /* EXPR: no row */
	POLICY_REQUIRE, /* EXPR: a row, or more */
	POLICY_AT_MOST, /* LIMIT rows|COLUMN [where EXPR] */
	POLICY_AT_LEAST,
	POLICY_OVERLAP, /* EXPR with EXPR: no physical memory is in rows of both */
	POLICY_TRACK,   /* rows|COLUMN [where EXPR]: not above the baseline */
};

struct policy {
	const char *name;
	const struct config_entry *over, *rule_at, *needs, *unknown, *because, *tolerance;
	enum policy_rule rule;
	uint64_t limit;
	char *column;      /* its sum counts; NULL: the number of rows */
	char *left;        /* of an overlap: what `where` points to */
	const char *right; /* likewise: the other expression */
	const char *where; /* NULL: every row */
	bool warning;
	bool everything; /* the listing is not of the process of --pid or COMMAND */
	/* The greater one counts. */
	uint64_t tolerated, percent;
	bool limit_unit, tolerated_unit;
};

/* Is the sum of a column of pages in bytes? 20M are, as in expressions (atwalk-filter(7)). */
bool policy_in_bytes(const struct policy *p);

struct policies {
	struct policy *v;
	size_t n, cap;
	struct config *file; /* what they point into */
	size_t nfiles;
};

/*
 * Reads the files; a word without a slash that is none is one of those that are
 * installed. policies_read_installed(): that one. Complain themselves; 0 or an exit
 * status. To be released whatever they return.
 */
int policies_read(struct policies *ret, char *const *file, size_t n);
int policies_read_installed(struct policies *ret, const char *name);
/* How far a count may be from this value. */
uint64_t policy_tolerated(const struct policy *p, uint64_t value);
void policies_release(struct policies *p);
