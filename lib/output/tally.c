/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tally.c - sums of columns. */
#include "output/tally.h"

void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row)
{
	t->rows++;
	for (size_t i = 0; i < sc->ncols; i++)
		if (sc->col[i].sum &&
		    (!(row->have >> i & 1) ||
		     __builtin_add_overflow(t->v[i], row->v[i].u, &t->v[i])))
			t->unknown |= (uint64_t)1 << i;
}

bool tally_row(const struct tally *t, const struct atw_schema *sc, union atw_value *v,
	       struct atw_row *ret, uint64_t *ret_blank)
{
	bool named = false, any = false;

	*ret = (struct atw_row){ .v = v };
	*ret_blank = 0;
	for (size_t i = 0; i < sc->ncols; i++) {
		uint64_t bit = (uint64_t)1 << i;

		if (sc->col[i].sum) {
			any = true;
			v[i].u = t->v[i];
			ret->have |= t->unknown & bit ? 0 : bit;
		} else if (sc->col[i].type == ATW_T_TEXT && !named) {
			named = true;
			v[i].s = "(sum)";
			ret->have |= bit;
		} else {
			*ret_blank |= bit;
		}
	}
	return t->rows > 1 && named && any;
}
