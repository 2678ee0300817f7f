/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * provider.h - interface to the owners of pages: tasks; areas of a task; runs of pages of
 * an address space; facts of a frame. A provider reads them from page tables and kernel
 * structures (walk), from /proc of the running kernel (pagemap), or from a capture made
 * by one of these (capture). Its callers do not depend on which one it is.
 */
#pragma once

#include "linux/page.h"
#include "linux/process.h"
#include "format/capture.h"
#include "target/info.h"
#include "host/pace.h"
#include "walk/counts.h"

enum page_state {
	PAGE_ABSENT, PAGE_PRESENT, PAGE_PROTNONE, PAGE_SWAP, PAGE_MIGRATION,
	PAGE_POISON, PAGE_DEVICE, PAGE_MARKER, PAGE_GUARD,
	PAGE_LOST, PAGE_EXCLUDED, PAGE_DAMAGED,  /* no table to ask */
	PAGE_UNSTABLE,           /* it changed whenever it was read */
	PAGE_BAD,
};

/* A process with an address space. */
struct page_task {
	uint32_t pid;
	char name[17];
	uint64_t start;          /* when it began, for the provider; 0: not known */
	uint64_t mm;             /* those with the same share their memory */
	bool shared;             /* its address space is one of those before it */
};

enum run_has {
	RUN_LEVEL = 1, RUN_RIGHTS = 2, RUN_FLAGS = 4, RUN_SWAP = 8,
	RUN_STATE_HIDDEN = 16,   /* neither present nor absent, and the kind is not known;
	                          * of PAGE_ABSENT: nothing is known */
	RUN_MAP = 32, RUN_USED = 64,
	RUN_TABLE = 128,         /* `table`: of those without one */
	RUN_ELSEWHERE = 256,     /* no `pa`, for no frame of it is q->wanted() */
	RUN_SIZE_HIDDEN = 512,   /* `slot` is the smallest page; the size is unknown */
	RUN_SPECIAL = 1024,      /* `special`: of small pages only */
	RUN_WHOLE = 2048,        /* `pa` is that of the first slot alone, and facts() of it
	                          * are those of all */
};

/*
 * Neighbouring slots that say the same but for where they point. The arrays
 * have `count` elements, and are good until the next call.
 */
struct page_run {
	uint64_t va;             /* of the first slot */
	uint64_t size;           /* of all slots, bytes; 0 means 2^64 */
	uint64_t slot;           /* of one: what a translation covers */
	uint32_t count;
	uint32_t have;           /* RUN_...: what is known of the following */
	uint64_t flags;          /* of the entries: the paging mode's bits, or the
	                          * provider's own */
	uint8_t state;           /* enum page_state */
	uint8_t level;
	uint8_t rights;          /* ATW_UR ... */
	uint8_t properties;      /* of leaves in page tables: see run_properties() */
	bool accessed, dirty;    /* RUN_USED: read, written, as the CPU noted */
	uint8_t swap_type;       /* PAGE_SWAP */
	uint64_t swap_offset;    /* likewise, of the first slot: pages */
	uint16_t map;            /* bits 55 to 63 of its word in /proc/PID/pagemap */
	bool guess;              /* the state depends on how the kernel was built */
	bool special;            /* pages of zeroes, or mapped by their frame numbers */
	atw_pa table;            /* of those without a table: where it would lie */
	const uint64_t *pa;      /* where each slot leads; NULL: nowhere, not known to the
	                          * provider, or not wanted by the caller */
	const uint64_t *word;    /* raw entries; NULL: none, or not known */
	const struct atw_err *why;   /* PAGE_DAMAGED */
};

/* Of enum atw_property, of what is present; false: not known. */
struct provider;
bool run_properties(const struct provider *p, const struct page_run *r, unsigned *ret);
/* Those that run_properties() can know. */
unsigned known_properties(const struct provider *p);

enum facts_has {
	FACT_FLAGS = 1, FACT_COUNT = 2, FACT_REFS = 4, FACT_HEAD = 8, FACT_NODE = 16,
	FACT_ORDER = 32, FACT_CGROUP = 64, FACT_MAPPED = 128, FACT_MARKS = 256,
	FACT_STALE = 512,        /* the entry leads elsewhere by now */
	FACT_NO_PAGE = 1024,     /* with ATW_E_MISSING: there is no struct page */
};

