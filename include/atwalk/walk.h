/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - an address space, and every question about it.
 *
 * One pull iterator returns the next piece of address space with the whole
 * path of entries that decided it. Translation, listings, merging and reverse
 * maps are readers of it.
 */
#ifndef ATWALK_WALK_H
#define ATWALK_WALK_H

#include <atwalk/paging.h>
#include <atwalk/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct atw_root {
	atw_pa pa;
	bool have;
};

/*
 * A word that says whether page tables are still in use: they are as long as
 * (word & mask) == value, or, if `differs`, as long as it is not.
 */
struct atw_guard {
	atw_pa at;
	uint64_t mask, value;
	uint8_t len;             /* bytes of the word: 4 or 8; 0: no guard */
	bool differs;
};

/* Plain data; the source is borrowed. */
struct atw_space {
	struct atw_source *mem;
	struct atw_paging paging;
	/*
	 * Without a second root, `low` is the root of all addresses; otherwise of those
	 * with a clear top bit. ATW_SPLIT modes have two; in ATW_SIGNED modes a second
	 * one stands for another set of tables (page-table isolation: the tables of user
	 * mode and those of the kernel).
	 */
	struct atw_root low, high;
	/* Of tables that may end while they are read: looked at after each read. */
	struct atw_guard guard[2];
};

/* Why a table could not be asked. */
enum atw_loss {
	ATW_HAVE = 0,
	ATW_LOST,                /* the source has no such memory */
	ATW_LOST_EXCLUDED,       /* it was filtered out when the dump was made */
	ATW_LOST_DAMAGED,        /* it is there and cannot be read: see the error */
	ATW_LOST_UNSTABLE,       /* it was changed whenever it was read */
};

