/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - an address space of a target: translations, walks and ranges. */
#ifndef ATWALK_SPACE_H
#define ATWALK_SPACE_H

#include <atwalk/target.h>

#ifdef __cplusplus
extern "C" {
#endif

struct atw_space;

/* State of a page or an entry. */
enum atw_state {
	ATW_STATE_ABSENT = 0,    /* nothing is mapped */
	ATW_STATE_PRESENT = 1,   /* memory is mapped */
	ATW_STATE_PROTNONE = 2,  /* a page is there and may not be accessed */
	ATW_STATE_SWAP = 3,      /* on swap */
	ATW_STATE_MIGRATION = 4, /* the page is being moved */
	ATW_STATE_POISON = 5,    /* hardware poison */
	ATW_STATE_DEVICE = 6,    /* device private memory */
	ATW_STATE_MARKER = 7,    /* PTE marker: uffd-wp and others */
	ATW_STATE_GUARD = 8,     /* guard region */
	ATW_STATE_LOST = 9,      /* the source lacks the page table, or the answer */
	ATW_STATE_EXCLUDED = 10, /* the page table was left out of the dump */
	ATW_STATE_DAMAGED = 11,  /* the page table cannot be read */
	ATW_STATE_UNSTABLE = 12, /* the page table changed whenever it was read */
	ATW_STATE_BAD = 13,      /* reserved bits are set: no CPU accepts the entry */
	ATW_STATE_TABLE = 14,    /* walks only: the entry points to a page table */
	ATW_STATE_HIDDEN = 15,   /* the target does not know more than that it is there */
};

/* Permissions that hold after all entries of the path; kernel's and user's. */
enum atw_perm {
	ATW_PERM_KR = 1, ATW_PERM_KW = 2, ATW_PERM_KX = 4,
	ATW_PERM_UR = 8, ATW_PERM_UW = 16, ATW_PERM_UX = 32,
};

/* Under page-table isolation a process has two root tables. */
enum atw_half {
	ATW_HALF_BOTH = 0,       /* user addresses by the user's, others by the kernel's */
	ATW_HALF_USER = 1,       /* what user mode sees */
	ATW_HALF_KERNEL = 2,     /* what the kernel sees */
};

/**
 * struct atw_subject - which address space is meant
 * @size: sizeof(struct atw_subject)
 * @comm: name of the one process that has it; NULL: by number
 * @pid: number of a process or thread; 0: the kernel, if @comm is NULL
 * @half: enum atw_half
 */
struct atw_subject {
	size_t size;
	const char *comm;
	uint32_t pid;
	uint32_t half;
};

/**
 * atw_space_open - open an address space
 * @target: the target
 * @subject: NULL: the kernel's own, or that of the root or CPU which the target was opened with
 * @ret: the address space
 * @err: what failed; may be NULL
 *
 * The kernel's own address space needs ATW_CAP_TABLES, that of a process
 * ATW_CAP_PROCESSES. Without page tables, translations are answered by /proc or the
 * capture, without levels and entries.
 *
 * Return: ATW_OK; ATW_E_NONE: there is no such process, it has no memory, or several have
 * this name; ATW_E_UNSUPPORTED.
 */
ATW_API int atw_space_open(struct atw_target *target, const struct atw_subject *subject,
			   struct atw_space **ret, struct atw_err *err);

/**
 * atw_space_close - close an address space
 * @space: NULL is allowed
 */
ATW_API void atw_space_close(struct atw_space *space);

/**
 * struct atw_space_info - what is known of an address space
 * @comm: name of the process; empty: the kernel, or not known
 * @label: "process 7 (init)"; empty: the kernel
 * @root: physical address of the root table of low addresses; 0: not known
 * @mm: virtual address of the mm_struct; 0: none, or not known
 * @pid: number of the process; 0: the kernel
 */
struct atw_space_info {
	const char *comm;
	const char *label;
	atw_pa root;
	atw_va mm;
	uint32_t pid;
};

/**
 * atw_space_get_info - what is known of an address space
 * @space: the address space
 *
 * Return: a struct that belongs to @space and stays until it is closed; NULL if @space is
 * NULL.
 */
ATW_API const struct atw_space_info *atw_space_get_info(const struct atw_space *space);

/**
 * atw_space_read - read memory by virtual address
 * @space: of a target with ATW_CAP_TABLES and ATW_CAP_MEMORY
 * @va: the first byte
 * @buf: room for @len bytes
 * @len: bytes
 * @err: why less was read; may be NULL
 *
 * Return: bytes up to the first that is not mapped or not in the source; negative if that
 * is the first one.
 */
ATW_API ssize_t atw_space_read(struct atw_space *space, atw_va va, void *buf, size_t len,
			       struct atw_err *err);

/**
 * struct atw_step - one entry on the way to an address
 * @at: physical address of the entry
 * @word: the entry as it is in memory
 * @level: 0 is the lowest: that of the smallest pages
 * @index: of the entry in its table
 * @state: ATW_STATE_TABLE, or what the last entry says
 * @perms: enum atw_perm: what is left after this entry
 */
struct atw_step {
	atw_pa at;
	uint64_t word;
	uint32_t level;
	uint32_t index;
	uint32_t state;
	uint32_t perms;
};

/**
 * struct atw_translation - the answer for one address
 * @va: the address
 * @pa: of the byte, if @state is ATW_STATE_PRESENT, or another that keeps a page; else 0
 * @page_size: bytes of the slot that answers: the size of the page, or of what is absent
 * @state: enum atw_state
 * @perms: enum atw_perm
 * @level: of the last entry; 0 is the lowest
 * @nsteps: entries in @step; 0: the target has no page tables
 * @step: the path, the entry of the root table first
 */
struct atw_translation {
	atw_va va;
	atw_pa pa;
	uint64_t page_size;
	uint32_t state;
	uint32_t perms;
	uint32_t level;
	uint32_t nsteps;
	const struct atw_step *const *step;
};

/**
 * atw_translate - translate one address
 * @space: the address space
 * @va: the address
 * @ret: the answer, lent until the next call of atw_translate() on @space
 * @err: what failed; may be NULL
 *
 * An address that is not mapped is an answer: its state says so. A page table that cannot
 * be read is one too.
 *
 * Return: ATW_OK; ATW_E_USAGE: the paging mode has no such address.
 */
ATW_API int atw_translate(struct atw_space *space, atw_va va,
			  const struct atw_translation **ret, struct atw_err *err);

/**
 * atw_translate_many - translate many addresses
 * @space: the address space
 * @va: @n addresses
 * @n: how many
 * @pa: room for @n: where each leads; 0 unless its state is ATW_STATE_PRESENT
 * @state: room for @n: enum atw_state. In page tables, words of pages that are not present
 *	are not decoded: such a page is ATW_STATE_ABSENT. Addresses that the paging mode does
 *	not have are ATW_STATE_BAD; the kernel's, where the target has only those of
 *	processes, ATW_STATE_HIDDEN
 * @err: what failed; may be NULL
 *
 * Several times as fast for each address as atw_translate(), where the target has
 * ATW_CAP_TABLES.
 *
 * Return: ATW_OK, with all of @pa and @state set; ATW_E_NOMEM and others, with those set
 * that were translated before.
 */
ATW_API int atw_translate_many(struct atw_space *space, const atw_va *va, size_t n,
			       atw_pa *pa, uint8_t *state, struct atw_err *err);

/**
 * atw_perms_letters - permissions as letters
 * @perms: enum atw_perm
 * @ret: "rwxu", or "-" in each place: those of the user if it is a user page; terminated
 */
ATW_API void atw_perms_letters(uint32_t perms, char ret[5]);

/* ---- walks ---- */

enum atw_walk_flag {
	ATW_WALK_EACH = 1,       /* never more than one entry a row */
	ATW_WALK_TABLES = 2,     /* entries that point to tables, too, before what is below */
	ATW_WALK_NONPRESENT = 4, /* words of pages that are not present, too */
	ATW_WALK_FOLD = 8,       /* tables that repeat as one row, see @repeat_of */
};

/**
 * struct atw_walk_opts - what is walked
 * @size: sizeof(struct atw_walk_opts)
 * @first: the first address
 * @last: the last one, inclusive; 0: to the end of the address space
 * @budget: page tables to read at most; 0: as many as the memory can hold
 * @flags: enum atw_walk_flag
 * @depth: levels to go down from the root table; 0: all. Entries that point to tables are
 *	returned at this depth
 */
struct atw_walk_opts {
	size_t size;
	atw_va first;
	atw_va last;
	uint64_t budget;
	uint32_t flags;
	uint32_t depth;
};

/**
 * struct atw_walk_entry - neighbouring entries of one table that differ in address only
 * @va: of the first one
 * @bytes: of address space, all entries together; 0 is 2^64
 * @pa: where the first one leads: page or table; 0: nowhere
 * @page_size: bytes of one slot
 * @word: the first entry as it is in memory
 * @at: physical address of the first entry
 * @repeat_of: not 0: not walked, for it repeats this many bytes just before it
 * @count: entries
 * @level: of the entries; 0 is the lowest
 * @state: enum atw_state
 * @perms: enum atw_perm
 * @nsteps: entries in @step
 * @step: the path, the root table's entry first, the first of these entries last. Of a
 *	table that cannot be read the last one is the entry which points to it
 */
struct atw_walk_entry {
	atw_va va;
	uint64_t bytes;
	atw_pa pa;
	uint64_t page_size;
	uint64_t word;
	atw_pa at;
	uint64_t repeat_of;
	uint32_t count;
	uint32_t level;
	uint32_t state;
	uint32_t perms;
	uint32_t nsteps;
	const struct atw_step *const *step;
};

struct atw_walk;

/**
 * atw_walk_open - walk the page tables of an address space
 * @space: of a target with ATW_CAP_TABLES
 * @opts: NULL: present pages of the whole address space
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_USAGE, ATW_E_NOMEM.
 */
ATW_API int atw_walk_open(struct atw_space *space, const struct atw_walk_opts *opts,
			  struct atw_walk **ret, struct atw_err *err);

/**
 * atw_walk_next - the next entries, low addresses first
 * @walk: the cursor
 * @ret: lent until the next call on @walk
 * @err: what failed; may be NULL
 *
 * Page tables that cannot be read, and entries with reserved bits, are rows.
 *
 * Return: ATW_OK; ATW_END: there are no more; ATW_E_LIMIT: the budget is used up or the
 * process has ended, and what would follow is not known.
 */
ATW_API int atw_walk_next(struct atw_walk *walk, const struct atw_walk_entry **ret,
			  struct atw_err *err);

/**
 * atw_walk_prune - leave out the table just returned
 * @walk: the cursor; its last row is of state ATW_STATE_TABLE
 */
ATW_API void atw_walk_prune(struct atw_walk *walk);

/**
 * atw_walk_close - end a walk
 * @walk: NULL is allowed
 */
ATW_API void atw_walk_close(struct atw_walk *walk);

/* ---- ranges ---- */

/* What begins a new range. */
enum atw_split {
	ATW_SPLIT_PERMS = 1, ATW_SPLIT_LEVEL = 2, ATW_SPLIT_PHYSICAL = 4,
	ATW_SPLIT_FLAGS = 8,     /* any flag of the entries */
	ATW_SPLIT_NOTHING = 16,  /* alone: merge whatever is mapped */
};

/**
 * struct atw_ranges_opts - which ranges are listed
 * @size: sizeof(struct atw_ranges_opts)
 * @first: the first address
 * @last: the last one, inclusive; 0: to the end of the address space
 * @budget: page tables to read at most; 0: as many as the memory can hold
 * @split: enum atw_split; 0: permissions, level and physical contiguity
 * @reserved: zero
 */
struct atw_ranges_opts {
	size_t size;
	atw_va first;
	atw_va last;
	uint64_t budget;
	uint32_t split;
	uint32_t reserved;
};

enum atw_range_flag {
	ATW_RANGE_MIXED_PERMS = 1, /* some pages permit more than @perms */
	ATW_RANGE_SAME_PAGE = 2,   /* every slot maps the one page at @pa */
	ATW_RANGE_SCATTERED = 4,   /* @pa is that of the first slot only */
};

/**
 * struct atw_range - adjacent entries that agree
 * @va: the first address
 * @bytes: 0 is 2^64
 * @pa: where the first one leads; of a state that is about a page table: the table
 * @page_size: bytes of one translation; 0: of several sizes
 * @entries: how many were merged
 * @repeat_of: not 0: it repeats this many bytes just before it
 * @level: 0 is the lowest
 * @state: enum atw_state
 * @perms: enum atw_perm: those of all pages
 * @flags: enum atw_range_flag
 */
struct atw_range {
	atw_va va;
	uint64_t bytes;
	atw_pa pa;
	uint64_t page_size;
	uint64_t entries;
	uint64_t repeat_of;
	uint32_t level;
	uint32_t state;
	uint32_t perms;
	uint32_t flags;
};

struct atw_ranges;

/**
 * atw_ranges_open - list what is mapped, adjacent pages merged
 * @space: of a target with ATW_CAP_TABLES
 * @opts: NULL: all defaults
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_USAGE, ATW_E_NOMEM.
 */
ATW_API int atw_ranges_open(struct atw_space *space, const struct atw_ranges_opts *opts,
			    struct atw_ranges **ret, struct atw_err *err);

/**
 * atw_ranges_next - the next range, low addresses first
 * @ranges: the cursor
 * @ret: lent until the next call on @ranges
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_END: there are no more; ATW_E_LIMIT, as of atw_walk_next().
 */
ATW_API int atw_ranges_next(struct atw_ranges *ranges, const struct atw_range **ret,
			    struct atw_err *err);

/**
 * atw_ranges_close - end a listing of ranges
 * @ranges: NULL is allowed
 */
ATW_API void atw_ranges_close(struct atw_ranges *ranges);

#ifdef __cplusplus
}
#endif
#endif
