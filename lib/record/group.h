/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group.h - one row for each value of a column.
 *
 * Its columns are the grouped one, `count` (how many rows had the value) and
 * `size`, the sum of theirs; a schema without a `size` of bytes has the sum
 * of every column of bytes or pages instead, under its own key; of hidden ones
 * of pages it is hidden. Rows for which the column is n/a are a group of their
 * own. A sum of what is n/a everywhere is
 * n/a; one that does not fit stays at its maximum.
 *
 * Grouped by `size` itself, the sum is called `total`; by `count`, the number
 * of rows is called `rows`: a key has one meaning.
 */
#ifndef RECORD_GROUP_H
#define RECORD_GROUP_H

#include "record/record.h"

struct group;

int group_create(const char *key, const struct atw_schema *sc,
		 struct group **ret, struct atw_err *err);
void group_destroy(struct group *g);
/* What the rows of group_next() look like; column 0 is the grouped one. */
const struct atw_schema *group_schema(const struct group *g);
int group_add(struct group *g, const struct atw_row *row, struct atw_err *err);
/* The next group in the order they appeared, until the next call. */
bool group_next(struct group *g, struct atw_row *ret);

#endif