struct frame_facts {
	uint32_t have;           /* FACT_...: which members of `page` are known */
	struct lnx_page page;
	uint64_t cgroup;         /* inode of the memory cgroup that pays for it */
	uint64_t mapped;         /* how often all tasks map it, as in p->counts or instead */
	uint64_t marks;          /* flags that are only known from the frame: marks.h */
	/*
	 * Of so many pages behind it in the run, at least, the same is known but for
	 * numbers of frames and nodes, references and what exactly they belong to: those
	 * need not be asked for.
	 */
	uint32_t alike;
};

/* Pages of an address space that are alike, wherever they are mapped. */
struct provider_sum {
	uint64_t pages;
	uint64_t refs;           /* mappings of each in all address spaces, at least 1 */
	/*
	 * Of struct page_origin. Which pages are mapped how often and which are of what
	 * kind may come from two sources: all sums are right, not each combination.
	 */
	uint64_t flags;
	unsigned order;          /* of each mapping: log2 of its pages */
	bool known;              /* flags are */
	bool uncounted;          /* zeroes, or a device's: they take no memory */
};

struct provider_sums {
	const struct provider_sum *v;        /* good until the next call */
	size_t n;
	uint64_t swapped;        /* pages */
	uint64_t mapped;         /* pages that tables lead to, zeroes and devices' too */
	uint64_t areas;          /* p->sizes: bytes of all areas; 0: not known */
};

/* What it answers, if not ATW_OK, ends the telling and is its result. */
typedef int provider_frames_fn(void *arg, const struct capture_frames *run,
			       struct atw_err *err);

struct large_may;
struct provider;

/* The VMAs of a task. The backend's struct begins with it. */
struct vma_cursor {
	struct provider *p;
	size_t task;
	uint64_t from;           /* those that end at it, or before, may be left out */
};

struct page_query {
	size_t task;
	uint64_t first, last;
	/*
	 * A cursor of the task, or NULL. Where a process is read at different moments, its
	 * pages are listed as this cursor found it.
	 */
	const struct vma_cursor *vmas;
	bool areas_only;         /* states and sizes, nothing of single pages */
	bool whole;              /* runs may be RUN_WHOLE: only their sums are needed */
	bool each;               /* facts of every page of a large one will be needed */
	/*
	 * Is any of these frames? Runs of others may come all at once, RUN_ELSEWHERE.
	 * NULL: all are.
	 */
	bool (*wanted)(void *arg, uint64_t pa, uint64_t len);
	void *arg;
};

/* The pages of a task; likewise. */
struct page_cursor {
	struct provider *p;
	struct page_query q;
};

