/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit.h - mapped files (DSOs), each once.
 *
 * A file is identified by device and inode; by its name if these are not recorded. Copies
 * of one file (a container's layers, btrfs) have other inodes and the same memory: they
 * are joined if their build IDs, or their first frames, are equal.
 */
#pragma once

#include <stdlib.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/table.h"
#include "census/model.h"

enum unit_kind {
	UNIT_FILE,
	UNIT_MEMFD, UNIT_SYSV,
	UNIT_ZERO,                       /* /dev/zero, and memory shared with children */
	UNIT_TMPFS,                      /* /dev/shm */
	UNIT_HUGE,                       /* /anon_hugepage */
	UNIT_DEVICE,
	UNIT_OTHER,                      /* a socket's, io_uring's */
};

struct unit {
	struct census_unit u;
	enum unit_kind kind;
	bool by_inode;
	bool has_build;                  /* copies with the same build ID are joined */
	bool framed;                     /* `first_pa` is known */
	uint64_t first_pa;               /* address of its first page in memory */
	char *recorded, *shown;          /* the name with " (deleted)" and without */
	size_t len;                      /* of `recorded` */
	struct capture_load *load;
	size_t nloads;

	/* In the current address space, see class.c. */
	uint32_t process;                /* 1 + its number; if different, the rest is
					  * stale */
	bool placed, has_text;
	uint64_t base;                   /* address of its first VMA */
	uint64_t bias;                   /* placed: load bias */
	uint64_t text_delta;             /* has_text: from offsets to addresses */
};

struct units {
	struct unit **v;
	size_t n, cap;
	struct table keys, builds, frames;       /* pointers */
	struct unit *last;               /* of the last VMA */
};

/* The representative of joined files. */
struct unit *unit_root(struct unit *u);

void units_deinit(struct units *us);
/* Adds the file of a U: line. NULL: no memory. */
struct unit *units_add(struct units *us, const struct capture_file *f, uint32_t has);
/* The unit of a VMA; *ret NULL: it maps no file. false: no memory. */
bool units_of(struct units *us, const struct capture_area *v, uint32_t has,
	      struct unit **ret);
/* Sets the first frame of the unit. false: no memory. */
bool units_frame(struct units *us, struct unit *u, uint64_t pa);

/* ---- loads ---- */

/* Placement of a file in a process, by the file's program headers. */

/* A VMA of the file: its first address, the offset in the file, and its permissions. */
struct loads_view {
	uint64_t start, offset;
	bool exec, write;
};

/* Of all copies of a file, the unit with the program headers. NULL: none has them. */
const struct unit *loads_of(struct unit *u);
/*
 * The PT_LOAD segment of the VMA; also sets the load bias of the file in this process.
 * NULL: no segment, or the program headers are not recorded. `page`: bytes.
 */
const struct capture_load *loads_place(struct unit *u, uint64_t page,
				       const struct loads_view *v);
/* For a placed file: is this address in PT_GNU_RELRO? */
bool loads_relro(struct unit *u, uint64_t page, uint64_t start);
/* Are start..last in the zero-filled end of a segment (.bss)? */
bool loads_bss(struct unit *u, uint64_t page, uint64_t start, uint64_t last);
