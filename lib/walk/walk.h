/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - an address space, and every question about it.
 *
 * One pull iterator returns the next piece of address space with the whole
 * path of entries that decided it. Translation, listings, merging and reverse
 * maps are readers of it.
 */
#ifndef WALK_WALK_H
#define WALK_WALK_H

#include "paging/paging.h"
#include "source/source.h"

struct mmu_root {
	atw_pa pa;
	bool have;
};

/*
 * A word that says whether page tables are still in use: they are as long as
 * (word & mask) == value, or, if `differs`, as long as it is not.
 */
struct mmu_guard {
	atw_pa at;
	uint64_t mask, value;
	uint8_t len;             /* bytes of the word: 4 or 8; 0: no guard */
	bool differs;
};

/* Plain data; the source is borrowed. */
struct mmu_space {
	struct atw_source *mem;
	struct atw_paging paging;
	/*
	 * Without a second root, `low` is the root of all addresses; otherwise of those
	 * with a clear top bit. ATW_SPLIT modes have two; in ATW_SIGNED modes a second
	 * one stands for another set of tables (page-table isolation: the tables of user
	 * mode and those of the kernel).
	 */
	struct mmu_root low, high;
	/* Of tables that may end while they are read: looked at after each read. */
	struct mmu_guard guard[2];
};

/* Why a table could not be asked. */
enum mmu_loss {
	ATW_HAVE = 0,
	ATW_LOST,                /* the source has no such memory */
	ATW_LOST_EXCLUDED,       /* it was filtered out when the dump was made */
	ATW_LOST_DAMAGED,        /* it is there and cannot be read: see the error */
	ATW_LOST_UNSTABLE,       /* it was changed whenever it was read */
};

/* One entry on the way down. */
struct mmu_step {
	uint8_t level;
	uint8_t kind;            /* enum atw_kind */
	uint8_t rights;          /* what is left of them after this entry */
	uint16_t index;
	atw_pa at;               /* where the entry lies */
	uint64_t word;           /* as it lies there, nothing masked */
};

/*
 * A piece of address space: `count` neighbouring entries of one table that say
 * the same but for where they point.
 *   LEAF    same kind, rights and flags; use mmu_seen_pa() for each
 *           of them, or mmu_seen_one() for all that there is to say of it
 *   ABSENT, BAD   the same word
 *   TABLE   one entry, before what lies below it, if asked for
 * `loss` set: the table that would answer for this piece could not be read;
 * path ends with the entry that points to it.
 *
 * A running machine changes its tables while they are read. So the entries that
 * lead to a table are read again after it; where they lead elsewhere by then,
 * the walk goes on from what they say now (a TABLE piece that was returned is
 * returned again), and gives up on a place that never holds still.
 */
struct mmu_seen {
	atw_va va;               /* of the first entry's slot */
	uint64_t size;           /* bytes of address space; 0 means 2^64 */
	atw_pa pa;               /* LEAF: what va maps to; TABLE: the table */
	uint32_t count;          /* entries */
	uint8_t level;           /* of the entries */
	uint8_t kind;            /* enum atw_kind */
	uint8_t loss;            /* enum mmu_loss */
	uint8_t rights;
	uint8_t depth;           /* steps in path[]; path[0] is the root's */
	/*
	 * Set on a piece that was not walked because it repeats the `repeat_of`
	 * bytes just before it, table for table (a KASAN shadow, espfix). It
	 * does so size / repeat_of times.
	 */
	uint64_t repeat_of;
	const void *words;       /* the raw entries, unaligned, word_size each;
	                          * good until the next call */
	struct mmu_step path[ATW_MAX_LEVELS];  /* last one: the first entry */
};

enum mmu_walk_flags {
	MMU_WALK_EACH = 1,       /* never more than one entry a piece */
	MMU_WALK_FOLD = 2,       /* repeated tables as one piece, see repeat_of */
	MMU_WALK_SOFT = 4,       /* ABSENT pieces too, but only non-zero words */
};

struct mmu_walk_opts {
	size_t size;             /* sizeof this struct, for the ABI */
	atw_va first, last;      /* inclusive; 0..~0 is everything */
	uint32_t want;           /* ATW_K() of the kinds to return; 0: LEAF.
	                          * Losses and BAD are always returned. */
	uint32_t flags;
	unsigned depth;          /* levels to descend from the root; 0: all.
	                          * TABLE entries at the limit are returned. */
	uint64_t budget;         /* tables to read at most; 0: a sane default */
};

struct mmu_walk_stats {
	uint64_t tables;         /* read */
	uint64_t leaves;         /* entries returned as LEAF, folded ones not */
	uint64_t folded;         /* tables not read because they repeat */
	uint64_t lost;           /* tables not to be had */
	uint64_t changed;        /* entries that led elsewhere after their table was read */
};

struct mmu_walk;

/* Are its tables still in use? Of what does not run, always. */
bool mmu_space_lives(const struct mmu_space *sp);

int mmu_walk_open(const struct mmu_space *sp,
		  const struct mmu_walk_opts *o, struct mmu_walk **ret,
		  struct atw_err *err);
/*
 * ATW_OK, ATW_END, or ATW_E_LIMIT when the budget is used up or the tables are
 * no longer in use: what follows is unknown then. `*ret` is the walk's own and changes with the next call.
 */
