/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - parser of the --filter expression, which selects rows.
 *
 *	expr  := and { "or" and }
 *	and   := unary { "and" unary }
 *	unary := { "not" } ( "(" expr ")" | WORD | COLUMN OP VALUE )
 *
 * A WORD is one of a column's names: "writable". If several columns have it, the
 * effective value has precedence over the raw one: LETTERS (permissions along the whole
 * path) before ENUM (the state) before FLAGS (bits of one entry); among columns of the
 * same type any may match.
 *
 * A comparison with a value that is n/a is false, also for !=; `not` makes it true. The
 * text of a cell may be typed behind `=`.
 */
#pragma once

#include "record/record.h"

#define FILTER_DEPTH 64          /* nested parentheses */

struct filter;

int filter_create(const char *expr, const struct atw_schema *sc,
		  struct filter **ret, struct atw_err *err);
/* Sizes with a unit, as of 20M, that numbers of pages are compared with: of such pages. */
void filter_page(struct filter *f, unsigned page_shift);
void filter_destroy(struct filter *f);
bool filter_match(const struct filter *f, const struct atw_row *row);

/* The same where n/a is not false: values that are missing can decide. */
enum filter_verdict { FILTER_NO = 1, FILTER_YES, FILTER_UNDECIDED };
enum filter_verdict filter_decide(const struct filter *f, const struct atw_row *row);
/* Bit i: the expression is about column i. */
uint64_t filter_columns(const struct filter *f);
