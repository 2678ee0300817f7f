/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - placement of single virtual addresses, in any order and of many processes:
 * what a page table, a VMA and a frame say of each.
 *
 * Memory use does not depend on the number of addresses: the processes used last are kept
 * open, and so are the results for the pages used last.
 */
#pragma once

#include "target/large.h"
#include "target/target.h"
#include "walk/walk.h"

enum {
	PLACE_PROCESSES = 64,    /* open at once */
	PLACE_PAGES = 1 << 15,   /* results that are kept; a power of two */
};

struct place_opts {
	uint64_t pid;            /* every user address is of this process; 0: see place_find() */
	bool large;              /* whether VMAs may have large pages is wanted */
	struct pace *pace;       /* NULL: none */
	provider_cannot_fn *cannot;
	void *arg;
};

/* A VMA. */
struct place_area {
	uint64_t start, end;     /* half open */
	uint8_t rights;          /* 1: read, 2: write, 4: execute */
	bool rights_unknown;
	bool large_known;        /* the rest is known */
	uint64_t first, last;    /* of the whole blocks of a large page; first > last: none */
	enum large_why inside, edge; /* why pages in them, and outside, are not large */
	bool unset;              /* the setting of the system is unknown: as if it allowed */
	char *name;              /* as in /proc/PID/maps; may be empty */
};

struct place_process {
	uint64_t asked;          /* number of the process or thread that was asked for */
	uint64_t serial;         /* of all that is known of it; never the same again */
	uint64_t used;
	struct subject subject;
	struct atw_err why;      /* status not 0: it cannot be opened */
	struct provider *prov;
	size_t task;
	struct vma_cursor *vmas;
	struct page_cursor *pages;
	struct place_area *area;
	size_t n, cap;
	bool stale;              /* the VMAs may have changed */
};

enum place_has {
	PLACE_HAS_STATE = 1,     /* not: the source does not say */
	PLACE_HAS_PHYSICAL = 2,
	PLACE_HAS_PAGE = 4,
	PLACE_HAS_RIGHTS = 8,
	PLACE_HAS_NODE = 16,
	PLACE_HAS_FLAGS = 32,
};

struct place {
	uint32_t have;           /* enum place_has */
	uint8_t state;           /* enum page_state */
	uint8_t rights;          /* ATW_UR ... */
	bool kernel;             /* not a user address: no process, no area */
	uint32_t node;
	uint64_t physical;       /* of the byte */
	uint64_t page;           /* bytes of one translation */
	uint64_t flags;          /* of the frame, as in struct lnx_page */
	const struct place_area *area;   /* NULL: in none */
	/* Of a user address. Valid, as `area` is, until the next call. */
	const struct place_process *process;
};

struct placer;

int placer_open(struct target *t, const struct place_opts *opts, struct placer **ret,
		struct atw_err *err);
/*
 * `pid`: of a process or a thread; 0: unknown. ATW_E_USAGE: a user address, and the process
 * is unknown. ATW_E_PERM: the process may not be read. ATW_E_NONE: there is no such
 * process, or it has ended. ATW_E_UNSUPPORTED: the source has no tables of the kernel. Each
 * of these, and ATW_E_MISSING and ATW_E_DAMAGED, is about this address alone.
 */
int placer_find(struct placer *p, uint64_t pid, uint64_t address, struct place *ret,
		struct atw_err *err);
/* What is kept may have changed: of a running machine, to be called from time to time. */
void placer_renew(struct placer *p);
/* Bytes of the smallest page. */
uint64_t placer_page(const struct placer *p);
void placer_close(struct placer *p);

/* Why a page at this address of the area is not a large one. */
enum large_why place_why_small(const struct place_area *a, uint64_t address);
