/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - one look at all page tables: the mappings of each frame counted, and the pages
 * of each address space kept as runs of frames, without their addresses.
 *
 * Sums such as RSS, PSS and USS need no more. Tables are read once; the runs are kept
 * because a share is only known when all mappings are counted.
 */
#ifndef TARGET_LOOK_H
#define TARGET_LOOK_H

#include "linux/linux.h"

#include "target/soles.h"
#include "walk/counts.h"

/*
 * Neighbouring frames: 44 bits of the first one, 14 bits for the number of mappings less
 * one, and in 6 bits the order of each mapping, or of a small page what it is.
 */
typedef uint64_t look_run;
enum {
	LOOK_PFN_BITS = 44, LOOK_MORE_BITS = 14, LOOK_ORDER_AT = 58,
	LOOK_SPAN = 62,          /* one of several entries that are one translation */
	LOOK_SPECIAL = 63,       /* pte_special(): the kernel counts it in no process */
};

static inline uint64_t look_pfn(look_run r)
{
	return r & (((uint64_t)1 << LOOK_PFN_BITS) - 1);
}

static inline uint32_t look_times(look_run r)
{
	return (uint32_t)(r >> LOOK_PFN_BITS & ((1u << LOOK_MORE_BITS) - 1)) + 1;
}

static inline unsigned look_class(look_run r)
{
	return (unsigned)(r >> LOOK_ORDER_AT);
}

/* Of each mapping; 0: of a small page. */
static inline unsigned look_order(look_run r)
{
	return look_class(r) < LOOK_SPAN ? look_class(r) : 0;
}

struct look_space {
	size_t first, n;         /* of look.run */
	uint64_t swapped;        /* pages */
	bool shared;             /* one before it is the same */
	bool odd;                /* it cannot be said in runs: list its pages */
	bool ended;
};

struct look {
	look_run *run;
	size_t n, cap;
	uint64_t classes;        /* met, a bit each */
	struct look_space *space;
	size_t nspaces;
	bool keep;               /* runs are kept; else mappings are only counted */
	struct soles soles;      /* small pages with one mapping, which are in no run */
};

struct look_opts {
	const struct mmu_space *const *space;    /* NULL where `shared` */
	size_t n;                /* their mode and their source are the same */
	/* By the release alone, and by all that is known: fetched when a word takes it. */
	const struct atw_soft_abi *soft;
	const struct atw_soft_abi *(*sure)(const void *arg);
	const void *sure_arg;
	uint64_t special;        /* the bit of lowest entries; 0: not known */
	size_t most;             /* runs that may be kept; 0: none are */
	/* Below this one, frames with one mapping are in look.soles only; 0: none are. */
	uint64_t soles;
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* ATW_E_LIMIT: there is no memory to count in. */
int look_at_spaces(struct look *l, const struct look_opts *o, struct counts *counts,
		   struct atw_err *err);
void look_deinit(struct look *l);

#endif
