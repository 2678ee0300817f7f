/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - address spaces: walk, translation, ranges and reverse map.
 *
 * One pull iterator returns the next piece of the address space together with the path of
 * entries that decided it. Translation, listings, merging and reverse maps are built on
 * it.
 */
#pragma once

#include "paging/paging.h"
#include "source/source.h"

struct mmu_root {
	atw_pa pa;
	bool have;
};

/*
 * A word that guards page tables: they are in use as long as (word & mask) == value or,
 * if `differs`, as long as it is not.
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
	 * one is a second set of tables (page-table isolation: those of user mode and
	 * those of the kernel).
	 */
	struct mmu_root low, high;
	/* For tables that may be freed while they are read: checked after each read. */
	struct mmu_guard guard[2];
};

/* Why a table is not available. */
enum mmu_loss {
	ATW_HAVE = 0,
	ATW_LOST,                /* the source has no such memory */
	ATW_LOST_EXCLUDED,       /* it was filtered out when the dump was made */
	ATW_LOST_DAMAGED,        /* it is stored but cannot be read: see the error */
	ATW_LOST_UNSTABLE,       /* it changed on every attempt to read it */
};

/* One entry of the path from the root. */
struct mmu_step {
	uint8_t level;
	uint8_t kind;            /* enum atw_kind */
	uint8_t rights;          /* permissions that remain after this entry */
	uint16_t index;
	atw_pa at;               /* address of the entry */
	uint64_t word;           /* as stored, nothing masked */
};

/*
 * A piece of address space: `count` adjacent entries of one table that agree except for
 * their addresses.
 *   LEAF    same kind, permissions and flags; use mmu_seen_pa() for the address of
 *           each of them, or mmu_seen_one() for everything
 *   ABSENT, BAD   the same word
 *   TABLE   one entry, before what lies below it, if selected
 * `loss` set: the table that covers this piece could not be read; path ends with the
 * entry that points to it.
 *
 * A running machine changes its tables while they are read. So the entries that lead to a
 * table are re-read after it; if they lead elsewhere by then, the walk continues from
 * their new values (a TABLE piece that was returned is returned again), and gives up at a
 * place that changes on every attempt.
 */
struct mmu_seen {
	atw_va va;               /* of the first entry's slot */
	uint64_t size;           /* bytes of address space; 0 means 2^64 */
	atw_pa pa;               /* LEAF: what va maps to; TABLE: the table */
	uint32_t count;          /* entries */
	uint8_t level;           /* of the entries */
	uint8_t kind;            /* enum atw_kind */
	uint8_t rights;
	uint8_t depth;           /* steps in path[]; path[0] is the root's */
	/*
	 * enum mmu_loss. Not in the same 8 bytes as the kind: compilers merge a test of both
	 * into one load, which cannot be forwarded from two stores and stalls.
	 */
	uint8_t loss;
	/*
	 * Set on a piece that was not walked because it repeats the `repeat_of` bytes
	 * just before it, table for table (a KASAN shadow, espfix). It does so size /
	 * repeat_of times.
	 */
	uint64_t repeat_of;
	const void *words;       /* the raw entries, unaligned, word_size each; valid
				  * until the next call */
	uint32_t behind;         /* entries of the same table, with words behind these */
	struct mmu_step path[ATW_MAX_LEVELS];  /* last one: the first entry */
};

enum mmu_walk_flags {
	MMU_WALK_EACH = 1,       /* never more than one entry a piece */
	MMU_WALK_FOLD = 2,       /* repeated tables as one piece, see repeat_of */
	MMU_WALK_SOFT = 4,       /* ABSENT pieces too, but only non-zero words; of a
				  * second stage none */
};

struct mmu_walk_opts {
	atw_va first, last;      /* inclusive; 0..~0 is everything */
	uint32_t want;           /* ATW_K() of the kinds to return; 0: LEAF. Losses and
				  * BAD are always returned. */
	uint32_t flags;
	unsigned depth;          /* levels to descend from the root; 0: all. TABLE
				  * entries at the limit are returned. */
	uint64_t budget;         /* tables to read at most; 0: a sane default */
};

struct mmu_walk_stats {
	uint64_t tables;         /* read */
	uint64_t leaves;         /* entries returned as LEAF, without folded ones */
	uint64_t folded;         /* tables not read because they repeat */
	uint64_t lost;           /* tables that are missing */
	uint64_t changed;        /* entries that changed after their table was read */
};

struct mmu_walk;

/* Are its tables still in use? Always true for sources that do not change. */
bool mmu_space_lives(const struct mmu_space *sp);
/* The same of many spaces of one source, which are read together. */
void mmu_spaces_live(const struct mmu_space *const *sp, size_t n, bool *lives);

int mmu_walk_open(const struct mmu_space *sp,
		  const struct mmu_walk_opts *o, struct mmu_walk **ret,
		  struct atw_err *err);
/*
 * ATW_OK, ATW_END, or ATW_E_LIMIT if the budget is exhausted or the tables are no longer
 * in use: the rest is unknown then. `*ret` belongs to the walk and changes with the next
 * call.
 */
