/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.h - tasks of a target, the VMAs of a process, and its pages. */
#ifndef ATWALK_PROCESS_H
#define ATWALK_PROCESS_H

#include <atwalk/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tasks ---- */

/**
 * struct atw_tasks_opts - which tasks are listed
 * @size: sizeof(struct atw_tasks_opts)
 * @processes: not 0: processes with memory of their own only, no threads and no kernel
 *	threads: one task for each thread group
 * @reserved: zero
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
 * @comm: its name; any bytes
 * @at: virtual address of the task_struct; ATW_TASK_AT
 * @mm: virtual address of the mm_struct; tasks that share memory have the same; 0: none,
 *	or not known
 * @start: when it began, nanoseconds since boot; ATW_TASK_START
 * @known: enum atw_task_known: which of the other members are known
 * @pid: number of the task
 * @tgid: number of the process; @pid if it is not known
 * @ppid: number of the parent; ATW_TASK_PPID
 * @state: a letter as in /proc/PID/stat; ATW_TASK_STATE
 * @kernel: not 0: a kernel thread; ATW_TASK_KERNEL
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
 * @target: with ATW_CAP_TASKS, or for processes only ATW_CAP_PROCESSES
 * @opts: NULL: every task
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED, ATW_E_MISSING: tasks cannot be found.
 */
ATW_API int atw_tasks_open(struct atw_target *target, const struct atw_tasks_opts *opts,
			   struct atw_tasks **ret, struct atw_err *err);

/**
 * atw_tasks_next - the next task
 * @tasks: the cursor
 * @ret: lent until the next call on @tasks
 * @err: what failed, or what is missing; may be NULL
 *
 * In the order of the kernel's list, threads behind their leader.
 *
 * Return: ATW_OK; ATW_END: there are no more; ATW_E_PARTIAL: there are no more, and some
 * could not be read: @err has the first and how many.
 */
ATW_API int atw_tasks_next(struct atw_tasks *tasks, const struct atw_task **ret,
			   struct atw_err *err);

/**
 * atw_tasks_close - end a listing of tasks
 * @tasks: NULL is allowed
 */
ATW_API void atw_tasks_close(struct atw_tasks *tasks);

/* ---- VMAs ---- */

enum atw_vma_flag {
	ATW_VMA_READ = 1, ATW_VMA_WRITE = 2, ATW_VMA_EXEC = 4, ATW_VMA_SHARED = 8,
	ATW_VMA_FILE = 16,       /* it maps a file: offset, device and inode are its */
	ATW_VMA_UNREAD = 32,     /* its file or name could not be read */
};

/**
 * struct atw_vma - a memory area of a process
 * @start: the first address
 * @end: behind the last one
 * @name: as in /proc/PID/maps, not escaped: a path, "[heap]"; empty: anonymous
 * @file_offset: of @start in the file, bytes
 * @inode: of the file
 * @vm_flags: as the kernel has them; 0: not known
 * @flags: enum atw_vma_flag
 * @major: of the device of the file
 * @minor: of the device of the file
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
 * @space: the address space of a process
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_USAGE: @space is the kernel's; ATW_E_NONE: the process has ended;
 * ATW_E_UNSUPPORTED and others.
 */
ATW_API int atw_vmas_open(struct atw_space *space, struct atw_vmas **ret,
			  struct atw_err *err);

/**
 * atw_vmas_next - the next VMA, low addresses first
 * @vmas: the cursor
 * @ret: lent until the next call on @vmas
 * @err: what failed, or what is missing; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more, and some could not be read.
 */
ATW_API int atw_vmas_next(struct atw_vmas *vmas, const struct atw_vma **ret,
			  struct atw_err *err);

/**
 * atw_vmas_close - end a listing of VMAs
 * @vmas: NULL is allowed
 */
ATW_API void atw_vmas_close(struct atw_vmas *vmas);

/* ---- physical frames ---- */

enum atw_frame_known {
	ATW_FRAME_FLAGS = 1, ATW_FRAME_MAPCOUNT = 2, ATW_FRAME_REFCOUNT = 4,
	ATW_FRAME_HEAD = 8, ATW_FRAME_NODE = 16, ATW_FRAME_ORDER = 32, ATW_FRAME_CGROUP = 64,
};

