/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages.h - the parts of `atwalk pages`, a reader of a provider: what to list,
 * and its rows.
 */
#ifndef CLI_PAGES_H
#define CLI_PAGES_H

#include "listing.h"
#include "provider/provider.h"

enum page_col {
	P_ADDRESS, P_END, P_SIZE, P_PHYSICAL, P_LEVEL, P_RIGHTS, P_STATE, P_FLAGS,
	P_ENTRY, P_NODE, P_COUNT, P_KCOUNT, P_SWAP, P_PAGEFLAGS, P_ORDER, P_REFS,
	P_HEAD, P_CGROUP, P_MAPPED, P_SWAPPED, P_PRIVATE,
	P_SHARED, P_HUGE, P_PSS, P_USS, P_PID, P_TASK, P_AREA, P_COLS,
};
#define PCOL(c) ((uint64_t)1 << (c))

struct page_row {
	union atw_value v[P_COLS];
	uint64_t have;
};

static inline void page_set(struct page_row *r, enum page_col c, uint64_t u)
{
	r->v[c].u = u;
	r->have |= PCOL(c);
}

static inline void page_text(struct page_row *r, enum page_col c, const char *s)
{
	r->v[c].s = s;
	r->have |= PCOL(c);
}

struct swap_name {
	bool tried;
	char name[256];          /* empty: not known */
};

/* Of an area or a process, bytes. */
struct page_sum {
	uint64_t size, mapped, swapped, huge;
	uint64_t unsized;                /* may be huge */
	uint64_t untold;                 /* may be mapped */
	uint64_t unswapped;              /* may be on swap */
	uint64_t once, more, own;        /* mapped once, or more often; by us alone */
	uint64_t share;                  /* proportional, in 1/4096 bytes */
	uint64_t uncounted;              /* mapped how often, we do not know */
};

struct pages {
	const struct opened *src;
	const struct common *c;
	struct atw_output *out;
	struct listing list;             /* its columns are ours, too */
	struct atw_column col[P_COLS];
	struct atw_schema schema;
	const char *flag[64];            /* of pages */
	struct atw_names flags;

	struct provider *prov;
	struct swap_name swap[32];
	char swap_text[300];

	bool quiet, each;                /* --quiet, --all */
	bool sums;                       /* of single pages, though they are not listed */
	bool totals;                     /* --totals */
	/* --watch: who gets the row of each process instead. */
	int (*taken)(void *arg, const struct page_row *r, struct atw_err *err);
	void *taker;
	struct page_sum total;           /* of the process that is being listed */
	bool headings;
	bool live;
	const char *areas;               /* --areas, or NULL */
	struct address *range;           /* parts of the address space; none: all */
	size_t nranges;

	/* What was listed. */
	uint64_t processes, mapped, swapped, other, absent, untold, unswapped;
	bool inside;                     /* of an area, be it that nothing is there */
	uint64_t lost, excluded, damaged, unstable, bad, unread, pageless, stale;
};

/* An area that is being listed, or what lies outside of all. */
struct page_area {
	const struct page_task *task;
	const struct atw_area *area;     /* NULL: outside */
	uint64_t first, last;            /* what of it is listed */
	uint64_t absent, absent_len;     /* a run not shown yet */
	struct page_sum sum;
	bool open;
	struct page_row row;             /* what all its rows have in common */
};

void pages_columns(struct pages *p);
int area_begin(struct pages *p, struct page_area *a, const struct page_task *task,
	       const struct atw_area *area, uint64_t first, uint64_t last,
	       struct atw_err *err);
/* The part first..last of a run lies in the area. */
int area_piece(struct pages *p, struct page_area *a, const struct page_run *run,
	       uint64_t first, uint64_t last, struct atw_err *err);
int area_end(struct pages *p, struct page_area *a, struct atw_err *err);
/* --totals: all areas of a process have been listed. */
int process_end(struct pages *p, const struct page_task *task, struct atw_err *err);

#endif
