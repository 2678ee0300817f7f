/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - where the addresses of a range lie: physical addresses, or why there are
 * none, from page tables or from a provider.
 */
#pragma once

#include "target/provider.h"
#include "target/target.h"

struct place_range {
	uint64_t at, len;        /* of those that were asked for; bytes */
	uint64_t pa;             /* with `have_pa`, of `at`: PAGE_PRESENT, PAGE_PROTNONE */
	uint64_t same;           /* bytes of a page that all of it maps; 0: it is contiguous */
	bool have_pa;
	bool repeat;             /* the tables before it, again: not walked */
	bool hidden;             /* whether anything is there is not known */
	uint8_t state;           /* enum page_state */
};

/* Is there memory, even if an access faults? */
static inline bool place_is_mapped(const struct place_range *p)
{
	return (p->state == PAGE_PRESENT || p->state == PAGE_PROTNONE) && !p->repeat;
}

struct places;

/* Of first..last. Without `absent`, what is not mapped at all is left out. */
int places_open_tables(struct target *t, const struct mmu_space *space, uint64_t first,
		       uint64_t last, bool absent, struct places **ret,
		       struct atw_err *err);
/* The same of a task of a provider, with what is not mapped. Both are borrowed. */
int places_open_pages(struct provider *p, size_t task, uint64_t first, uint64_t last,
		      struct places **ret, struct atw_err *err);
/*
 * In order, without overlaps. ATW_END after the last. ATW_E_LIMIT: the rest of the page
 * tables is not read.
 */
int places_next(struct places *p, struct place_range *ret, struct atw_err *err);
void places_close(struct places *p);