int mmu_walk_next(struct mmu_walk *w, const struct mmu_seen **ret,
		  struct atw_err *err);
/* Stay out of the table just returned. */
void mmu_walk_prune(struct mmu_walk *w);
/* Walk the repeats just returned as one piece after all, each by itself. */
void mmu_walk_unfold(struct mmu_walk *w);
struct mmu_walk_stats mmu_walk_stats(const struct mmu_walk *w);
/* What the last ATW_LOST_DAMAGED piece was about. */
const struct atw_err *mmu_walk_error(const struct mmu_walk *w);
void mmu_walk_close(struct mmu_walk *w);

/* Entry i of a LEAF piece: its raw word, and what its slot maps to. */
uint64_t mmu_seen_word(const struct mmu_space *sp,
		       const struct mmu_seen *s, uint32_t i);
atw_pa mmu_seen_pa(const struct mmu_space *sp,
		   const struct mmu_seen *s, uint32_t i);
/*
 * Entry i of any piece as a piece of its own, path included, as MMU_WALK_EACH
 * gives it. Its words lie where those of `s` do, and are good as long.
 */
void mmu_seen_one(const struct mmu_space *sp, const struct mmu_seen *s,
		  uint32_t i, struct mmu_seen *ret);

/*
 * One address. The piece has count 1; for a LEAF, ret->pa is the slot's base:
 * the byte itself is at pa + (va - ret->va). ATW_E_USAGE when the mode cannot
 * translate such an address at all.
 */
int mmu_translate(const struct mmu_space *sp, atw_va va,
		  struct mmu_seen *ret, struct atw_err *err);
/*
 * The same for very many addresses, without the path: some things are worked
 * out once, which makes each answer several times as fast.
 */
struct mmu_place {
	atw_pa pa;               /* LEAF: of the very byte; else 0 */
	uint64_t size;           /* of the slot that answers, bytes */
	uint8_t level, kind, loss, rights;
};
struct mmu_lookup;
int mmu_lookup_open(const struct mmu_space *sp, struct mmu_lookup **ret,
		    struct atw_err *err);
int mmu_lookup(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
	       struct atw_err *err);
void mmu_lookup_close(struct mmu_lookup *l);

/* Bytes by virtual address, up to the first that is not mapped or not there. */
ssize_t mmu_space_read(const struct mmu_space *sp, atw_va va,
		       void *buf, size_t len, struct atw_err *err);

/* ---- ranges: pieces merged while they agree ---- */

enum mmu_split {
	MMU_SPLIT_RIGHTS = 1, MMU_SPLIT_LEVEL = 2, MMU_SPLIT_PHYSICAL = 4,
	MMU_SPLIT_FLAGS = 8, MMU_SPLIT_EACH = 16,
};

struct mmu_range {
	atw_va va;
	uint64_t size;           /* bytes; 0 means 2^64 */
	atw_pa pa;               /* LEAF: what va maps to; TABLE, and with a
	                          * loss: the table */
	uint64_t word;           /* of the first entry */
	uint64_t flags;          /* those all its entries have */
	uint64_t page;           /* bytes of one translation (slot or span);
	                          * 0: of several sizes */
	uint64_t entries;        /* slots merged */
	uint64_t repeat_of;      /* as in mmu_seen */
	uint8_t level, kind, loss;
	uint8_t rights;          /* those all its entries leave */
	bool mixed_rights;       /* some leave more */
	bool same_pa;            /* every slot maps the one page at pa */
	bool scattered;          /* pa is of the first slot alone: others lie
	                          * elsewhere (without MMU_SPLIT_PHYSICAL) */
};

struct mmu_ranges;
int mmu_ranges_open(const struct mmu_space *sp,
		    const struct mmu_walk_opts *o, unsigned split,
		    struct mmu_ranges **ret, struct atw_err *err);
int mmu_ranges_next(struct mmu_ranges *r, struct mmu_range *ret,
		    struct atw_err *err);
const struct mmu_walk *mmu_ranges_walk(const struct mmu_ranges *r);
void mmu_ranges_close(struct mmu_ranges *r);

/* ---- reverse: the mappings of this physical memory ---- */

struct mmu_reverse;

struct mmu_mapping {
	atw_va va;
	atw_pa pa;               /* what va maps to */
	uint64_t len;            /* bytes */
	uint64_t times, stride;  /* how often, each `stride` bytes of VA on */
	uint8_t level, rights;
};

/* One pass over the space; folded subtrees cost one record each. */
int mmu_reverse_build(const struct mmu_space *sp,
		      struct mmu_reverse **ret, struct atw_err *err);
/* Entries it could not follow, because their table is not to be had. */
uint64_t mmu_reverse_lost(const struct mmu_reverse *r);
/*
 * Calls fn for every mapping of any byte of [pa, pa + len), in the order of
 * the mapped runs' physical addresses, repeats included; each is clipped to
 * the range asked for. fn returns non-zero to stop, and that is returned.
 * Nothing is cut off. ATW_E_USAGE: r or fn is NULL.
 */
typedef int mmu_reverse_fn(void *arg, const struct mmu_mapping *m);
int mmu_reverse_find(const struct mmu_reverse *r, atw_pa pa,
		     uint64_t len, mmu_reverse_fn *fn, void *arg);
void mmu_reverse_destroy(struct mmu_reverse *r);

#endif
