/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter.h - which rows the user wants.
 *
 *	expr  := and { "or" and }
 *	and   := unary { "and" unary }
 *	unary := { "not" } ( "(" expr ")" | WORD | COLUMN OP VALUE )
 *
 * A WORD is one of a column's names: "writable". Where several columns know
 * it, the folded answer counts before the raw one: LETTERS (rights along the
 * whole path) before ENUM (the state) before FLAGS (bits of one entry); of
 * columns of one type any may have it.
 *
 * A value that is n/a makes every comparison false, != as well; `not` turns
 * that into true. What a cell shows may be typed behind `=`.
 */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include "record/record.h"

#define FILTER_DEPTH 64          /* parentheses inside parentheses */

struct filter;

int filter_create(const char *expr, const struct atw_schema *sc,
		  struct filter **ret, struct atw_err *err);
void filter_destroy(struct filter *f);
bool filter_match(const struct filter *f, const struct atw_row *row);

#endif
