/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group.h - one row for each value of a column.
 *
 * The columns of the result are the grouped one, `count` (the number of rows with the
 * value) and `size`, the sum of their sizes. A schema without a `size` of bytes has the
 * sum of every column of bytes or pages instead, under its own key; sums of hidden
 * columns of pages are hidden. Rows in which the grouped column is n/a are a group of
 * their own. A sum is n/a if all its terms are; one that overflows stays at the maximum.
 *
 * If `size` itself is the grouped column, the sum is called `total`; if `count` is, the
 * number of rows is called `rows`, because keys are unique.
 */
#pragma once

#include "record/record.h"

struct group;

int group_create(const char *key, const struct atw_schema *sc,
		 struct group **ret, struct atw_err *err);
void group_destroy(struct group *g);
/* The schema of the rows of group_next(); column 0 is the grouped one. */
const struct atw_schema *group_schema(const struct group *g);
int group_add(struct group *g, const struct atw_row *row, struct atw_err *err);
/* The next group in order of first appearance, valid until the next call. */
bool group_next(struct group *g, struct atw_row *ret);
