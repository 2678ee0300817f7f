/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.h - struct page of the pages that processes map. */
#ifndef EXTRACT_PAGES_H
#define EXTRACT_PAGES_H

#include "extract/marks.h"
#include "linux/spaces.h"

/* What is read in larger pieces are whole sections of struct pages. */
enum { PAGES_LONGEST = 512 };

/*
 * Marks them, by the parts in which they are read again. That what else is read
 * to find them is marked is the caller's part.
 */
int pages_add(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m,
	      struct atw_err *err);
/*
 * Without a symbol for the huge zero folio: marks the struct page from which it is
 * recognized, if processes map it.
 */
void pages_add_zeroes(struct atw_kernel *k, const struct spaces *s, struct byte_marks *m);

#endif
