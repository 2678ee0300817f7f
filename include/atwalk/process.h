/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.h - tasks, physical frames, and the VMAs and pages of a process. */
#ifndef ATWALK_PROCESS_H
#define ATWALK_PROCESS_H

#include <atwalk/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tasks ---- */

/**
 * struct atw_tasks_opts - options of atw_tasks_open()
 * @size: sizeof(struct atw_tasks_opts)
 * @processes: if not 0, list one task for each thread group that has an address space
 *	of its own; threads and kernel threads are left out
 * @reserved: must be 0
 */
struct atw_tasks_opts {
	size_t size;
	uint32_t processes;
	uint32_t reserved;
};

enum atw_task_known {
	ATW_TASK_TGID = 1, ATW_TASK_PPID = 2, ATW_TASK_STATE = 4, ATW_TASK_AT = 8,
	ATW_TASK_KERNEL = 16, ATW_TASK_START = 32,
};

/**
 * struct atw_task - a process or a thread
 * @comm: name; may contain any bytes
 * @at: virtual address of the task_struct; ATW_TASK_AT
 * @mm: virtual address of the mm_struct, which tasks with a common address space share;
 *	0: none, or not known
 * @start: start time in nanoseconds since boot; ATW_TASK_START
 * @known: set of enum atw_task_known: the other members that are known
 * @pid: PID of the task
 * @tgid: PID of its process; @pid if it is not known
 * @ppid: PID of its parent; ATW_TASK_PPID
 * @state: letter as in /proc/PID/stat; ATW_TASK_STATE
 * @kernel: not 0 for a kernel thread; ATW_TASK_KERNEL
 */
struct atw_task {
	const char *comm;
	atw_va at;
	atw_va mm;
	uint64_t start;
	uint32_t known;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t state;
	uint32_t kernel;
};

struct atw_tasks;

/**
 * atw_tasks_open - list tasks
 * @target: a target with ATW_CAP_TASKS; ATW_CAP_PROCESSES is enough to list processes
 *	only
 * @opts: options; NULL: list every task
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED or ATW_E_MISSING: tasks cannot be found.
 */
ATW_API int atw_tasks_open(struct atw_target *target, const struct atw_tasks_opts *opts,
			   struct atw_tasks **ret, struct atw_err *err);

/**
 * atw_tasks_next - the next task
 * @tasks: the cursor
 * @ret: the task; valid until the next call on @tasks
 * @err: the error, or the first task that could not be read; may be NULL
 *
 * Tasks have the order of the kernel's list; threads follow their leader.
 *
 * Return: ATW_OK; ATW_END: there are no more tasks; ATW_E_PARTIAL: there are no more
 * tasks, and some could not be read: @err has the first one and their number.
 */
ATW_API int atw_tasks_next(struct atw_tasks *tasks, const struct atw_task **ret,
			   struct atw_err *err);

/**
 * atw_tasks_close - close a cursor over tasks
 * @tasks: the cursor; may be NULL
 */
ATW_API void atw_tasks_close(struct atw_tasks *tasks);

/* ---- VMAs ---- */

enum atw_vma_flag {
	ATW_VMA_READ = 1, ATW_VMA_WRITE = 2, ATW_VMA_EXEC = 4, ATW_VMA_SHARED = 8,
	ATW_VMA_FILE = 16,       /* a mapped file: offset, device and inode are set */
	ATW_VMA_UNREAD = 32,     /* the file or the name could not be read */
};

/**
 * struct atw_vma - a memory area of a process
 * @start: first address
 * @end: address after the last byte
 * @name: name as in /proc/PID/maps, not escaped: a path, or "[heap]"; empty: anonymous
 * @file_offset: offset of @start in the file, in bytes
 * @inode: inode of the file
 * @vm_flags: flags of the kernel's vm_area_struct; 0: not known
 * @flags: set of enum atw_vma_flag
 * @major: major number of the file's device
 * @minor: minor number of the file's device
 */
