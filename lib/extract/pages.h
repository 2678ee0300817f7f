/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.h - struct pages of mapped memory for an extract. */
#ifndef EXTRACT_PAGES_H
#define EXTRACT_PAGES_H

#include "extract/marks.h"
#include "linux/spaces.h"

/* Larger reads are whole sections of struct pages. */
enum { PAGES_LONGEST = 512 };

/*
 * Marks struct pages in the units in which they will be read. The caller marks other
 * reads that are needed to find them.
 */
int pages_add(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m,
	      struct atw_err *err);
/*
 * Without a symbol for the huge zero folio: marks the struct page from which it is
 * recognized, if processes map it.
 */
void pages_add_zeroes(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m);

#endif
