/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rmap.h - reverse map: the mappings of physical memory in all address spaces. */
#ifndef ATWALK_RMAP_H
#define ATWALK_RMAP_H

#include <atwalk/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct atw_rmap_opts - options of atw_rmap_open()
 * @size: sizeof(struct atw_rmap_opts)
 * @pid: search this process only; 0: search all processes and the kernel
 * @reserved: must be 0
 */
struct atw_rmap_opts {
	size_t size;
	uint32_t pid;
	uint32_t reserved;
};

/**
 * struct atw_mapping - a mapping of the requested memory
 * @comm: name of the process; "[kernel]" for the kernel
 * @va: virtual address
 * @pa: physical address that @va maps to, within the requested range
 * @bytes: size of the mapping
 * @times: number of repetitions of the mapping, including the first; at least 1
 * @stride: distance between repetitions in bytes
 * @word: raw value of the entry; 0: not known
 * @entry_at: physical address of the entry; 0: not known
 * @pids: the @npids processes that share the address space
 * @npids: number of elements in @pids; 0 for the kernel
 * @pid: first element of @pids; 0 for the kernel
 * @state: enum atw_state: PRESENT, PROTNONE and others that keep a page; TABLE if the
 *	requested memory is a page table and this entry points to it
 * @perms: set of enum atw_perm
 * @level: level of the entry; 0 is the lowest
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
 * @target: a target with ATW_CAP_RMAP
 * @pa: first byte of the requested memory
 * @bytes: size of the requested memory; at least 1
 * @opts: options; NULL: search all address spaces
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Page tables are read as the cursor advances, one process at a time. Kernel addresses
 * are searched once, in the kernel's own tables. Nothing is found for a root table,
 * because no entry points to it.
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED; ATW_E_USAGE; ATW_E_NONE: the process does not
 * exist.
 */
ATW_API int atw_rmap_open(struct atw_target *target, atw_pa pa, uint64_t bytes,
			  const struct atw_rmap_opts *opts, struct atw_rmap **ret,
			  struct atw_err *err);

/**
 * atw_rmap_next - the next mapping
 * @rmap: the cursor
 * @ret: the mapping; valid until the next call on @rmap
 * @err: the error, or the first thing that could not be read; may be NULL
 *
 * Mappings are ordered by process, then by address.
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: the search has ended, and other mappings may
 * exist because tasks or page tables could not be read.
 */
ATW_API int atw_rmap_next(struct atw_rmap *rmap, const struct atw_mapping **ret,
			  struct atw_err *err);

/**
 * atw_rmap_close - close a cursor over mappings
 * @rmap: the cursor; may be NULL
 */
ATW_API void atw_rmap_close(struct atw_rmap *rmap);

#ifdef __cplusplus
}
#endif
#endif
