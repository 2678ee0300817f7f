/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.h - sums of the columns of a table that can be added up. */
#ifndef OUTPUT_TALLY_H
#define OUTPUT_TALLY_H

#include "record/record.h"

struct tally {
	uint64_t rows;
	uint64_t unknown;                /* bit set of columns with n/a in some row, or
					  * an overflow */
	uint64_t v[64];
};

/* Add a row of that schema. */
void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row);
/*
 * The row of sums with the columns of the schema, labelled in the first text column;
 * *ret_blank are the columns without a sum. false: no such row, because there was only
 * one row, or there is no text column for the label.
 */
bool tally_row(const struct tally *t, const struct atw_schema *sc, union atw_value *v,
	       struct atw_row *ret, uint64_t *ret_blank);

#endif
