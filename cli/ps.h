/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ps.h - parts of `atwalk ps`: rows (cmd_ps.c), memory use from page tables (ps_usage.c),
 * by several threads (ps_jobs.c), and from pages without page tables (ps_pages.c).
 */
#pragma once

#include "atwalk.h"
#include "base/table.h"

struct ps_opts {
	struct space_opts space;
	bool threads, allow;
};

enum {
	P_PID, P_TGID, P_PPID, P_TASK, P_STATE, P_MM, P_ROOT, P_USER_ROOT,
	P_RESIDENT, P_SMALL, P_LARGE, P_HUGETLB, P_SIZES, P_LOST, P_KIND, P_AT, P_COUNT,
};

enum ps_kind { KIND_PROCESS, KIND_THREAD, KIND_KERNEL };
/* Memory use of an address space. */
struct usage {
	uint64_t mm;
	atw_pa root, user_root;
	bool known, have_root, isolated;
	bool nothing;            /* the root table is missing, or states of pages are */
	bool sizeless;           /* the sizes of some pages are not known */
	bool kindless;           /* nor whether these are pages of hugetlbfs */
	uint64_t lost;
	uint64_t bytes[64], hugetlb[64];         /* by log2 of the page's size; bytes: RSS */
};

/* Walks address spaces; those of one thread. */
struct ps_walker {
	struct target *target;
	struct atw_memmap *memmap;       /* NULL: not needed so far, or not to be had */
	bool memmap_tried;
};

/* What a walk came to. */
struct ps_walked {
	struct usage u;
	struct atw_err why;      /* what could not be read, or status 0 */
};

/* A task to show, or why there is none. */
struct ps_item {
	struct target_task t;
	struct atw_err *fault;   /* NULL: it is a task */
	bool walks;              /* the first of its address space, for ps_by_jobs() */
};

struct ps {
	const struct common *c;
	const struct ps_opts *o;
	struct session src;
	struct ps_walker walker;
	struct ps_item *item;
	size_t nitems, items_cap;
	struct atw_output *out;
	struct table usages;     /* by mm_struct: each is walked once */
	unsigned page_shift;
	uint32_t *pid;           /* selected PIDs; none: all */
	int npids;
	/* Of rows that passed the filter, each address space once. */
	uint64_t tasks, spaces, bytes[64], hugetlb[64];
	bool sizeless, kindless;     /* of any usage */
	struct ps_pages *pages;  /* without page tables */
	unsigned faults;         /* errors, reported or suppressed */
	/* Address spaces that lack tables; of the faults, those in one, and of permission. */
	uint64_t lost, unread, denied;
	struct unreadable unreadable;
};

/* Prints an error, unless many were printed before. */
void ps_fault(struct ps *p, struct atw_err *err);

/* Shows an item. `walked`: its address space, if it is the first of that; NULL: not yet. */
int ps_put_item(struct ps *p, const struct ps_item *item, const struct ps_walked *walked,
		struct atw_err *err);

/* ps_usage.c: what the page tables of an address space map, added to *u; of a task. */
int ps_walk_space(struct ps_walker *w, struct usage *u, const struct mmu_space *sp,
		  struct atw_err *err);
void ps_walk(struct ps_walker *w, const struct lnx_task *t, struct ps_walked *ret);

/* ps_jobs.c: shows items first and on. ATW_E_UNSUPPORTED: threads cannot do it; none was. */
int ps_by_jobs(struct ps *p, size_t first, struct atw_err *err);

/*
 * ps_pages.c: the same by the pages of a process, where there are no page tables: added
 * to *u. Between ps_pages_open() and ps_pages_close(), which may be called twice.
 */
int ps_pages_open(struct ps *p, struct atw_err *err);
int ps_pages_sum(struct ps *p, uint64_t mm, struct usage *u, struct atw_err *err);
/*
 * A number of the address space of a task whose mm_struct is not known, for
 * ps_pages_sum(); 0: no memory, or none that can be read.
 */
uint64_t ps_pages_space(struct ps *p, const struct lnx_task *t);
void ps_pages_close(struct ps *p);
