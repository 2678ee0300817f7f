/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - sums of a process in pages: the columns of Figure 2 of Movall et al.
 *
 * rw and rx are the totals; stack, .data, heap, and the libraries' .bss and .data are
 * parts of rw; .text and the libraries' are parts of rx; single and multi are parts of
 * the libraries' .text. "Heap" includes the program's .bss (2.2.1). Shared memory, mapped
 * files and other memory that the paper lacks are `other`.
 */
#pragma once

#include "base/buf.h"
#include "census/model.h"

enum sum {
	SUM_RW, SUM_RX, SUM_TOTAL, SUM_STACK, SUM_DATA, SUM_TEXT, SUM_HEAP, SUM_LIB_BSS,
	SUM_LIB_DATA, SUM_LIB_TEXT, SUM_SINGLE, SUM_MULTI, SUM_OTHER,
	/* Parts of rw and rx. */
	SUM_BSS, SUM_RODATA, SUM_RELRO, SUM_ANON, SUM_JIT, SUM_SHM, SUM_FILE, SUM_RESERVED,
	SUM_SWAPPED,
	SUMS,
};

struct sums {
	uint64_t n[SUMS];
	bool guess;                      /* some classes are guesses */
	bool unknown;                    /* some pages of lib_text have no mapcount */
	bool counted, uncounted;         /* some pages of any class have one; have none */
	uint32_t incomplete;             /* bits 1 << SUM_...: these are incomplete */
};

_Static_assert(SUMS <= 32, "a bit for each");

/* The column of the VMA's pages. */
enum sum sums_column(const struct census_area *a);
/* Adds `pages` of the VMA, resident or not. */
void sums_area(struct sums *s, const struct census_area *a, uint64_t pages);
/* The VMA may have more pages than are recorded; NULL: the process may have more VMAs. */
void sums_untold(struct sums *s, const struct census_area *a);
/*
 * At the end of a VMA: adds pages that P: counts and no run lists. false: none were
 * added, and the number of unlisted pages is not known. `virtual`: as below.
 */
bool sums_rest(struct sums *s, const struct census_area *a, bool virtual);
/*
 * Adds resident pages. `virtual`: only single and multi, as sums_area() counts the rest.
 */
void sums_pages(struct sums *s, const struct census_pages *p, bool virtual);

/* ---- processes with their names and sums, in input order ---- */

struct process_sums {
	uint64_t pid;
	size_t name;                     /* in `names` */
	bool paper;                      /* in the LPMA format, which has no swap */
	bool bare;                       /* a task without memory of its own, so far */
	struct sums resident, virtual;
};

struct processes {
	struct process_sums *v;
	size_t n, cap;
	struct buf names;
};

void processes_deinit(struct processes *p);
int processes_add(struct processes *p, struct atw_blob name, uint64_t pid, bool paper,
		  struct atw_err *err);
/* Adds AREA_END, PAGES and PROCESS_END to the last process. */
void processes_feed(struct processes *p, const struct census_event *ev);
static inline const char *processes_name(const struct processes *p, size_t i)
{
	return p->names.data + p->v[i].name;
}
