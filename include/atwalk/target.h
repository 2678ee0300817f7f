/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - what a source names: a dump, the running kernel, a capture. */
#ifndef ATWALK_TARGET_H
#define ATWALK_TARGET_H

#include <atwalk/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct atw_target;

/* What can be asked of a target. */
enum atw_cap {
	ATW_CAP_MEMORY = 1 << 0,    /* physical memory can be read */
	ATW_CAP_TABLES = 1 << 1,    /* page tables: walks, ranges, kernel addresses */
	ATW_CAP_SYMBOLS = 1 << 2,   /* symbols of the kernel */
	ATW_CAP_TASKS = 1 << 3,     /* every task: threads and kernel threads as well */
	ATW_CAP_PROCESSES = 1 << 4, /* processes, their VMAs and pages */
	ATW_CAP_FRAMES = 1 << 5,    /* state of physical frames */
	ATW_CAP_RMAP = 1 << 6,      /* the mappings of a frame */
	ATW_CAP_RUNNING = 1 << 7,   /* the target changes while it is read */
};

/**
 * struct atw_open_opts - how a source is opened
 * @size: sizeof(struct atw_open_opts)
 * @parts: further files of a split dump, NULL at the end; NULL: there are none
 * @kernel_file: vmlinux, System.map or BTF with what the source lacks; NULL: none
 * @paging: name of the paging mode, such as "x86_64-4"; NULL: find it
 * @paging_ext: extensions of the mode, comma separated, such as "cbit=47"; NULL: none
 * @root: physical address of the root table; 0: find it. It needs @paging
 * @max_rate: bytes a second that are read from a running kernel; 0: no limit
 * @cpu_plus_one: use the page tables of this CPU, counted from 1; 0: of no CPU
 * @reserved: zero
 */
struct atw_open_opts {
	size_t size;
	const char *const *parts;
	const char *kernel_file;
	const char *paging;
	const char *paging_ext;
	uint64_t root;
	uint64_t max_rate;
	uint32_t cpu_plus_one;
	uint32_t reserved;
};

/**
 * atw_target_open - open whatever a source names
 * @source: a path, FORMAT:PATH, raw:PATH@ADDRESS, "live" or live:METHOD, as atwalk(1) has it
 * @opts: NULL: all defaults
 * @ret: the target
 * @err: what failed; may be NULL
 *
 * Recognises the format by the first bytes of the file, finds the kernel and its page
 * tables, or reads the capture. @source and @opts may be freed afterwards.
 *
 * Return: ATW_OK; ATW_E_FORMAT, ATW_E_MISSING, ATW_E_PERM and others if the source cannot
 * be used.
 */
ATW_API int atw_target_open(const char *source, const struct atw_open_opts *opts,
			    struct atw_target **ret, struct atw_err *err);

/**
 * atw_target_close - close a target
 * @target: NULL is allowed
 *
 * Everything that was opened of the target is closed before. What it lent ends.
 */
ATW_API void atw_target_close(struct atw_target *target);

/**
 * atw_target_caps - capabilities of a target
 * @target: the target
 *
 * Return: a set of enum atw_cap; 0 if @target is NULL.
 */
ATW_API uint32_t atw_target_caps(const struct atw_target *target);

/**
 * atw_target_need - check for capabilities
 * @target: the target
 * @caps: a set of enum atw_cap
 * @err: the first capability that is missing, and why; its hint has what would provide it
 *
 * Functions that need a capability check it themselves. A program calls this to fail
 * before it does other work.
 *
 * Return: ATW_OK if all of @caps are there, else ATW_E_UNSUPPORTED or ATW_E_PERM.
 */
ATW_API int atw_target_need(const struct atw_target *target, uint32_t caps,
			    struct atw_err *err);

/**
 * struct atw_target_info - what is known of a target
 * @source: as it was opened
 * @kind: "dump", "running kernel", "capture"
 * @format: of the container, such as "elf" or "kdump"
 * @release: of the kernel, such as "6.1.0-50-amd64"; empty: not known
 * @paging: the paging mode, such as "x86_64-4"; empty: the target has no page tables
 * @defect: why the file is incomplete, as a sentence; empty: it is whole
 * @page_size: of the smallest page, bytes
 */
struct atw_target_info {
	const char *source;
	const char *kind;
	const char *format;
	const char *release;
	const char *paging;
	const char *defect;
	uint64_t page_size;
};

/**
 * atw_target_get_info - what is known of a target
 * @target: the target
 *
 * Return: a struct that belongs to the target and stays until it is closed; NULL if
 * @target is NULL.
 */
ATW_API const struct atw_target_info *atw_target_get_info(const struct atw_target *target);

/**
 * atw_target_read - read physical memory
 * @target: with ATW_CAP_MEMORY
 * @pa: the first byte
 * @buf: room for @len bytes
 * @len: bytes
 * @err: why less was read; may be NULL
 *
 * Memory that the source lacks ends the read; it is never returned as zeroes.
 *
 * Return: bytes read, which may be fewer than @len; negative if the first byte cannot be
 * read: ATW_E_MISSING, ATW_E_DAMAGED, ATW_E_IO, ATW_E_UNSUPPORTED.
 */
ATW_API ssize_t atw_target_read(struct atw_target *target, atw_pa pa, void *buf, size_t len,
				struct atw_err *err);

#ifdef __cplusplus
}
#endif
#endif
