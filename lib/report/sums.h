/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - a process in numbers of pages: the columns of the paper's Figure 2.
 *
 * Its sums: rw and rx are all there is; stack, .data, heap, and the libraries' .bss
 * and .data are rw; .text and the libraries' are rx; single and multi are those of
 * the libraries' .text. "Heap" has the program's .bss (2.2.1). What it did not know
 * of, as shared memory and mapped files, is `other`.
 */
#ifndef REPORT_SUMS_H
#define REPORT_SUMS_H

#include "census/model.h"

enum sum {
	SUM_RW, SUM_RX, SUM_TOTAL, SUM_STACK, SUM_DATA, SUM_TEXT, SUM_HEAP, SUM_LIB_BSS,
	SUM_LIB_DATA, SUM_LIB_TEXT, SUM_SINGLE, SUM_MULTI, SUM_OTHER,
	/* Parts of those. */
	SUM_BSS, SUM_RODATA, SUM_RELRO, SUM_ANON, SUM_JIT, SUM_SHM, SUM_FILE, SUM_RESERVED,
	SUM_SWAPPED,
	SUMS,
};

struct sums {
	uint64_t n[SUMS];
	bool guess;                      /* what some of them are for */
	bool unknown;                    /* some pages of lib_text have no count */
	uint32_t incomplete;             /* bits 1 << SUM_...: these are incomplete */
};

_Static_assert(SUMS <= 32, "a bit for each");

/* The column that pages of the area are in. */
enum sum sums_column(const struct census_area *a);
/* `pages` of the area, wherever they are. */
void sums_area(struct sums *s, const struct census_area *a, uint64_t pages);
/* The area may have more pages than are recorded; NULL: and the process more areas. */
void sums_untold(struct sums *s, const struct census_area *a);
/*
 * At the end of an area: adds pages that P: counts and no run lists. false: none were
 * added, and the number of unlisted pages is not known. `virtual`: as below.
 */
bool sums_rest(struct sums *s, const struct census_area *a, bool virtual);
/* Pages that are in memory. `virtual`: sums_area() counts, this only single and multi. */
void sums_pages(struct sums *s, const struct census_pages *p, bool virtual);

#endif
