/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.h - the sums of a table's columns, as far as they make sense. */
#ifndef OUTPUT_TALLY_H
#define OUTPUT_TALLY_H

#include "record/record.h"

struct tally {
	uint64_t rows;
	uint64_t unknown;                /* bits: of some row it is n/a, or too large */
	uint64_t v[64];
};

/* A row of that schema. */
void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row);
/*
 * The last row of a table with the columns of the schema: the sums, with a label in the
 * first text; *ret_blank are the columns with nothing in them. false: no row is needed,
 * since there was only one, or there is no text column for the label.
 */
bool tally_row(const struct tally *t, const struct atw_schema *sc, union atw_value *v,
	       struct atw_row *ret, uint64_t *ret_blank);

#endif
