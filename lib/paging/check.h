/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check.h - validation of struct atw_paging: callers of the library may supply their own.
 */
#ifndef LIB_PAGING_CHECK_H
#define LIB_PAGING_CHECK_H

#include "paging/paging.h"

/* A cheap check of what is needed to decode one word. */
static inline bool paging_has(const struct atw_paging *pg, unsigned level)
{
	return pg && pg->rules && pg->rights && pg->flags && level < pg->nlevels &&
	       pg->nlevels <= ATW_MAX_LEVELS;
}

/* The complete check. ATW_E_USAGE: names the member that is missing or out of range. */
int paging_check(const struct atw_paging *pg, struct atw_err *err);

#endif