/* One entry on the way down. */
struct atw_step {
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
 *   LEAF    same kind, rights and flags; use atw_seen_pa() for each
 *           of them, or atw_seen_one() for all that there is to say of it
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
struct atw_seen {
	atw_va va;               /* of the first entry's slot */
	uint64_t size;           /* bytes of address space; 0 means 2^64 */
	atw_pa pa;               /* LEAF: what va maps to; TABLE: the table */
	uint32_t count;          /* entries */
	uint8_t level;           /* of the entries */
	uint8_t kind;            /* enum atw_kind */
	uint8_t loss;            /* enum atw_loss */
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
	struct atw_step path[ATW_MAX_LEVELS];  /* last one: the first entry */
};

enum atw_walk_flags {
	ATW_WALK_EACH = 1,       /* never more than one entry a piece */
	ATW_WALK_FOLD = 2,       /* repeated tables as one piece, see repeat_of */
	ATW_WALK_SOFT = 4,       /* ABSENT pieces too, but only non-zero words */
};

struct atw_walk_opts {
	size_t size;             /* sizeof this struct, for the ABI */
	atw_va first, last;      /* inclusive; 0..~0 is everything */
	uint32_t want;           /* ATW_K() of the kinds to return; 0: LEAF.
	                          * Losses and BAD are always returned. */
	uint32_t flags;
	unsigned depth;          /* levels to descend from the root; 0: all.
	                          * TABLE entries at the limit are returned. */
	uint64_t budget;         /* tables to read at most; 0: a sane default */
};

struct atw_walk_stats {
	uint64_t tables;         /* read */
	uint64_t leaves;         /* entries returned as LEAF, folded ones not */
	uint64_t folded;         /* tables not read because they repeat */
	uint64_t lost;           /* tables not to be had */
	uint64_t changed;        /* entries that led elsewhere after their table was read */
};

struct atw_walk;

/* Are its tables still in use? Of what does not run, always. */
ATW_API bool atw_space_lives(const struct atw_space *sp);

ATW_API int atw_walk_open(const struct atw_space *sp,
			  const struct atw_walk_opts *o, struct atw_walk **ret,
			  struct atw_err *err);
/*
 * ATW_OK, ATW_END, or ATW_E_LIMIT when the budget is used up or the tables are
 * no longer in use: what follows is unknown then. `*ret` is the walk's own and changes with the next call.
 */
ATW_API int atw_walk_next(struct atw_walk *w, const struct atw_seen **ret,
			  struct atw_err *err);
/* Stay out of the table just returned. */
ATW_API void atw_walk_prune(struct atw_walk *w);
/* Walk the repeats just returned as one piece after all, each by itself. */
ATW_API void atw_walk_unfold(struct atw_walk *w);
ATW_API struct atw_walk_stats atw_walk_stats(const struct atw_walk *w);
/* What the last ATW_LOST_DAMAGED piece was about. */
ATW_API const struct atw_err *atw_walk_error(const struct atw_walk *w);
ATW_API void atw_walk_close(struct atw_walk *w);

/* Entry i of a LEAF piece: its raw word, and what its slot maps to. */
ATW_API uint64_t atw_seen_word(const struct atw_space *sp,
			       const struct atw_seen *s, uint32_t i);
ATW_API atw_pa atw_seen_pa(const struct atw_space *sp,
			   const struct atw_seen *s, uint32_t i);
/*
 * Entry i of any piece as a piece of its own, path included, as ATW_WALK_EACH
 * gives it. Its words lie where those of `s` do, and are good as long.
 */
ATW_API void atw_seen_one(const struct atw_space *sp, const struct atw_seen *s,
			  uint32_t i, struct atw_seen *ret);

/*
 * One address. The piece has count 1; for a LEAF, ret->pa is the slot's base:
 * the byte itself is at pa + (va - ret->va). ATW_E_USAGE when the mode cannot
 * translate such an address at all.
 */
ATW_API int atw_translate(const struct atw_space *sp, atw_va va,
			  struct atw_seen *ret, struct atw_err *err);
/*
 * The same for very many addresses, without the path: some things are worked
 * out once, which makes each answer several times as fast.
 */
struct atw_place {
	atw_pa pa;               /* LEAF: of the very byte; else 0 */
	uint64_t size;           /* of the slot that answers, bytes */
	uint8_t level, kind, loss, rights;
};
struct atw_lookup;
ATW_API int atw_lookup_open(const struct atw_space *sp, struct atw_lookup **ret,
			    struct atw_err *err);
ATW_API int atw_lookup(struct atw_lookup *l, atw_va va, struct atw_place *ret,
		       struct atw_err *err);
ATW_API void atw_lookup_close(struct atw_lookup *l);

/* Bytes by virtual address, up to the first that is not mapped or not there. */
ATW_API ssize_t atw_space_read(const struct atw_space *sp, atw_va va,
			       void *buf, size_t len, struct atw_err *err);

/* ---- ranges: pieces merged while they agree ---- */

enum atw_split {
	ATW_SPLIT_RIGHTS = 1, ATW_SPLIT_LEVEL = 2, ATW_SPLIT_PHYSICAL = 4,
	ATW_SPLIT_FLAGS = 8, ATW_SPLIT_EACH = 16,
};

struct atw_range {
	atw_va va;
	uint64_t size;           /* bytes; 0 means 2^64 */
	atw_pa pa;               /* LEAF: what va maps to; TABLE, and with a
	                          * loss: the table */
	uint64_t word;           /* of the first entry */
	uint64_t flags;          /* those all its entries have */
	uint64_t page;           /* bytes of one translation (slot or span);
	                          * 0: of several sizes */
	uint64_t entries;        /* slots merged */
	uint64_t repeat_of;      /* as in atw_seen */
	uint8_t level, kind, loss;
	uint8_t rights;          /* those all its entries leave */
	bool mixed_rights;       /* some leave more */
	bool same_pa;            /* every slot maps the one page at pa */
	bool scattered;          /* pa is of the first slot alone: others lie
	                          * elsewhere (without ATW_SPLIT_PHYSICAL) */
};

struct atw_ranges;
ATW_API int atw_ranges_open(const struct atw_space *sp,
			    const struct atw_walk_opts *o, unsigned split,
			    struct atw_ranges **ret, struct atw_err *err);
ATW_API int atw_ranges_next(struct atw_ranges *r, struct atw_range *ret,
			    struct atw_err *err);
ATW_API const struct atw_walk *atw_ranges_walk(const struct atw_ranges *r);
ATW_API void atw_ranges_close(struct atw_ranges *r);

/* ---- reverse: the mappings of this physical memory ---- */

struct atw_reverse;

struct atw_mapping {
	atw_va va;
	atw_pa pa;               /* what va maps to */
	uint64_t len;            /* bytes */
	uint64_t times, stride;  /* how often, each `stride` bytes of VA on */
	uint8_t level, rights;
};

/* One pass over the space; folded subtrees cost one record each. */
ATW_API int atw_reverse_build(const struct atw_space *sp,
			      struct atw_reverse **ret, struct atw_err *err);
/* Entries it could not follow, because their table is not to be had. */
ATW_API uint64_t atw_reverse_lost(const struct atw_reverse *r);
/*
 * Calls fn for every mapping of any byte of [pa, pa + len), in the order of
 * the mapped runs' physical addresses, repeats included; each is clipped to
 * the range asked for. fn returns non-zero to stop, and that is returned.
 * Nothing is cut off. ATW_E_USAGE: r or fn is NULL.
 */
typedef int atw_reverse_fn(void *arg, const struct atw_mapping *m);
ATW_API int atw_reverse_find(const struct atw_reverse *r, atw_pa pa,
			     uint64_t len, atw_reverse_fn *fn, void *arg);
ATW_API void atw_reverse_destroy(struct atw_reverse *r);

#ifdef __cplusplus
}
#endif
#endif
