/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rmap.h - the mappings of physical memory, in every address space of a target. */
#ifndef ATWALK_RMAP_H
#define ATWALK_RMAP_H

#include <atwalk/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct atw_rmap_opts - where mappings are looked for
 * @size: sizeof(struct atw_rmap_opts)
 * @pid: this process only; 0: every process, and the kernel
 * @reserved: zero
 */
struct atw_rmap_opts {
	size_t size;
	uint32_t pid;
	uint32_t reserved;
};

/**
 * struct atw_mapping - a mapping of the memory that was asked for
 * @comm: name of the process; "[kernel]"
 * @va: the address that leads there
 * @pa: where it leads; within what was asked for
 * @bytes: how many, from @va on
 * @times: how often it is mapped so, each @stride bytes behind the last; at least 1
 * @stride: bytes between repetitions
 * @word: the entry as it is in memory; 0: not known
 * @entry_at: physical address of the entry; 0: not known
 * @pids: all processes that share the address space, @npids of them
 * @npids: 0: the kernel
 * @pid: the first of them; 0: the kernel
 * @state: enum atw_state: PRESENT, PROTNONE and others that keep a page; TABLE: a page
 *	table lies there, and this is the entry that points to it
 * @perms: enum atw_perm
 * @level: of the entry; 0 is the lowest
 */
struct atw_mapping {
	const char *comm;
	atw_va va;
	atw_pa pa;
	uint64_t bytes;
	uint64_t times;
	uint64_t stride;
	uint64_t word;
	atw_pa entry_at;
	const uint32_t *pids;
	uint32_t npids;
	uint32_t pid;
	uint32_t state;
	uint32_t perms;
	uint32_t level;
};

struct atw_rmap;

/**
 * atw_rmap_open - find the mappings of physical memory
 * @target: with ATW_CAP_RMAP
 * @pa: the first byte
 * @bytes: how many; at least 1
 * @opts: NULL: in every address space
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Page tables are read as the cursor advances, those of one process at a time. Addresses of
 * the kernel are looked for once, in the kernel's own tables. A root table is found by no
 * entry: none points to it.
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_USAGE, ATW_E_NONE: there is no such process.
 */
ATW_API int atw_rmap_open(struct atw_target *target, atw_pa pa, uint64_t bytes,
			  const struct atw_rmap_opts *opts, struct atw_rmap **ret,
			  struct atw_err *err);

/**
 * atw_rmap_next - the next mapping
 * @rmap: the cursor
 * @ret: lent until the next call on @rmap
 * @err: what failed, or what is missing; may be NULL
 *
 * In the order of processes, then of addresses.
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more, and tasks or page tables could
 * not be read, so that there may be others.
 */
ATW_API int atw_rmap_next(struct atw_rmap *rmap, const struct atw_mapping **ret,
			  struct atw_err *err);

/**
 * atw_rmap_close - end a search for mappings
 * @rmap: NULL is allowed
 */
ATW_API void atw_rmap_close(struct atw_rmap *rmap);

#ifdef __cplusplus
}
#endif
#endif
