/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model_pages.h - properties of the pages of a run, for model.c only. */
#pragma once

#include "census/model.h"

/* What the flags of a capture do not include: H: pageflags, areaflags. */
struct model_lacks {
	bool anon;                       /* of pages */
	bool page_hugetlb, area_hugetlb;
};
/* *p: of the preceding pages, if any; of these then. `page`: bytes. */
void model_pages(const struct census_area *a, const struct capture_run *run,
		 const struct model_lacks *lacks, uint64_t page, struct census_pages *p);
/*
 * The same of a run that is like the one before, of the same area. false: it has to be
 * looked at as a whole.
 */
bool model_pages_like(const struct capture_run *run, struct census_pages *p);
