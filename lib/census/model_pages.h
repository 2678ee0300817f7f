/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_pages.h - properties of the pages of a run, for model.c only. */
#pragma once

#include "census/model.h"

/* What the flags of a capture do not include: H: pageflags, areaflags. */
struct model_lacks {
	bool anon;                       /* of pages */
	bool page_hugetlb, area_hugetlb;
};
struct census_pages model_pages(const struct census_area *a, const struct capture_run *run,
				const struct model_lacks *lacks);
/*
 * Sets `swapbacked`; `before`: the preceding pages. Older kernels set the flag only in
 * the head of a large folio, and its tails follow it.
 */
void model_backing(struct census_pages *p, const struct census_pages *before, uint64_t page);