struct provider_ops {
	const char *name;
	/*
	 * Fills p->task. What cannot be read is reported to p->cannot, and the rest is
	 * still there.
	 */
	int (*tasks)(struct provider *p, struct atw_err *err);
	/*
	 * The one process that was asked for when the provider was opened, by its
	 * number: index in p->task.
	 */
	int (*find)(struct provider *p, uint32_t pid, size_t *ret, struct atw_err *err);
	/* Finds what those that follow() will take of it; before the first of them. Or NULL. */
	void (*lead)(struct provider *p);
	/*
	 * Instead of tasks() and count(): takes the tasks and the counts of `lead`, a provider
	 * of the same source that outlives this one, so that another thread lists pages of
	 * these tasks. `lead` may be used by its own thread meanwhile. NULL: not supported.
	 */
	int (*follow)(struct provider *p, struct provider *lead, struct atw_err *err);
	/*
	 * A task may be listed in parts, each by any thread: the end of a part that begins at
	 * `from` and is neither short nor long. It lies in an area, or where one ends, and
	 * those up to this one can be read. ATW_END: the part has no end but the task's.
	 * NULL: tasks are listed as a whole.
	 */
	int (*part)(struct provider *p, size_t task, uint64_t from, uint64_t *ret);
	/*
	 * NULL: nothing to do. Reads a part of what listings of all tasks need, before the first of them: of
	 * `parts`, 16 at most, each once, by any of `lead` and its followers.
	 */
	void (*prepare)(struct provider *p, unsigned part, unsigned parts);
	/*
	 * As atw_areas_next(); ATW_END from vmas_open: the task has ended meanwhile. What
	 * an area's `unread` is about is reported to p->cannot. Cursors are opened again
	 * without having been closed; `p`, `task` and `from`, or the query, are set then, and
	 * all else is as it was left, at first zero.
	 */
	size_t vma_cursor_size, page_cursor_size;
	int (*vmas_open)(struct vma_cursor *c, struct atw_err *err);
	int (*vmas_next)(struct vma_cursor *c, struct atw_area *ret, struct atw_err *err);
	void (*vmas_close)(struct vma_cursor *c);
	/*
	 * Which large pages of `block` bytes are allowed in an area of the cursor.
	 * Settings that cannot be read remain unknown.
	 */
	void (*large)(struct vma_cursor *c, const struct atw_area *a, uint64_t block,
		      struct large_may *ret);
	/*
	 * The beginning of the file that an area of the cursor maps. ATW_E_MISSING: it
	 * cannot be read; ATW_E_FORMAT: it is no program.
	 */
	int (*file)(struct vma_cursor *c, const struct atw_area *a, struct elfunit *ret);
	/*
	 * Runs of q.first..q.last, low addresses first; ATW_END after the last. Where
	 * nothing is, runs are PAGE_ABSENT with no `word`. Runs may begin before q.first
	 * and end behind q.last.
	 */
	int (*pages_open)(struct page_cursor *c, struct atw_err *err);
	int (*pages_next)(struct page_cursor *c, const struct page_run **ret,
			  struct atw_err *err);
	void (*pages_close)(struct page_cursor *c);
	/*
	 * The frame `off` bytes behind where slot i of the cursor's last run leads;
	 * `mapped` bytes of memory are mapped there in one translation, as far
	 * as this was not said yet. ATW_E_MISSING: nothing is known of it but
	 * FACT_NO_PAGE, which is true of `alike` frames behind it as well;
	 * ATW_E_DAMAGED, and this alone, comes with a sentence.
	 */
	int (*facts)(struct page_cursor *c, const struct page_run *r, uint32_t i,
		     uint64_t off, uint64_t mapped, struct frame_facts *ret,
		     struct atw_err *err);
	/*
	 * What the frames are used for that lie in first..last as a whole, which is
	 * RAM: runs, in ascending order, and CAPTURE_UNKNOWN where nothing says it.
	 */
	int (*frames)(struct provider *p, uint64_t first, uint64_t last,
		      provider_frames_fn *tell, void *arg, struct atw_err *err);
	/*
	 * Behind frames() of all RAM, with p->cached: C: lines of a capture. NULL: what
	 * files the page cache holds is not known.
	 */
	int (*cached)(struct provider *p, const struct about_to *to, struct atw_err *err);
	/*
	 * Count in p->counts how often all tasks map each frame. Where that would take
	 * more than p->counts.most, nothing is counted, and p->cannot gets the reason.
	 */
	int (*count)(struct provider *p, struct atw_err *err);
	/*
	 * The same, and all page tables are read for sums() by it: once, while listings
	 * need them twice. `kinds`: of each page its flags are wanted; else of large ones
	 * alone. NULL or ATW_E_UNSUPPORTED: only listings tell.
	 */
	int (*sum_up)(struct provider *p, bool kinds, struct atw_err *err);
	/*
	 * Of one task. ATW_END: it has ended; ATW_E_UNSUPPORTED: there is more to say than
	 * sums can.
	 */
	int (*sums)(struct provider *p, size_t task, struct provider_sums *ret, struct atw_err *err);
	/* ATW_E_UNSUPPORTED: no device has a name here. */
	int (*swap)(struct provider *p, unsigned type, struct atw_swap *ret,
		    struct atw_err *err);
	/*
	 * Of the machine, a sentence each: H: R: S: lines of a capture. How and when
	 * it was asked is for the caller to say.
	 */
	int (*machine)(struct provider *p, const struct about_to *to, struct atw_err *err);
	/*
	 * H: lines of slab caches, which take the kernel a while. If p->here, another
	 * thread may do it while the caller uses the provider. NULL: none are known.
	 */
	int (*slabs)(struct provider *p, const struct about_to *to, struct atw_err *err);
	/*
	 * T: lines of tasks without memory: threads of the kernel, those that end. Of one
	 * process alone, if that is all that was asked for, only its threads.
	 */
	int (*others)(struct provider *p, const struct about_to *to, struct atw_err *err);
	/* `vmas`: those of the task; NULL: they cannot be read. ATW_END: it has ended. */
	int (*about)(struct provider *p, size_t task, const struct vma_cursor *vmas,
		     struct task_about *ret, struct atw_err *err);
	void (*close)(struct provider *p);
};

