/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search.h - bytes in physical memory: in the kernel's image first, which lies
 * in one piece, then in all the rest. The last resort where nothing points to
 * what is wanted.
 */
#ifndef LINUX_SEARCH_H
#define LINUX_SEARCH_H

#include "linux/kernel.h"

struct search;

/* A place that has the bytes. Non-zero ends the search and is returned. */
typedef int search_fn(void *arg, atw_pa at, struct search *s);

/*
 * Every place at a multiple of `align` (1, 4 with at least 4 bytes, 8 with at
 * least 8) that has the `len` bytes of `what`. 0 when fn took none. Of a running
 * machine only the kernel's image is searched, if the source knows where it is.
 */
int search_kernel(struct atw_kernel *k, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg);
/* Where that image lies, as the source has it; false: it does not say. */
bool search_live_image(struct atw_source *mem, uint64_t *start, uint64_t *end);
/* The same without a kernel: all of memory, and nothing of a running machine. */
int search_memory(struct atw_source *mem, struct meter *meter, const void *what, size_t len,
		  unsigned align, search_fn *fn, void *arg);
/* Places of types are multiples of 4 in every kernel (scripts/link-vmlinux.sh). */
enum { SEARCH_TYPES_ALIGN = 4 };
/* What the first task is called, with the zeroes behind it (TASK_COMM_LEN). */
enum { SEARCH_FIRST_TASKS = 2, SEARCH_COMM = 16 };
extern const char search_first_task[SEARCH_FIRST_TASKS][SEARCH_COMM];
/* What begins like types and is none costs time: so many are tried. */
enum { SEARCH_TYPES_TRIES = 64 };
/* How BTF begins: magic, version 1, no flags, a header of 24 bytes. */
extern const unsigned char search_types[8];
/* For fn, where that was found: how long it is, if it may be a kernel's. */
uint64_t search_types_length(struct search *s, atw_pa at);
/* For fn: bytes of physical memory, as many as there are in a row. */
size_t search_read(struct search *s, atw_pa at, void *buf, size_t len);

#endif