struct atw_vma {
	atw_va start;
	atw_va end;
	const char *name;
	uint64_t file_offset;
	uint64_t inode;
	uint64_t vm_flags;
	uint32_t flags;
	uint32_t major;
	uint32_t minor;
};

struct atw_vmas;

/**
 * atw_vmas_open - list the VMAs of a process
 * @space: address space of a process
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_USAGE: @space is the kernel's; ATW_E_NONE: the process has
 * ended; ATW_E_UNSUPPORTED and others.
 */
ATW_API int atw_vmas_open(struct atw_space *space, struct atw_vmas **ret,
			  struct atw_err *err);

/**
 * atw_vmas_next - the next VMA in ascending order of addresses
 * @vmas: the cursor
 * @ret: the VMA; valid until the next call on @vmas
 * @err: the error, or the first VMA that could not be read; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more VMAs, and some could not be
 * read.
 */
ATW_API int atw_vmas_next(struct atw_vmas *vmas, const struct atw_vma **ret,
			  struct atw_err *err);

/**
 * atw_vmas_close - close a cursor over VMAs
 * @vmas: the cursor; may be NULL
 */
ATW_API void atw_vmas_close(struct atw_vmas *vmas);

/* ---- physical frames ---- */

enum atw_frame_known {
	ATW_FRAME_FLAGS = 1, ATW_FRAME_MAPCOUNT = 2, ATW_FRAME_REFCOUNT = 4,
	ATW_FRAME_HEAD = 8, ATW_FRAME_NODE = 16, ATW_FRAME_ORDER = 32, ATW_FRAME_CGROUP = 64,
};

/**
 * struct atw_frame - state of a physical page
 * @pa: address of the first byte
 * @flags: page flags, with the bit numbers of /proc/kpageflags; ATW_FRAME_FLAGS
 * @mapcount: number of mappings as in /proc/kpagecount; ATW_FRAME_MAPCOUNT
 * @refcount: reference count of the folio; ATW_FRAME_REFCOUNT
 * @head: address of the folio's first byte; ATW_FRAME_HEAD
 * @cgroup: inode of the memory cgroup that the page is charged to; ATW_FRAME_CGROUP
 * @cache: name of the slab cache; empty: none, or not known
 * @known: set of enum atw_frame_known: the members that are known
 * @node: NUMA node; ATW_FRAME_NODE
 * @order: the folio or free block has 1 << @order pages; ATW_FRAME_ORDER
 */
struct atw_frame {
	atw_pa pa;
	uint64_t flags;
	uint64_t mapcount;
	int64_t refcount;
	atw_pa head;
	uint64_t cgroup;
	const char *cache;
	uint32_t known;
	uint32_t node;
	uint32_t order;
};

/**
 * atw_frame_flag_name - name of a page flag
 * @bit: number of the bit in /proc/kpageflags
 *
 * Return: a static string, such as "LOCKED" for bit 0; NULL if the bit has no name.
 */
ATW_API const char *atw_frame_flag_name(unsigned bit);

/**
 * struct atw_frames_opts - options of atw_frames_open()
 * @size: sizeof(struct atw_frames_opts)
 * @first: first address
 * @last: last address, inclusive; 0: the end of memory
 */
struct atw_frames_opts {
	size_t size;
	atw_pa first;
	atw_pa last;
};

struct atw_frames;

/**
 * atw_frames_open - list physical frames
 * @target: a target with ATW_CAP_FRAMES
 * @opts: options; NULL: list all memory
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED: @err names the kernel type or symbol that is
 * missing.
 */
ATW_API int atw_frames_open(struct atw_target *target, const struct atw_frames_opts *opts,
			    struct atw_frames **ret, struct atw_err *err);

/**
 * atw_frames_next - the next frame in ascending order of addresses
 * @frames: the cursor
 * @ret: the frame; valid until the next call on @frames
 * @err: the error, or the first frame that could not be read; may be NULL
 *
 * Lists the frames of System RAM. Frames without a struct page are left out.
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more frames, and some struct
 * pages could not be read or are inconsistent.
 */