typedef void provider_cannot_fn(void *arg, const char *what, const struct atw_err *err);

struct provider {
	const struct provider_ops *ops;
	unsigned page_shift;
	uint64_t user_last;      /* end of what processes have, but for odd areas */
	const struct atw_names *flags;   /* of runs; NULL: the paging mode's, and marks.h */
	uint64_t unknown;        /* of these flags it says nothing, not even no */
	const char *way;         /* how it is read: "pagemap", "kcore", ..., "kdump" */
	bool used;               /* what is present has RUN_USED */
	unsigned properties;     /* page tables: those that their entries can express */
	bool area_rights;        /* rights of runs are those of their areas */
	bool running;            /* it changes while it is read */
	bool here;               /* it is the machine that runs atwalk */
	bool our_pids;           /* PIDs are those of this PID namespace */
	bool no_swap;            /* there is none: what is hidden is not on it */
	bool no_kinds;           /* neither areas nor frames say what is hugetlbfs's */
	struct page_task *task;
	size_t ntasks, tasks_cap;
	size_t denied;           /* processes that are none of these, for they may not be read */
	uint64_t ended;          /* of a capture: tasks that ended while it was taken */
	struct counts counts;
	bool counted;            /* all tasks that could be read were */
	bool follows;            /* counts are those of another provider: see op `follow` */
	bool told_counts;        /* not counted: FACT_MAPPED says it, of what it knows */
	/* What this listing lacks and why, with what to do about it; or status 0. */
	struct atw_err lacks;
	uint64_t unmade;         /* frames() met so many without a struct page: zones.h */

	/* Set by the caller. */
	bool sizes;              /* sums() have the size of all areas */
	bool every;              /* all tasks are listed: one that ends has no more */
	/*
	 * Of facts, only FACT_FLAGS, FACT_COUNT and FACT_ORDER are needed. They may be of the
	 * moment when mappings were counted. If they have FACT_MAPPED, even where nothing
	 * else is known, p->counts need not have it, and pages that are `alike` have it.
	 */
	bool brief;
	bool cached;             /* frames() adds up what files the page cache holds, too */
	bool threads;            /* others() lists threads of processes, too */
	provider_cannot_fn *cannot;
	void *arg;
	/* Progress of counting, in address spaces. NULL: not wanted. */
	void (*counting)(void *arg, uint64_t done, uint64_t all);
	void *counting_arg;
};

/*
 * Cursors: any number at once. `*ret` is NULL at first; a cursor that is opened again
 * keeps its buffers and files, and leaves what it listed. After a failure it is closed as
 * well. What a cursor returned is valid until its next call. No cursor writes to its
 * provider; what is found out of the machine as a whole when it is first needed is kept.
 */
int vma_cursor_open(struct provider *p, size_t task, struct vma_cursor **ret,
		    struct atw_err *err);
/* The same, from the first area on that ends behind `from`, or from one before it. */
int vma_cursor_open_at(struct provider *p, size_t task, uint64_t from, struct vma_cursor **ret,
		       struct atw_err *err);
int page_cursor_open(struct provider *p, const struct page_query *q,
		     struct page_cursor **ret, struct atw_err *err);
/* The ops of these names. */
static inline int vma_cursor_next(struct vma_cursor *c, struct atw_area *ret,
				  struct atw_err *err)
{
	return c->p->ops->vmas_next(c, ret, err);
}
static inline int page_cursor_next(struct page_cursor *c, const struct page_run **ret,
				   struct atw_err *err)
{
	return c->p->ops->pages_next(c, ret, err);
}
static inline int page_cursor_facts(struct page_cursor *c, const struct page_run *r,
				    uint32_t i, uint64_t off, uint64_t mapped,
				    struct frame_facts *ret, struct atw_err *err)
{
	return c->p->ops->facts(c, r, i, off, mapped, ret, err);
}
/* Before the provider; NULL is fine. */
void vma_cursor_close(struct vma_cursor *c);
void page_cursor_close(struct page_cursor *c);

