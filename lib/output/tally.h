/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.h - the sums of a table's columns, as far as they make sense. */
#ifndef OUTPUT_TALLY_H
#define OUTPUT_TALLY_H

#include <atwalk/record.h>

struct tally {
	uint64_t rows;
	uint64_t unknown;                /* bits: of some row it is n/a, or too large */
	uint64_t v[64];
};

/* A row of that schema. */
void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row);
/*
 * The last row of a table whose columns are the schema's: sums, in the first text
 * what it is; *ret_blank are those with nothing in them. false: there is nothing to
 * say, for one row is its own sum, or nowhere to say what it is.
 */
bool tally_row(const struct tally *t, const struct atw_schema *sc, union atw_value *v,
	       struct atw_row *ret, uint64_t *ret_blank);

#endif