ATW_API int atw_frames_next(struct atw_frames *frames, const struct atw_frame **ret,
			    struct atw_err *err);

/**
 * atw_frames_close - close a cursor over frames
 * @frames: the cursor; may be NULL
 */
ATW_API void atw_frames_close(struct atw_frames *frames);

/* ---- pages of a process ---- */

/**
 * struct atw_pages_opts - options of atw_pages_open()
 * @size: sizeof(struct atw_pages_opts)
 * @first: first address
 * @last: last address, inclusive; 0: the end of the user address range
 * @frames: if not 0, return one row for each present page, with the state of its frame
 * @reserved: must be 0
 */
struct atw_pages_opts {
	size_t size;
	atw_va first;
	atw_va last;
	uint32_t frames;
	uint32_t reserved;
};

enum atw_page_known {
	ATW_PAGE_PERMS = 1, ATW_PAGE_LEVEL = 2, ATW_PAGE_SWAP = 4, ATW_PAGE_USED = 8,
	ATW_PAGE_SIZE = 16,      /* otherwise @page_size is a lower bound */
};

/**
 * struct atw_page_run - adjacent pages of a process that differ in address only
 * @va: virtual address of the first page
 * @bytes: size of the run
 * @page_size: size of one page, which is what one translation maps
 * @pa: physical addresses of the @count pages; NULL: none, or not known
 * @swap_offset: offset of the first page in the swap device, in pages; ATW_PAGE_SWAP
 * @frame: with opts->frames, the frame of a present page, or the first frame of a large
 *	page; NULL: not known
 * @known: set of enum atw_page_known: the members that are known
 * @count: number of pages
 * @state: enum atw_state
 * @perms: set of enum atw_perm; ATW_PAGE_PERMS
 * @level: level of the entries; 0 is the lowest; ATW_PAGE_LEVEL
 * @swap_type: number of the swap device; ATW_PAGE_SWAP
 * @accessed: not 0 if the accessed bit is set; ATW_PAGE_USED
 * @dirty: not 0 if the dirty bit is set; ATW_PAGE_USED
 */
struct atw_page_run {
	atw_va va;
	uint64_t bytes;
	uint64_t page_size;
	const atw_pa *pa;
	uint64_t swap_offset;
	const struct atw_frame *frame;
	uint32_t known;
	uint32_t count;
	uint32_t state;
	uint32_t perms;
	uint32_t level;
	uint32_t swap_type;
	uint32_t accessed;
	uint32_t dirty;
};

struct atw_pages;

/**
 * atw_pages_open - list the pages of a process
 * @space: address space of a process
 * @opts: options; NULL: list all runs of pages
 * @ret: the cursor
 * @err: the error; may be NULL
 *
 * Absent pages are left out. The first and the last run may extend beyond the
 * requested addresses.
 *
 * Return: ATW_OK; ATW_E_USAGE: @space is the kernel's; ATW_E_NONE: the process has
 * ended; ATW_E_UNSUPPORTED and others.
 */
ATW_API int atw_pages_open(struct atw_space *space, const struct atw_pages_opts *opts,
			   struct atw_pages **ret, struct atw_err *err);

/**
 * atw_pages_next - the next run of pages in ascending order of addresses
 * @pages: the cursor
 * @ret: the run; valid until the next call on @pages
 * @err: the error, or the first thing that could not be read; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more pages, and something could
 * not be read; ATW_E_LIMIT: the process has ended, so the other pages are not known.
 */
ATW_API int atw_pages_next(struct atw_pages *pages, const struct atw_page_run **ret,
			   struct atw_err *err);

/**
 * atw_pages_close - close a cursor over pages
 * @pages: the cursor; may be NULL
 */
ATW_API void atw_pages_close(struct atw_pages *pages);

#ifdef __cplusplus
}
#endif
#endif
