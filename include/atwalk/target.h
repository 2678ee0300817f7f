/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - targets: a dump, the running kernel or a capture. */
#ifndef ATWALK_TARGET_H
#define ATWALK_TARGET_H

#include <atwalk/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct atw_target;

/* Capabilities of a target. */
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
 * struct atw_open_opts - options of atw_target_open()
 * @size: sizeof(struct atw_open_opts)
 * @parts: further files of a split dump, terminated by NULL; NULL: none
 * @kernel_file: vmlinux, System.map or BTF file with symbols and types that the source
 *	lacks; NULL: none
 * @paging: name of the paging mode, such as "x86_64-4"; NULL: detect it
 * @paging_ext: extensions of the mode, separated by commas, such as "cbit=47"; NULL:
 *	none
 * @root: physical address of the root table, which requires @paging; 0: detect it
 * @max_rate: maximum number of bytes per second to read from a running kernel; 0: no
 *	limit
 * @cpu_plus_one: number of a CPU plus 1, to use its page tables; 0: do not select a
 *	CPU
 * @reserved: must be 0
 * @layout: of a running guest, where its process has its RAM: GPA:HVA:LEN,... as in
 *	atwalk(1); NULL: detect it
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
	const char *layout;
};

/**
 * atw_target_open - open a dump, the running kernel or a capture
 * @source: a path, FORMAT:PATH, raw:PATH@ADDRESS, "live" or live:METHOD; see atwalk(1)
 * @opts: options; NULL: all defaults
 * @ret: the target
 * @err: the error; may be NULL
 *
 * Detects the format from the first bytes of the file. Then finds the kernel and its
 * page tables, or reads the capture. @source and @opts may be freed afterwards.
 *
 * Return: ATW_OK; ATW_E_FORMAT, ATW_E_MISSING, ATW_E_PERM and others if the source
 * cannot be used.
 */
ATW_API int atw_target_open(const char *source, const struct atw_open_opts *opts,
			    struct atw_target **ret, struct atw_err *err);

/**
 * atw_target_close - close a target
 * @target: the target; may be NULL
 *
 * Close everything that was opened on the target first. Pointers that the target
 * returned become invalid.
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
 * @err: the first missing capability and the reason; the hint is a remedy; may be NULL
 *
 * Functions check the capabilities that they need. Call this function to fail before
 * any other work is done.
 *
 * Return: ATW_OK if the target has all of @caps, otherwise ATW_E_UNSUPPORTED or
 * ATW_E_PERM.
 */
ATW_API int atw_target_need(const struct atw_target *target, uint32_t caps,
			    struct atw_err *err);

/**
 * struct atw_target_info - properties of a target
 * @source: source that was given to atw_target_open()
 * @kind: "dump", "running kernel", "running guest" or "capture"
 * @format: format of the file, such as "elf" or "kdump"
 * @release: kernel release, such as "6.1.0-50-amd64"; empty: not known
 * @paging: paging mode, such as "x86_64-4"; empty: the target has no page tables
 * @defect: sentence that says why the file is incomplete; empty: it is complete
 * @page_size: size of the smallest page in bytes
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
 * atw_target_get_info - properties of a target
 * @target: the target
 *
 * Return: a struct that is valid until the target is closed; NULL if @target is NULL.
 */
ATW_API const struct atw_target_info *atw_target_get_info(const struct atw_target *target);

/**
 * atw_target_read - read physical memory
 * @target: a target with ATW_CAP_MEMORY
 * @pa: address of the first byte
 * @buf: buffer of @len bytes
 * @len: number of bytes
 * @err: reason for a short read; may be NULL
 *
 * The read ends at the first byte that the source does not have. Missing memory is
 * never returned as zeroes.
 *
 * Return: number of bytes read, which may be less than @len: @err is the reason. If the
 * first byte cannot be read: ATW_E_MISSING, ATW_E_DAMAGED, ATW_E_IO or ATW_E_UNSUPPORTED.
 */
ATW_API ssize_t atw_target_read(struct atw_target *target, atw_pa pa, void *buf, size_t len,
				struct atw_err *err);

#ifdef __cplusplus
}
#endif
#endif
