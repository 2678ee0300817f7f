/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * smaps.h - the sums of /proc/PID/smaps_rollup: which of them a page of a process is in,
 * the same for all commands that add up what processes have.
 *
 * As smaps_account() and its like in the kernel's fs/proc/task_mmu.c have it:
 *
 *   Rss       pages that are present, PROT_NONE and under migration among them, and are
 *             the machine's: neither a page of zeroes nor mapped by its frame number
 *   Pss       the same, each page divided by how often it is mapped
 *   Uss       Private_Clean + Private_Dirty: what is mapped once
 *   hugetlb   Private_Hugetlb + Shared_Hugetlb, which no other sum has
 *   Swap      entries that lead to swap
 *   AnonHugePages, ShmemPmdMapped, FilePmdMapped
 *             of Rss, what one entry of a higher table maps
 *
 * Two things differ: shared memory on swap is in no page table, so Swap lacks it; and
 * entries of pages with a memory failure, which later kernels have in Rss, are no memory.
 */
#pragma once

#include "target/provider.h"

enum smaps_class { SMAPS_NONE, SMAPS_RSS, SMAPS_HUGETLB, SMAPS_SWAP };

enum smaps_kind {
	SMAPS_UNKIND,            /* not known */
	SMAPS_ANON, SMAPS_SHMEM, SMAPS_FILE,
	SMAPS_NOT_ANON,          /* one of the last two */
	SMAPS_KINDS,
};

/* Pages that are alike. */
struct smaps_pages {
	enum smaps_class class;
	enum smaps_kind kind;
	uint64_t bytes;
	uint64_t mappings;       /* of each; 0: not known */
	bool large;              /* an entry of a higher table maps them */
	bool sizeless;           /* whether `large` holds is not known */
	bool kindless;           /* whether they are hugetlbfs's is not known: then they are
				  * SMAPS_RSS */
	bool moving;             /* its entry is not present: under migration */
};

enum { SMAPS_SHARE = 16 };       /* shares are kept in 1 / 2^16 bytes */

/* Bytes. */
struct smaps {
	uint64_t rss, uss, shared, swap, hugetlb;
	uint64_t kind[SMAPS_KINDS];      /* of rss */
	uint64_t thp[SMAPS_KINDS];       /* likewise, what large pages map */
	unsigned __int128 pss;           /* 1 / 2^SMAPS_SHARE bytes */
	/*
	 * Bytes of rss with an unknown mapcount; with an unknown page size; that may be
	 * hugetlbfs's.
	 */
	uint64_t uncounted, sizeless, kindless;
	/* Bytes of unknown state: may be in any of the sums; may be on swap. */
	uint64_t stateless, unswapped;
};

/* `special`: a page of zeroes, or mapped by its frame number. */
enum smaps_class smaps_class(enum page_state state, bool hugetlb, bool special);
/*
 * 1 << KPF_... of a page that is present. Older kernels mark memory of shmem in the head
 * of a large folio alone: of what its tails do not tell, `before`, the kind of what
 * stands before them in their folio, decides, or SMAPS_UNKIND.
 */
enum smaps_kind smaps_kind_of(uint64_t flags, enum smaps_kind before);
void smaps_add(struct smaps *s, const struct smaps_pages *p);
void smaps_join(struct smaps *to, const struct smaps *from);
/* To the nearest byte: a share of all of it is all of it. */
uint64_t smaps_pss(const struct smaps *s);
/* What large pages map, of all kinds. */
uint64_t smaps_huge(const struct smaps *s);
/* n/a is not 0: how large pages are, and of what kind, may be hidden. */
bool smaps_knows_huge(const struct smaps *s);
static inline bool smaps_knows_hugetlb(const struct smaps *s)
{
	return !s->kindless;
}
bool smaps_knows_thp(const struct smaps *s, enum smaps_kind kind);

/* ---- runs of a provider: smaps_run.c ---- */

/*
 * So many steps may be made within large pages: tables may claim any amount of memory.
 * A step is a page, or many that are mapped as often.
 */
#define SMAPS_STEPS ((uint64_t)1 << 26)

struct smaps_look {
	struct provider *p;
	struct page_cursor *pages;       /* runs that are added are of it */
	bool flagged;            /* the VMA has flags, and so both of these are known */
	bool hugetlb, pfnmap;
	bool shares;             /* how often pages are mapped is wanted */
	uint64_t steps;          /* made so far */
	uint64_t stepless;       /* bytes that were not looked up: too many steps */
	uint64_t stale;          /* frames that were given back meanwhile */
	uint64_t pageless;       /* present pages without a struct page */
};

/* `a`, of p's, or NULL: what comes is of that area. */
void smaps_look_area(struct smaps_look *l, const struct atw_area *a);
/* The part first..last of a run is added to *s. */
void smaps_add_run(struct smaps_look *l, const struct page_run *run, uint64_t first,
		   uint64_t last, struct smaps *s);
