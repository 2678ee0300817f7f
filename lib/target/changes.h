/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * changes.h - comparison of two states of an address space: VMAs and runs of pages in,
 * changes out. No target is needed; snapshot.h reads the states from one.
 */
#pragma once

#include <atwalk/base.h>

enum { CHANGES_READ = 1, CHANGES_WRITE = 2, CHANGES_EXEC = 4, CHANGES_SHARED = 8 };

/* A VMA. Addresses are inclusive. */
struct changes_area {
	uint64_t first, last;
	uint64_t offset, inode; /* inode 0: not known, or no file */
	uint32_t major, minor;
	uint8_t rights; /* CHANGES_READ ... */
	bool rights_known;
	bool name_known;  /* false: it may map any file */
	const char *name; /* empty: none */
	/* Set by the comparison: bytes of it that are mapped likewise on the other side.
	 */
	uint64_t common;
};

/*
 * Pages that follow each other, also where they lead. Of what is mapped `at` is the
 * physical address of the first; on swap, its offset in bytes.
 */
struct changes_run {
	uint64_t first, last;
	uint64_t at;
	uint8_t state;  /* enum page_state; PAGE_LOST: not known */
	uint8_t rights; /* of user mode, CHANGES_READ ... */
	uint8_t swap_type;
	bool at_known, rights_known;
	bool same; /* all of them lead to one page */
};

/* Both in ascending order, without overlaps. */
struct changes_side {
	struct changes_area *area;
	size_t nareas;
	const struct changes_run *run;
	size_t nruns;
	bool incomplete; /* areas may be missing */
};

enum changes_what {
	CHANGES_STARTED,
	CHANGES_ENDED, /* processes: never found here */
	CHANGES_AREA_MAPPED,
	CHANGES_AREA_UNMAPPED,
	CHANGES_AREA_GROWN,
	CHANGES_AREA_SHRUNK,
	CHANGES_AREA_RIGHTS,
	CHANGES_PAGE_MAPPED,
	CHANGES_PAGE_UNMAPPED,
	CHANGES_PAGE_MOVED,
	CHANGES_PAGE_RIGHTS,
	CHANGES_SWAPPED_OUT,
	CHANGES_SWAPPED_IN,
	CHANGES_STATE,
	CHANGES_KINDS,
};

struct changes_row {
	enum changes_what what;
	uint64_t first, last;
	/* At these addresses, before and after; NULL: none. */
	const struct changes_area *area[2];
	uint64_t size[2];           /* AREA_GROWN, AREA_SHRUNK: of the whole area */
	struct changes_run page[2]; /* of pages; PAGE_ABSENT: none */
	bool implied;               /* pages where only one side has an area */
};

/* Bytes that cannot be compared, for at least one side lacks something. */
struct changes_unknown {
	uint64_t areas; /* only one side has them, the other is incomplete */
	uint64_t area_rights;
	uint64_t pages;                  /* whether they are mapped */
	uint64_t physical, rights;       /* of mapped pages: one side lacks it */
	uint64_t no_physical, no_rights; /* both sides lack it */
};

/* ATW_OK, or what ends the comparison. */
typedef int changes_fn(void *arg, const struct changes_row *row, struct atw_err *err);

struct changes_opts {
	uint64_t page; /* bytes of the smallest page */
	bool areas_only;
	bool pages_only; /* areas are names of addresses alone */
	bool no_rights;  /* of pages: not compared */
};

/* Areas first, then pages, each by address. Adds to *unknown. */
int changes_find(struct changes_side side[2], const struct changes_opts *o,
		 changes_fn *fn, void *arg, struct changes_unknown *unknown,
		 struct atw_err *err);
