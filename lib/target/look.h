/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - one look at all page tables: the mappings of each frame counted, and the pages
 * of each address space kept as runs of frames, without their addresses.
 *
 * Sums such as RSS, PSS and USS need no more. Tables are read once; the runs are kept
 * because a share is only known when all mappings are counted.
 */
#pragma once

#include <atwalk/base.h>

#include "linux/linux.h"
#include "walk/counts.h"

/* ---- soles.c: frames with one mapping, and the address space that has it ---- */

/*
 * Nearly all frames of a process are mapped once. For those a space number is enough: two
 * bytes a frame hold it until a second mapping is found. From then on they count
 * mappings, and the space that had the frame alone has it in a list. Large pages,
 * mappings that are counted separately, and frames that are mapped too often are in
 * struct counts.
 */

enum {
	SOLES_COUNT = 0x8000,            /* and how many mappings */
	SOLES_MOST = 0x7ffe,             /* of these, and of spaces */
	SOLES_COUNTED = 0xffff,          /* in struct counts */
	SOLES_BLOCK_BITS = 11,
	SOLES_BLOCK = 1 << SOLES_BLOCK_BITS,     /* frames */
};

/* A frame that a space had alone until another mapping was met. */
struct sole_former {
	uint32_t space, pfn;
};

/* A block of frames. */
struct sole_block {
	uint32_t place;          /* 1 + its number in soles.space; 0: none of it is met */
	bool left;               /* some of it are in struct counts as well */
};

struct soles {
	uint64_t frames;         /* below this one, a power of two; 0: none are noted */
	struct sole_block *block;
	/*
	 * Of frames of the blocks in the order in which these were met, so that few pages
	 * are touched, and huge ones: 1 + index, or one of these; 0: not met.
	 */
	uint16_t *space;
	uint32_t nmet;           /* blocks */
	uint64_t *pages;         /* by space, of frames that it alone maps */
	struct sole_former *former;
	size_t n, cap;
	size_t *first;           /* by space and one more: in former[], once sorted */
	size_t spaces;
};

/* Of frames below `end`, at least. false: too many, or no memory; none are noted then. */
bool soles_init(struct soles *s, uint64_t end, size_t spaces);
void soles_deinit(struct soles *s);

/* The index of a frame of a block at that place. */
static inline size_t soles_index(uint32_t place, uint64_t pfn)
{
	return (size_t)(place - 1) << SOLES_BLOCK_BITS | (pfn & (SOLES_BLOCK - 1));
}

/* What is noted of it. */
static inline uint16_t *soles_in(const struct soles *s, uint32_t place, uint64_t pfn)
{
	return &s->space[soles_index(place, pfn)];
}

/* What is noted of a frame below s->frames, which may not have been met before. */
static inline uint16_t *soles_meet(struct soles *s, uint64_t pfn)
{
	struct sole_block *b = &s->block[pfn >> SOLES_BLOCK_BITS];

	if (!b->place) {
		b->place = ++s->nmet;
		/* What is read first is given memory in a second page fault. */
		*(volatile uint16_t *)soles_in(s, b->place, 0) = 0;
	}
	return soles_in(s, b->place, pfn);
}

/* The same; 0: not met. */
static inline uint16_t soles_note(const struct soles *s, uint64_t pfn)
{
	uint32_t place = s->block[pfn >> SOLES_BLOCK_BITS].place;

	return place ? *soles_in(s, place, pfn) : 0;
}

/* What soles_add() does for a frame that has one mapping, or very many. */
bool soles_add_slowly(struct soles *s, struct counts *c, uint64_t pfn);

/* One more mapping of a frame with this note, which is not 0. false: no memory. */
static inline bool soles_add(struct soles *s, struct counts *c, uint64_t pfn, uint16_t *note)
{
	if (*note <= SOLES_COUNT || *note >= SOLES_COUNT + SOLES_MOST)
		return soles_add_slowly(s, c, pfn);
	++*note;
	return true;
}

/* Mappings of these frames are in struct counts from now on, those that were met too. */
bool soles_leave(struct soles *s, struct counts *c, uint64_t pfn, uint64_t pages);

/* How often a frame is mapped. */
static inline uint64_t soles_get(const struct soles *s, struct counts *c, uint64_t pfn)
{
	uint16_t u = pfn < s->frames ? soles_note(s, pfn) : SOLES_COUNTED;

	if (!u || u == SOLES_COUNTED)
		return counts_get(c, pfn);
	return (u < SOLES_COUNT ? 1 : (uint64_t)u - SOLES_COUNT) +
	       (counts_may_be_large(c, pfn) ? counts_get(c, pfn) : 0);
}

/* The same, and of how many frames from pfn on, `most` at most, it is so. */
uint64_t soles_run(const struct soles *s, struct counts *c, uint64_t pfn, uint64_t most,
		   uint64_t *ret_same);

/* That frame will be asked for after a few others: only a hint. */
static inline void soles_soon(const struct soles *s, struct counts *c, uint64_t pfn)
{
	uint32_t place = pfn < s->frames ? s->block[pfn >> SOLES_BLOCK_BITS].place : 0;

	if (place)
		__builtin_prefetch(soles_in(s, place, pfn), 1);
	else if (pfn >= s->frames)
		counts_soon(c, pfn);
}

/*
 * Once all mappings are met: frames that large pages cover are no space's alone, and those
 * of former[] are put in the order of their spaces. false: no memory.
 */
bool soles_sort(struct soles *s, struct counts *c);
/* Add all mappings that are not in struct counts to it, for those that ask no more. */
bool soles_count(const struct soles *s, struct counts *c);

/*
 * Frames from *at on that are not in struct counts, in their order, up to `most` of them,
 * and what soles.space has of each. Returns how many; 0: there are no more before `end`,
 * which is that of a block. `only`: by space, whether frames that it has alone are wanted;
 * others are not. NULL: all are.
 */
size_t soles_next(const struct soles *s, const bool *only, uint64_t *at, uint64_t end,
		  uint64_t *pfn, uint16_t *space, size_t most);
/* Are none of these frames in struct counts? Only if that is so of all around them. */
bool soles_have(const struct soles *s, uint64_t pfn, uint64_t pages);

/* ---- look.c ---- */

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

/* ---- look_list.c ---- */

/*
 * The frames of small pages, out of very many entries of page tables.
 *
 * What is mapped has no pattern, so a branch for each entry would mostly go the wrong way.
 */

enum { LIST_STRIDE = 8 };        /* entries that are looked at together */

/* Entries of 8 bytes that are small pages, if (word & mask) == value. */
struct look_small {
	uint64_t mask, value;
	uint64_t address;        /* bits of the frame, which moves right by so many */
	unsigned right;
};

/*
 * Frames of the entries, as long as all of a stride are small pages or 0; `to` has room
 * for all of them and a stride more. Returns how many entries were looked at, and in
 * *listed how many frames there are.
 */
typedef uint32_t look_list_fn(const struct look_small *s, const void *words, uint32_t n,
			      uint32_t *to, uint32_t *listed);
look_list_fn look_list_plain;
/* The fastest that this CPU can run. */
look_list_fn *look_list_best(void);