/* For providers: one more task, zeroed; NULL: no memory. */
struct page_task *provider_add_task(struct provider *p);
void provider_cannot(struct provider *p, const char *what, const struct atw_err *err);
static inline void provider_counting(const struct provider *p, uint64_t done, uint64_t all)
{
	if (p->counting)
		p->counting(p->counting_arg, done, all);
}
/* For `follow`: takes the tasks and counts of `lead`. */
int provider_take(struct provider *p, const struct provider *lead, struct atw_err *err);
/* For `count`, where there is no memory for it: ATW_OK if it may be left out. */
int provider_leave_counts(struct provider *p, struct atw_err *err);
enum page_state provider_soft_state(enum atw_soft what);
/* Of what is below a table that could not be read. */
enum page_state provider_loss_state(enum mmu_loss loss);
/*
 * Of a running kernel: has the frame been given back, or to others, since the
 * entry that leads to it was read? What is said of it then is not of that page.
 */
bool provider_is_stale(const struct frame_facts *f);
/*
 * Is the mapped page without a mapcount? Device memory is, and so is a frame that was
 * freed since the PTE was read. What is known of the latter is FACT_STALE: for pages of
 * processes at once, for others if the PTE, read `again`, has changed.
 */
bool provider_doubts(const struct page_run *r, const struct frame_facts *f);
void provider_settle(struct frame_facts *f, bool again);
/* Calls `lead`; false: none can follow. */
bool provider_lead(struct provider *p);
/* Calls `follow`, by any thread. ATW_E_UNSUPPORTED: they are of different kinds. */
int provider_follow(struct provider *p, struct provider *lead, struct atw_err *err);
/* NULL is fine. */
void provider_close(struct provider *p);

/* ---- the providers ---- */

struct walk_provider_opts {
	struct atw_kernel *kernel;       /* borrowed */
	uint64_t mm;                     /* mm_struct of the one process; 0: all */
	uint32_t alone;                  /* its number, if no other will be asked for */
	/* What the words mean that the CPU ignores, when it is first asked. */
	const struct atw_soft_abi *(*soft)(const void *arg);
	const void *soft_arg;
	bool frames, cgroups;            /* facts of frames that are wanted */
};
/* Page tables, and the kernel's structures, as `kernel` finds them. */
int walk_provider_open(const struct walk_provider_opts *o, provider_cannot_fn *cannot,
		       void *arg, struct provider **ret, struct atw_err *err);

struct pagemap_provider_opts {
	uint32_t only;                   /* this process alone; 0: all */
	bool flags, counts, cgroups;     /* facts of frames that are wanted */
	struct pace *pace;               /* of what is read, borrowed; NULL: none */
};
/* /proc of the running kernel. */
int pagemap_provider_open(const struct pagemap_provider_opts *o, provider_cannot_fn *cannot,
			  void *arg, struct provider **ret, struct atw_err *err);

struct captured;
/*
 * A capture, borrowed. It cannot be the source of another capture, since the file can be
 * copied: the operations that make records are missing, and so is all about large pages.
 */
int capture_provider_open(const struct captured *c, provider_cannot_fn *cannot, void *arg,
			  struct provider **ret, struct atw_err *err);

/* ---- page_marks.c ---- */

/*
 * Flags of a page in /proc/PID/pagemap, in the form of the flags of a paging
 * mode: soft-dirty and uffd-wp are software bits of a PTE, the others are found in kernel
 * structures.
 */

enum page_mark { MARK_SOFT_DIRTY, MARK_EXCLUSIVE, MARK_FILE, MARK_UFFD_WP, MARKS };
extern const char *const mark_names[MARKS];

/* Their numbers are the last there are; no mode has so many flags of its own. */
enum { MARKS_FIRST = 64 - MARKS };
#define MARK_AT(m) (MARKS_FIRST + (m))
#define MARK(m) ((uint64_t)1 << MARK_AT(m))
#define MARKS_ALL (~(uint64_t)0 << MARKS_FIRST)

/* PTE flags of a paging mode by mark; `unknown`: marks that no PTE of that kernel has. */
struct page_marks {
	uint64_t soft_dirty, uffd_wp, unknown;
	uint64_t special;        /* no flag: bits of raw entries of the lowest tables */
};

/* For that kernel release; NULL: not known, and no mark is read from a PTE. */
void marks_find(struct page_marks *m, const struct atw_paging *pg, const char *release);
/* Of a page of user space that is there, by the flags of its entry. */
uint64_t marks_of_flags(const struct page_marks *m, atw_va va, uint64_t flags);
uint64_t marks_of_soft(const struct atw_soft_word *s);
/* Of a word of /proc/PID/pagemap, by enum page_mark: bit 0 is MARK_SOFT_DIRTY. */
uint64_t marks_of_word(uint64_t word);
/* What struct page says. */
uint64_t marks_of_page(const struct lnx_page *page);
