/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_marks.h - flags of a page in /proc/PID/pagemap, in the form of the flags of a paging
 * mode: soft-dirty and uffd-wp are software bits of a PTE, the others are found in kernel
 * structures.
 */
#ifndef TARGET_PAGE_MARKS_H
#define TARGET_PAGE_MARKS_H

#include "linux/page.h"

enum page_mark { MARK_SOFT_DIRTY, MARK_EXCLUSIVE, MARK_FILE, MARK_UFFD_WP, MARKS };
extern const char *const mark_names[MARKS];

/* Their numbers are the last there are; no mode has so many flags of its own. */
enum { MARKS_FIRST = 64 - MARKS };
#define MARK_AT(m) (MARKS_FIRST + (m))
#define MARK(m) ((uint64_t)1 << MARK_AT(m))
#define MARKS_ALL (~(uint64_t)0 << MARKS_FIRST)

/* PTE flags of a paging mode by mark; `unknown`: marks that no PTE of that kernel has. */
struct page_marks {
	uint64_t soft_dirty, uffd_wp, unknown;
	uint64_t special;        /* no flag: bits of raw entries of the lowest tables */
};

/* For that kernel release; NULL: not known, and no mark is read from a PTE. */
void marks_find(struct page_marks *m, const struct atw_paging *pg, const char *release);
/* Of a page of user space that is there, by the flags of its entry. */
uint64_t marks_of_flags(const struct page_marks *m, atw_va va, uint64_t flags);
uint64_t marks_of_soft(const struct atw_soft_word *s);
/* What struct page says. */
uint64_t marks_of_page(const struct lnx_page *page);

#endif