int mmu_walk_next(struct mmu_walk *w, const struct mmu_seen **ret, struct atw_err *err);
/* Skip the table that was just returned. */
void mmu_walk_prune(struct mmu_walk *w);
/* Unfold the repeats that were just returned: each is walked. */
void mmu_walk_unfold(struct mmu_walk *w);
/* Would a walk of first..last stop at the default budget? Only upper tables are read. */
bool mmu_walk_is_cut(const struct mmu_space *sp, atw_va first, atw_va last);

struct mmu_walk_stats mmu_walk_stats(const struct mmu_walk *w);
/* Entries of a lowest table that were read and not returned yet: `n` of them may be 0. */
struct mmu_words {
	const void *words;       /* valid until the next piece */
	atw_va va;               /* of the first */
	uint32_t n;
};
/*
 * Of a running machine several tables are read at once. Those behind the last piece, if it
 * is of a lowest table: the rest of its table (i is 0), then the tables after it. false:
 * there are no more. They may change before they are returned.
 */
bool mmu_walk_at_hand(const struct mmu_walk *w, unsigned i, struct mmu_words *ret);
/* The error of the last ATW_LOST_DAMAGED piece. */
const struct atw_err *mmu_walk_error(const struct mmu_walk *w);
void mmu_walk_close(struct mmu_walk *w);

/* Entry i of a LEAF piece: its raw word, and the physical address of its slot. */
uint64_t mmu_seen_word(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i);
atw_pa mmu_seen_pa(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t i);
/* The same of the `n` entries from `from` on, at the cost of reading their words. */
void mmu_seen_pas(const struct mmu_space *sp, const struct mmu_seen *s, uint32_t from,
		  uint32_t n, atw_pa *ret);
/*
 * Entry i of any piece as a piece of its own, path included, as MMU_WALK_EACH returns it.
 * Its words are those of `s`, valid as long.
 */
void mmu_seen_one(const struct mmu_space *sp, const struct mmu_seen *s,
		  uint32_t i, struct mmu_seen *ret);

/*
 * Translate one address. The piece has count 1; for a LEAF, ret->pa is the base of the
 * slot: the byte itself is at pa + (va - ret->va). ATW_E_USAGE if the address is not
 * canonical in this mode.
 */
int mmu_translate(const struct mmu_space *sp, atw_va va,
		  struct mmu_seen *ret, struct atw_err *err);
/*
 * The same for very many addresses, without the path: several times as fast, because the
 * tables of the mode are evaluated once, and so are the upper levels of tables that do not
 * change.
 */
struct mmu_place {
	atw_pa pa;               /* LEAF: of the byte itself; else 0 */
	uint64_t size;           /* of the slot that maps it, bytes */
	uint8_t level, kind, loss, rights;
	int16_t status;          /* ATW_OK, or why mmu_lookup() fails; all else is 0 then */
};
struct mmu_lookup;
int mmu_lookup_open(const struct mmu_space *sp, struct mmu_lookup **ret,
		    struct atw_err *err);
int mmu_lookup(struct mmu_lookup *l, atw_va va, struct mmu_place *ret,
	       struct atw_err *err);
/*
 * Where each of n addresses lies, as mmu_lookup() finds it. Of a mapped source, the tables
 * of many of them are fetched at the same time.
 */
struct mmu_brief {
	uint8_t kind, loss, level;
	int8_t status;           /* as in mmu_place */
};
void mmu_lookup_many(struct mmu_lookup *l, const atw_va *va, size_t n, atw_pa *pa,
		     struct mmu_brief *ret);
/*
 * What upper tables lead to is kept also where memory changes. For addresses of the kernel,
 * which frees such tables only together with all that is there.
 */
void mmu_lookup_keep(struct mmu_lookup *l);
void mmu_lookup_close(struct mmu_lookup *l);

/* Read by virtual address, up to the first byte that is not mapped or not available. */
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
	atw_pa pa;               /* LEAF: what va maps to; TABLE, and with a loss: the
				  * table */
	uint64_t word;           /* of the first entry */
	uint64_t flags;          /* those that all its entries have */
	uint64_t page;           /* bytes of one translation (slot or span); 0: several
				  * sizes */
	uint64_t entries;        /* slots merged */
	uint64_t repeat_of;      /* as in mmu_seen */
	uint8_t level, kind, loss;
	uint8_t rights;          /* those that all its entries grant */
	uint8_t properties;      /* LEAF: those that all its entries have */
	bool mixed_rights;       /* some entries grant more */
	bool same_pa;            /* every slot maps the same page at pa */
	bool scattered;          /* pa is that of the first slot; others are not
				  * contiguous (without MMU_SPLIT_PHYSICAL) */
};

struct mmu_ranges;
int mmu_ranges_open(const struct mmu_space *sp,
		    const struct mmu_walk_opts *o, unsigned split,
		    struct mmu_ranges **ret, struct atw_err *err);
int mmu_ranges_next(struct mmu_ranges *r, struct mmu_range *ret, struct atw_err *err);
const struct mmu_walk *mmu_ranges_walk(const struct mmu_ranges *r);
void mmu_ranges_close(struct mmu_ranges *r);
