/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sort.h - rows in the order of some columns.
 *
 * Sorting has to keep all rows: as words, with each text stored once, and only the
 * columns that are used later. The sort is stable. Values that are n/a come last in both
 * directions.
 */
#pragma once

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

/* `keep`: the columns that sorter_next() returns. */
int sorter_create(const struct atw_schema *sc, const struct sort_keys *keys,
		  const struct columns *keep, struct sorter **ret,
		  struct atw_err *err);
void sorter_destroy(struct sorter *s);
int sorter_add(struct sorter *s, const struct atw_row *row, struct atw_err *err);
/* No more rows. */
int sorter_finish(struct sorter *s, struct atw_err *err);
/* The next row, valid until the next call. Columns that are not kept are n/a. */
bool sorter_next(struct sorter *s, struct atw_row *ret);