/**
 * struct atw_frame - what the kernel knows of a physical page
 * @pa: its first byte
 * @flags: bits as /proc/kpageflags numbers them; ATW_FRAME_FLAGS
 * @mapcount: mappings, as /proc/kpagecount counts them; ATW_FRAME_MAPCOUNT
 * @refcount: references of its folio; ATW_FRAME_REFCOUNT
 * @head: first byte of its folio; ATW_FRAME_HEAD
 * @cgroup: inode of the memory cgroup that pays for it; ATW_FRAME_CGROUP
 * @cache: name of the slab cache; empty: none, or not known
 * @known: enum atw_frame_known: which members are known
 * @node: NUMA node; ATW_FRAME_NODE
 * @order: of its folio or free block: 1 << @order pages; ATW_FRAME_ORDER
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
 * atw_frame_flag_name - name of a flag of a frame
 * @bit: number of the bit, as in /proc/kpageflags
 *
 * Return: "LOCKED" for 0, and so on; NULL: the bit has no name.
 */
ATW_API const char *atw_frame_flag_name(unsigned bit);

/**
 * struct atw_frames_opts - which frames are listed
 * @size: sizeof(struct atw_frames_opts)
 * @first: the first byte
 * @last: the last byte, inclusive; 0: to the end of memory
 */
struct atw_frames_opts {
	size_t size;
	atw_pa first;
	atw_pa last;
};

struct atw_frames;

/**
 * atw_frames_open - list physical frames
 * @target: with ATW_CAP_FRAMES
 * @opts: NULL: all of memory
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Return: ATW_OK; ATW_E_UNSUPPORTED: names what the kernel does not describe.
 */
ATW_API int atw_frames_open(struct atw_target *target, const struct atw_frames_opts *opts,
			    struct atw_frames **ret, struct atw_err *err);

/**
 * atw_frames_next - the next frame, low addresses first
 * @frames: the cursor
 * @ret: lent until the next call on @frames
 * @err: what failed, or what is missing; may be NULL
 *
 * Lists what the kernel calls System RAM; frames without a struct page are left out.
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more, and some struct pages could
 * not be read, or contradict themselves.
 */
ATW_API int atw_frames_next(struct atw_frames *frames, const struct atw_frame **ret,
			    struct atw_err *err);

/**
 * atw_frames_close - end a listing of frames
 * @frames: NULL is allowed
 */
ATW_API void atw_frames_close(struct atw_frames *frames);

/* ---- pages of a process ---- */

/**
 * struct atw_pages_opts - which pages are listed
 * @size: sizeof(struct atw_pages_opts)
 * @first: the first address
 * @last: the last one, inclusive; 0: to the end of what processes have
 * @frames: not 0: one row for each page that is present, with its frame
 * @reserved: zero
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
	ATW_PAGE_SIZE = 16,      /* else @page_size is the smallest, and may be larger */
};

/**
 * struct atw_page_run - neighbouring pages of a process that differ in address only
 * @va: of the first one
 * @bytes: of all
 * @page_size: of one: what one translation maps
 * @pa: @count physical addresses; NULL: there are none, or they are not known
 * @swap_offset: of the first one, in pages; ATW_PAGE_SWAP
 * @frame: with opts->frames, of a page that is present: its frame, of a large page the
 *	first one; NULL: not known
 * @known: enum atw_page_known: which members are known
 * @count: pages
 * @state: enum atw_state
 * @perms: enum atw_perm; ATW_PAGE_PERMS
 * @level: of the entries, 0 is the lowest; ATW_PAGE_LEVEL
 * @swap_type: number of the swap device; ATW_PAGE_SWAP
 * @accessed: not 0: read, as the CPU noted; ATW_PAGE_USED
 * @dirty: not 0: written; ATW_PAGE_USED
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
 * @space: the address space of a process
 * @opts: NULL: every run of pages
 * @ret: the cursor
 * @err: what failed; may be NULL
 *
 * Absent pages are left out. The first and the last run may reach beyond what was asked
 * for.
 *
 * Return: ATW_OK; ATW_E_USAGE: @space is the kernel's; ATW_E_NONE: the process has ended;
 * ATW_E_UNSUPPORTED and others.
 */
ATW_API int atw_pages_open(struct atw_space *space, const struct atw_pages_opts *opts,
			   struct atw_pages **ret, struct atw_err *err);

/**
 * atw_pages_next - the next pages, low addresses first
 * @pages: the cursor
 * @ret: lent until the next call on @pages
 * @err: what failed, or what is missing; may be NULL
 *
 * Return: ATW_OK; ATW_END; ATW_E_PARTIAL: there are no more, and something could not be
 * read; ATW_E_LIMIT: the process has ended, and what would follow is not known.
 */
ATW_API int atw_pages_next(struct atw_pages *pages, const struct atw_page_run **ret,
			   struct atw_err *err);

/**
 * atw_pages_close - end a listing of pages
 * @pages: NULL is allowed
 */
ATW_API void atw_pages_close(struct atw_pages *pages);

#ifdef __cplusplus
}
#endif
#endif
