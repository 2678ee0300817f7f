/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sort.h - rows in the order of some columns.
 *
 * Sorting is the one thing that has to keep rows: as words, with each text
 * once, and only the columns that will be looked at again. Rows that compare
 * equal stay as they came. What is n/a comes last, whichever way the column
 * is sorted.
 */
#ifndef RECORD_SORT_H
#define RECORD_SORT_H

#include "record/record.h"

#include "record/schema.h"

struct sort_key {
	uint8_t col;
	bool desc;
};

struct sort_keys {
	size_t n;
	struct sort_key key[SCHEMA_MAX];
};

/* "size:desc,address" */
int sort_parse(const char *spec, const struct atw_schema *sc,
	       struct sort_keys *ret, struct atw_err *err);

struct sorter;

/* `keep`: the columns that sorter_next() shall give back. */
int sorter_create(const struct atw_schema *sc, const struct sort_keys *keys,
		  const struct columns *keep, struct sorter **ret,
		  struct atw_err *err);
void sorter_destroy(struct sorter *s);
int sorter_add(struct sorter *s, const struct atw_row *row,
	       struct atw_err *err);
/* No more rows. */
int sorter_finish(struct sorter *s, struct atw_err *err);
/* The next row, until the next call. Others than the kept columns are n/a. */
bool sorter_next(struct sorter *s, struct atw_row *ret);

#endif
