/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages.h - state of `atwalk pages`, shared by its files: what to list, and its rows. */
#pragma once

#include "listing.h"
#include "target/smaps.h"

enum page_col {
	P_ADDRESS, P_END, P_SIZE, P_PHYSICAL, P_PFN, P_LEVEL, P_RIGHTS, P_STATE, P_FLAGS, P_PROPERTIES,
	P_ENTRY, P_NODE, P_COUNT, P_KCOUNT, P_SWAP, P_PAGEFLAGS, P_ORDER, P_REFS,
	P_HEAD, P_CGROUP, P_MAPPED, P_RSS, P_PSS, P_USS, P_PRIVATE, P_SHARED, P_SWAPPED,
	P_HUGE, P_THP_ANON, P_THP_SHMEM, P_THP_FILE, P_HUGETLB, P_PID, P_TASK, P_AREA,
	P_COLS,
};
_Static_assert((int)P_COLS <= (int)ROW_MOST, "struct row has room for them");

struct swap_name {
	bool tried, missed;      /* missed: it was said why there is none */
	char name[256];          /* empty: not known */
};

/* Of an area or a process, bytes. */
struct page_sum {
	uint64_t size, mapped;           /* mapped: whatever page tables lead to */
	struct smaps of;
};

/*
 * What of a process is listed together: rows that begin at `from` or behind it, and before
 * `until`. Several absent pages of an area are one row.
 */
struct pages_part {
	uint64_t from;                   /* 0: from the first one on */
	uint64_t until;                  /* UINT64_MAX: to the last one */
};

struct pages {
	struct session *src;
	const struct common *c;
	struct atw_output *out;
	struct listing list;             /* its columns are ours, too */
	struct atw_column col[P_COLS];
	struct atw_schema schema;
	const char *flag[64];            /* of pages */
	struct atw_names flags;

	struct pages_worker *thread;     /* of this; NULL: it is the command's */
	struct target_query asked;       /* of prov */
	struct provider *prov;
	struct page_query query;         /* of every listing */
	struct vma_cursor *vmas;         /* of the listing under way, */
	struct page_cursor *pages;       /* and its pages */
	struct pages_part part;
	bool repeats;                    /* the next area was read for another part, too */
	struct swap_name swap[32];
	char swap_text[300];

	bool areas_only, each;           /* --areas-only, --all */
	bool whole;                      /* --address: all of the page that it is in */
	bool sums;                       /* sums of single pages, which are not listed */
	bool shares;                     /* sums by mapcount as well */
	bool totals;                     /* --totals */
	bool summed;                     /* the provider has sums for them */
	struct smaps_look look;
	/* --watch: receives the row of each process. */
	int (*taken)(void *arg, const struct row *r, struct atw_err *err);
	void *taker;
	struct page_sum total;           /* of the process that is being listed */
	bool headings;
	bool live;
	const char *areas;               /* --areas, or NULL */
	struct address *range;           /* parts of the address space; none: all */
	size_t nranges;

	/* Counts of what was listed. */
	uint64_t processes, mapped, swapped, other, absent, unknown, unswapped;
	struct smaps listed;             /* p->sums: of all */
	uint64_t split, unsplit;         /* --all: pages of large ones; large ones that stay one */
	bool inside;                     /* of an area, be it that nothing is there */
	uint64_t lost, excluded, damaged, unstable, bad, unread, pageless, stale;
	uint64_t ended, ended_before;    /* processes, while they were read; of a capture */
	struct unreadable unreadable;
	struct atw_err said;             /* last error printed, to skip repetitions */
};

/* The area being listed, or the pages outside of all areas. */
struct page_area {
	const struct page_task *task;
	const struct atw_area *area;     /* NULL: outside */
	uint64_t first, last;            /* what of it is listed */
	uint64_t absent, absent_len;     /* a run not shown yet */
	struct page_sum sum;
	bool open;
	struct row row;             /* what all its rows have in common */
};

/* ---- pages_task.c ---- */

/* Lists task `t` of the provider, or a part of it; ATW_END: it has ended. */
int pages_list_task(struct pages *p, size_t t, struct atw_err *err);
int pages_list_part(struct pages *p, size_t t, struct pages_part part, struct atw_err *err);
/* May tasks be listed in parts, and is the output the same? */
bool pages_have_parts(const struct pages *p);
/* Its row by sums that the provider has; ATW_E_UNSUPPORTED: it has to be listed for that. */
int pages_sum_task(struct pages *p, size_t t, struct atw_err *err);
/* provider_cannot_fn: what cannot be read is said, and the rest is listed all the same. */
void pages_cannot(void *arg, const char *what, const struct atw_err *err);

/* ---- pages_jobs.c ---- */

/*
 * Tasks first..end-1, by several threads. ATW_E_UNSUPPORTED: it was not done, and one has to
 * do it.
 */
int pages_by_jobs(struct pages *p, const struct space_opts *space, size_t first, size_t end,
		  struct atw_err *err);
/* In a thread, instead of saying it: `text` is to be freed. */
void pages_jobs_heading(struct pages_worker *w, char *text);
void pages_jobs_error(struct pages_worker *w, const struct atw_err *err);
void pages_jobs_cannot(struct pages_worker *w, const char *what, const struct atw_err *err);
void pages_jobs_no_swap(struct pages_worker *w, unsigned type, const struct atw_err *err);

/* ---- pages_rows.c ---- */

void pages_columns(struct pages *p);
/* The name of a device of this type is not to be had, for that reason; said once. */
void pages_no_swap(struct pages *p, unsigned type, const struct atw_err *why);
int area_begin(struct pages *p, struct page_area *a, const struct page_task *task,
	       const struct atw_area *area, uint64_t first, uint64_t last,
	       struct atw_err *err);
/* Lists the part first..last of a run, which lies in the area. */
int area_piece(struct pages *p, struct page_area *a, const struct page_run *run,
	       uint64_t first, uint64_t last, struct atw_err *err);
int area_end(struct pages *p, struct page_area *a, struct atw_err *err);
/* Is the run one of absent pages, which are one row with those of its neighbours? */
bool pages_are_absent(const struct page_run *run);

/* ---- pages_sums.c ---- */

/* Adds first..last of a run to the sums of an area: mapped, swapped, ... */
void pages_sum(struct pages *p, struct page_area *a, const struct page_run *run,
	       uint64_t first, uint64_t last);
/* --totals: adds the sums of a process, if the provider has them. */
void pages_add_sums(struct pages *p, const struct provider_sums *sums);
/* Sets the sums of an area or a process as values of its row. */
void pages_set_sums(struct pages *p, struct row *r, const struct page_sum *s);
/* Adds the sums of an area to those of its process. */
void pages_join_sums(struct page_sum *to, const struct page_sum *s);
/* What another thread needs to list processes: the same options, and nothing counted. */
void pages_copy(struct pages *to, const struct pages *from);
/* Adds what was counted there. */
void pages_join(struct pages *to, const struct pages *from);
/* Adds notes below the table: the parts of mapped memory in each sum. */
void pages_note_sums(const struct pages *p);
/* --totals: emits the row of a process after its last area. */
int process_end(struct pages *p, const struct page_task *task, struct atw_err *err);
