/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * process_memory.h - the memory of another process, read without a change to it.
 *
 * A read of a page that is not present would make the kernel allocate one: page tables
 * for anonymous memory, and memory itself for a memfd. So pagemap is read first, and only
 * pages that are present are read from the process.
 */
#pragma once

#include <atwalk/base.h>

#include "format/procmaps.h"

enum process_page {
	PROCESS_PRESENT, /* mapped by the process */
	PROCESS_SWAPPED, /* a read of it swaps it in */
	PROCESS_STORED,  /* in its file, and not mapped by the process */
	PROCESS_ZERO,    /* never written: reads as zeroes */
	PROCESS_UNKNOWN, /* of a file that cannot be opened: not readable */
};

/* A part of the address space. To be closed by process_area_close(). */
struct process_area {
	uint64_t start, len;
	bool file;       /* of a file, also if that is a memfd */
	int fd;          /* that file, read-only; -1: it cannot be opened */
	uint64_t offset; /* of `start` in it */
};

struct process_memory;

/* ATW_E_MISSING: there is no such process. */
int process_memory_open(uint32_t pid, struct process_memory **ret, struct atw_err *err);
/* NULL is accepted. */
void process_memory_close(struct process_memory *pm);

/* `map`: its line in maps. */
void process_area_open(uint32_t pid, const struct procmaps_area *map,
		       struct process_area *ret);
void process_area_close(struct process_area *a);

/*
 * The state of the page at `at`, and for how many bytes from there on it is the same: at
 * least up to the end of the page. At least 0 bytes of the area lie behind `at`.
 */
int process_memory_look(struct process_memory *pm, const struct process_area *a,
			uint64_t at, enum process_page *ret, uint64_t *len,
			struct atw_err *err);
/* Up to the first byte that is PROCESS_UNKNOWN, or that was unmapped. */
ssize_t process_memory_read(struct process_memory *pm, const struct process_area *a,
			    uint64_t at, void *buf, size_t len, struct atw_err *err);
/* How many bytes of swapped pages were read. */
uint64_t process_memory_swapped(const struct process_memory *pm);
