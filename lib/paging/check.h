/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check.h - is this struct a paging mode? Callers of the library may fill one in. */
#ifndef LIB_PAGING_CHECK_H
#define LIB_PAGING_CHECK_H

#include "paging/paging.h"

/* Enough to look at one word: cheap. */
static inline bool paging_has(const struct atw_paging *pg, unsigned level)
{
	return pg && pg->rules && pg->rights && pg->flags && level < pg->nlevels &&
	       pg->nlevels <= ATW_MAX_LEVELS;
}

/* All of it. ATW_E_USAGE: a member is missing or out of its range, and which. */
int paging_check(const struct atw_paging *pg, struct atw_err *err);

#endif
