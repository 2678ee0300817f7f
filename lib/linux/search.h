/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search.h - search for bytes in physical memory: in the kernel image first, which is
 * contiguous, then in all other memory. The last resort if no pointer leads to the data.
 */
#pragma once

#include "linux/kernel.h"
#include "linux/linux.h"

struct search;

/* A match. Non-zero ends the search and is returned. */
typedef int search_fn(void *arg, atw_pa at, struct search *s);

/*
 * Every match of the `len` bytes of `what` at a multiple of `align` (1, 4 with at least 4
 * bytes, 8 with at least 8). 0 if fn accepted none. Of a running machine only the kernel
 * image is searched, if the source knows its address.
 */
int search_kernel(struct atw_kernel *k, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg);
/* The address of the image according to the source; false: not known. */
bool search_live_image(struct atw_source *mem, uint64_t *start, uint64_t *end);
/* The same without a kernel: all of memory; not for a running machine. */
int search_memory(struct atw_source *mem, struct meter *meter, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg);
/* BTF is at a multiple of 4 in every kernel (scripts/link-vmlinux.sh). */
enum { SEARCH_TYPES_ALIGN = 4 };
/* The name of the first task, with the zeroes behind it (TASK_COMM_LEN). */
enum { SEARCH_FIRST_TASKS = 2, SEARCH_COMM = 16 };
extern const char search_first_task[SEARCH_FIRST_TASKS][SEARCH_COMM];
/* Limit of candidates for BTF, because each costs time. */
enum { SEARCH_TYPES_TRIES = 64 };
/* The header of BTF: magic, version 1, no flags, a header of 24 bytes. */
extern const unsigned char search_types[8];
/* For fn, at such a match: the length of the BTF, if it may be a kernel's. */
uint64_t search_types_length(struct search *s, atw_pa at);
/* For fn: bytes of physical memory, as many as are contiguous. */
size_t search_read(struct search *s, atw_pa at, void *buf, size_t len);

/* ---- scan.c: search for VMCOREINFO texts in memory ---- */

/* A candidate: `text` is valid during the call only. Non-zero ends the scan. */
typedef int scan_fn(void *arg, const struct atw_vmcoreinfo *vi, atw_pa at);

/*
 * Pass every VMCOREINFO text in memory to fn, in ascending order. RAM also contains stale
 * copies and the format string itself: fn must validate them. *unreadable is increased by
 * the number of pages that cannot be read.
 */
int scan_vmcoreinfo(struct atw_source *mem, struct meter *meter, scan_fn *fn, void *arg,
		    uint64_t *unreadable);

enum {
	SCAN_TEXT_MAX = 65536,
	SCAN_NOTE = 24,          /* the note's header, before its text */
	SCAN_HEAD = SCAN_NOTE + 10,      /* and the text's first key */
};
/* The offset of a text in its page, from the page's first SCAN_HEAD bytes. */
bool scan_text_place(const char *head, unsigned *ret);
/* Passes what is there to fn, if it is such a text; `text` has room for SCAN_TEXT_MAX. */
int scan_offer(struct atw_source *mem, uint64_t at, char *text, scan_fn *fn, void *arg);

/* ---- scan_image.c: the same by the kernel's pointers to it ---- */

/*
 * Passes texts to fn that the kernel's image points to, as long as fn returns 0: after some
 * hundred pages, however large the memory is. 0: none was accepted.
 */
int scan_image(struct atw_source *mem, scan_fn *fn, void *arg);
