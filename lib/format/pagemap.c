/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pagemap.c - validation of PAGEMAP_SCAN results. */
#include "format/pagemap.h"

size_t pagescan_check(const struct pagescan_arg *a, struct pagescan_region *v, size_t n,
		      uint64_t page, uint64_t *next)
{
	uint64_t at = a->start, pages = 0, on;
	size_t kept = 0;
	bool full;

	if (n > a->vec_len)
		n = a->vec_len;
	full = n == a->vec_len;
	for (size_t i = 0; i < n; i++) {
		struct pagescan_region r = v[i];

		r.start &= ~(page - 1);
		r.end &= ~(page - 1);
		if (r.start < at)
			r.start = at;
		if (r.end > a->end)
			r.end = a->end;
		if (r.start >= r.end)
			continue;
		pages += (r.end - r.start) / page;
		at = r.end;
		v[kept++] = r;
	}
	full |= a->max_pages && pages >= a->max_pages;
	/* Only a full array may be followed by more regions. */
	on = a->walk_end & ~(page - 1);
	if (on < at || on > a->end)
		on = at;
	*next = full && on < a->end ? on : a->end;
	return kept;
}
