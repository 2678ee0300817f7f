/* SPDX-License-Identifier: GPL-2.0-or-later */
/* space.h - address spaces: translations, walks and ranges. */
#ifndef ATWALK_SPACE_H
#define ATWALK_SPACE_H

#include <atwalk/target.h>

#ifdef __cplusplus
extern "C" {
#endif

struct atw_space;

/* State of a page or of a page-table entry. */
enum atw_state {
	ATW_STATE_ABSENT = 0,    /* nothing is mapped */
	ATW_STATE_PRESENT = 1,   /* memory is mapped */
	ATW_STATE_PROTNONE = 2,  /* a page is mapped and may not be accessed */
	ATW_STATE_SWAP = 3,      /* on swap */
	ATW_STATE_MIGRATION = 4, /* the page is being moved */
	ATW_STATE_POISON = 5,    /* hardware poison */
	ATW_STATE_DEVICE = 6,    /* device private memory */
	ATW_STATE_MARKER = 7,    /* PTE marker: uffd-wp and others */
	ATW_STATE_GUARD = 8,     /* guard region */
	ATW_STATE_LOST = 9,      /* the source does not have the page table or the data */
	ATW_STATE_EXCLUDED = 10, /* the page table was excluded from the dump */
	ATW_STATE_DAMAGED = 11,  /* the page table cannot be read */
	ATW_STATE_UNSTABLE = 12, /* the page table changed each time it was read */
	ATW_STATE_BAD = 13,      /* reserved bits are set: no CPU accepts the entry */
	ATW_STATE_TABLE = 14,    /* the entry points to a page table (walks only) */
	ATW_STATE_HIDDEN = 15,   /* the target cannot determine the state */
};

/* Effective permissions of a path of entries, in kernel mode and in user mode. */
enum atw_perm {
	ATW_PERM_KR = 1, ATW_PERM_KW = 2, ATW_PERM_KX = 4,
	ATW_PERM_UR = 8, ATW_PERM_UW = 16, ATW_PERM_UX = 32,
};

/* Root table of a process; under page-table isolation it has two. */
enum atw_half {
	ATW_HALF_BOTH = 0,       /* the user's for user addresses, else the kernel's */
	ATW_HALF_USER = 1,       /* the root table of user mode */
	ATW_HALF_KERNEL = 2,     /* the root table of kernel mode */
};

/**
 * struct atw_subject - selects an address space
 * @size: sizeof(struct atw_subject)
 * @comm: name of a process, which must be unique; NULL: use @pid
 * @pid: PID of a process or thread; 0 with @comm NULL: the kernel
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
 * @subject: the address space; NULL: that of the kernel, or that of the root or CPU
 *	which the target was opened with
 * @ret: the address space
 * @err: the error; may be NULL
 *
 * The kernel's address space needs ATW_CAP_TABLES, and that of a process needs
 * ATW_CAP_PROCESSES. If the target has no page tables, translations come from /proc or
 * the capture, and have no levels and entries.
 *
 * Return: ATW_OK; ATW_E_NONE: the process does not exist, has no memory, or is not the
 * only one with this name; ATW_E_UNSUPPORTED.
 */
ATW_API int atw_space_open(struct atw_target *target, const struct atw_subject *subject,
			   struct atw_space **ret, struct atw_err *err);

/**
 * atw_space_close - close an address space
 * @space: the address space; may be NULL
 */
ATW_API void atw_space_close(struct atw_space *space);

/**
 * struct atw_space_info - properties of an address space
 * @comm: name of the process; empty: the kernel, or not known
 * @label: description, such as "process 7 (init)"; empty: the kernel
 * @root: physical address of the root table of low addresses; 0: not known
 * @mm: virtual address of the mm_struct; 0: none, or not known
 * @pid: PID of the process; 0: the kernel
 */
struct atw_space_info {
	const char *comm;
	const char *label;
	atw_pa root;
	atw_va mm;
	uint32_t pid;
};

/**
 * atw_space_get_info - properties of an address space
 * @space: the address space
 *
 * Return: a struct that is valid until @space is closed; NULL if @space is NULL.
 */
ATW_API const struct atw_space_info *atw_space_get_info(const struct atw_space *space);

/**
 * atw_space_read - read memory by virtual address
 * @space: address space of a target with ATW_CAP_TABLES and ATW_CAP_MEMORY
 * @va: address of the first byte
 * @buf: buffer of @len bytes
 * @len: number of bytes
 * @err: reason for a short read; may be NULL
 *
 * Return: number of bytes before the first one that is not mapped or not in the
 * source. If that is the byte at @va: ATW_E_NONE if no memory is mapped there,
 * ATW_E_MISSING if the memory or a page table is not in the source, or another
 * negative enum atw_status.
 */
ATW_API ssize_t atw_space_read(struct atw_space *space, atw_va va, void *buf, size_t len,
			       struct atw_err *err);

/**
 * struct atw_step - an entry on the path to an address
 * @at: physical address of the entry
 * @word: raw value of the entry
 * @level: level of the entry; 0 is the level of the smallest pages
 * @index: index of the entry in its table
 * @state: ATW_STATE_TABLE, or the state of the last entry
 * @perms: set of enum atw_perm: permissions that are left after this entry
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
 * struct atw_translation - translation of an address
 * @va: the virtual address
 * @pa: physical address of @va, if @state is ATW_STATE_PRESENT or another state that
 *	keeps a page; otherwise 0
 * @page_size: size of the page, or of the range that the last entry covers
 * @state: enum atw_state
 * @perms: set of enum atw_perm
 * @level: level of the last entry; 0 is the lowest
 * @nsteps: number of elements in @step; 0: the target has no page tables
 * @step: entries of the path, from the root table down
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
 * @ret: the translation; valid until the next call of atw_translate() on @space
 * @err: the error; may be NULL
 *
 * An address that is not mapped, or a page table that cannot be read, is not an error:
 * the state of the translation says so.
 *
 * Return: ATW_OK; ATW_E_USAGE: the address does not exist in the paging mode.
 */
ATW_API int atw_translate(struct atw_space *space, atw_va va,
			  const struct atw_translation **ret, struct atw_err *err);

/**
 * atw_translate_many - translate many addresses
 * @space: the address space
 * @va: @n addresses
 * @n: number of addresses
 * @pa: array of @n elements for the physical addresses; 0 unless the state is
 *	ATW_STATE_PRESENT
 * @state: array of @n elements for the states (enum atw_state). Non-present entries
 *	are not decoded: they are ATW_STATE_ABSENT. Addresses that do not exist in the
 *	paging mode are ATW_STATE_BAD. Kernel addresses are ATW_STATE_HIDDEN if the
 *	target only has those of processes
 * @err: the error; may be NULL
 *
 * If the target has ATW_CAP_TABLES, this is several times as fast as a call of
 * atw_translate() for each address.
 *
 * Return: ATW_OK: all elements of @pa and @state are set; ATW_E_NOMEM and others: only
 * those are set that were translated before the error.
 */
ATW_API int atw_translate_many(struct atw_space *space, const atw_va *va, size_t n,
			       atw_pa *pa, uint8_t *state, struct atw_err *err);

/**
 * atw_perms_letters - permissions as letters
 * @perms: set of enum atw_perm
 * @ret: set to a terminated string such as "rw-u", with "-" for a missing permission;
 *	for a user page, the permissions of user mode, else those of kernel mode
 */
ATW_API void atw_perms_letters(uint32_t perms, char ret[5]);

/* ---- walks ---- */

enum atw_walk_flag {
	ATW_WALK_EACH = 1,       /* return each entry by itself */
	ATW_WALK_TABLES = 2,     /* return entries that point to tables as well */
	ATW_WALK_NONPRESENT = 4, /* return non-present entries */
	ATW_WALK_FOLD = 8,       /* return repeated tables as one row, see @repeat_of */
};

/**
 * struct atw_walk_opts - options of atw_walk_open()
 * @size: sizeof(struct atw_walk_opts)
 * @first: first address
 * @last: last address, inclusive; 0: the end of the address space
 * @budget: maximum number of page tables to read; 0: as many as physical memory can
 *	hold
 * @flags: set of enum atw_walk_flag
 * @depth: number of levels to follow from the root table, at the last of which entries
 *	that point to tables are returned; 0: all levels
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
 * struct atw_walk_entry - adjacent entries of a table that differ in address only
 * @va: virtual address of the first entry
 * @bytes: size of the address range of all entries; 0 stands for 2^64
 * @pa: physical address of the page or table that the first entry points to; 0: none
 * @page_size: size of the address range of one entry
 * @word: raw value of the first entry
 * @at: physical address of the first entry
 * @repeat_of: if not 0, the range was not walked, because it repeats this many bytes
 *	just before it
 * @count: number of entries
 * @level: level of the entries; 0 is the lowest
 * @state: enum atw_state
 * @perms: set of enum atw_perm
 * @nsteps: number of elements in @step
 * @step: entries of the path, from the root table down to the first of these entries.
 *	For a table that cannot be read, the last element is the entry that points to
 *	the table
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
 * @space: address space of a target with ATW_CAP_TABLES
 * @opts: options; NULL: return present pages of the whole address space
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_USAGE, ATW_E_NOMEM.
 */
ATW_API int atw_walk_open(struct atw_space *space, const struct atw_walk_opts *opts,
			  struct atw_walk **ret, struct atw_err *err);

/**
 * atw_walk_next - the next entries in ascending order of addresses
 * @walk: the cursor
 * @ret: the entries; valid until the next call on @walk
 * @err: the error; may be NULL
 *
 * Page tables that cannot be read, and entries with reserved bits set, are rows as
 * well.
 *
 * Return: ATW_OK; ATW_END: there are no more entries; ATW_E_LIMIT: the budget is used
 * up or the process has ended, so the other entries are not known.
 */
ATW_API int atw_walk_next(struct atw_walk *walk, const struct atw_walk_entry **ret,
			  struct atw_err *err);

/**
 * atw_walk_prune - skip the contents of the table that was returned last
 * @walk: the cursor; the state of its last row is ATW_STATE_TABLE
 */
ATW_API void atw_walk_prune(struct atw_walk *walk);

/**
 * atw_walk_close - close a walk
 * @walk: the cursor; may be NULL
 */
ATW_API void atw_walk_close(struct atw_walk *walk);

/* ---- ranges ---- */

/* Properties in which a difference starts a new range. */
enum atw_split {
	ATW_SPLIT_PERMS = 1, ATW_SPLIT_LEVEL = 2, ATW_SPLIT_PHYSICAL = 4,
	ATW_SPLIT_FLAGS = 8,     /* any flag of the entries */
	ATW_SPLIT_NOTHING = 16,  /* by itself: merge all adjacent pages */
};

/**
 * struct atw_ranges_opts - options of atw_ranges_open()
 * @size: sizeof(struct atw_ranges_opts)
 * @first: first address
 * @last: last address, inclusive; 0: the end of the address space
 * @budget: maximum number of page tables to read; 0: as many as physical memory can
 *	hold
 * @split: set of enum atw_split; 0: permissions, level and physical contiguity
 * @reserved: must be 0
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
	ATW_RANGE_MIXED_PERMS = 1, /* some pages have more permissions than @perms */
	ATW_RANGE_SAME_PAGE = 2,   /* every entry maps the same page at @pa */
	ATW_RANGE_SCATTERED = 4,   /* physical memory is not contiguous after @pa */
	ATW_RANGE_NO_LEVEL = 8,    /* @level is not known */
	ATW_RANGE_NO_PERMS = 16,   /* @perms is not known */
	ATW_RANGE_NO_PA = 32,      /* @pa is not known, or there is none */
};

