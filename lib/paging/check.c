/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.c - validation of paging modes that callers supply. */
#include "paging/check.h"

/* The largest table has 2^16 entries (concatenated root tables). */
enum { BITS_MAX = 16 };

static int check_failed(const struct atw_paging *pg, const char *member, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_USAGE, "invalid paging mode '%s': %s",
			   pg->name ? pg->name : "", member);
}

int paging_check(const struct atw_paging *pg, struct atw_err *err)
{
	if (!pg)
		return atw_err_set(err, ATW_E_USAGE, "no paging mode is given");
	if (!pg->name || !pg->rules || !pg->rights || !pg->flags)
		return check_failed(pg, "name, rules, rights or flags is NULL", err);
	if (!pg->nlevels || pg->nlevels > ATW_MAX_LEVELS)
		return check_failed(pg, "nlevels is not in 1 to 6", err);
	if (pg->word_size != 4 && pg->word_size != 8)
		return check_failed(pg, "word_size is neither 4 nor 8", err);
	if (!pg->va_bits || pg->va_bits > 64)
		return check_failed(pg, "va_bits is not in 1 to 64", err);
	if (pg->page_shift > 32)
		return check_failed(pg, "page_shift is larger than 32", err);
	for (unsigned i = 0; i < pg->nlevels; i++) {
		const struct atw_level *l = &pg->level[i];

		if (!l->name || l->shift > 63 || !l->bits || l->bits > BITS_MAX ||
		    l->shift + l->bits > 64)
			return check_failed(pg, "a level has no name, or shift and bits that cannot be", err);
	}
	return ATW_OK;
}