/**
 * struct atw_range - adjacent entries with the same properties
 * @va: first address
 * @bytes: size of the range; 0 stands for 2^64
 * @pa: physical address that @va maps to; for a state of a page table, its address
 * @page_size: size of one translation; 0: several sizes, or not known
 * @entries: number of merged entries
 * @repeat_of: if not 0, the range repeats this many bytes just before it
 * @level: level of the entries; 0 is the lowest
 * @state: enum atw_state
 * @perms: set of enum atw_perm: permissions that all pages have
 * @flags: set of enum atw_range_flag
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
 * atw_ranges_open - list mapped ranges; adjacent pages are merged
 * @space: address space; of a process, if the target has no ATW_CAP_TABLES
 * @opts: options; NULL: all defaults
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_USAGE, ATW_E_NOMEM.
 */
ATW_API int atw_ranges_open(struct atw_space *space, const struct atw_ranges_opts *opts,
			    struct atw_ranges **ret, struct atw_err *err);

/**
 * atw_ranges_next - the next range in ascending order of addresses
 * @ranges: the cursor
 * @ret: the range; valid until the next call on @ranges
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_END: there are no more ranges; ATW_E_LIMIT: as for
 * atw_walk_next(); without page tables, ATW_E_PARTIAL: as for atw_pages_next().
 */
ATW_API int atw_ranges_next(struct atw_ranges *ranges, const struct atw_range **ret,
			    struct atw_err *err);

/**
 * atw_ranges_close - close a cursor over ranges
 * @ranges: the cursor; may be NULL
 */
ATW_API void atw_ranges_close(struct atw_ranges *ranges);

#ifdef __cplusplus
}
#endif
#endif
