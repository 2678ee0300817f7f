/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - what a SOURCE names: a dump, the running kernel, a capture, or processes that a
 * plugin has.
 *
 * A target has capabilities and a backend, a const table of functions. A caller asks
 * for a capability and never for the backend: what is missing is ATW_E_UNSUPPORTED (or
 * ATW_E_PERM) with the reason.
 */
#pragma once

#include "linux/linux.h"
#include "linux/process.h"
#include "walk/walk.h"
#include "source/open.h"
#include "target/provider.h"
#include "host/pace.h"
#include "base/buf.h"

enum target_cap {
	TARGET_MEMORY = 1 << 0,    /* physical memory can be read */
	TARGET_TABLES = 1 << 1,    /* page tables: walks, roots, levels, entries */
	TARGET_SYMBOLS = 1 << 2,   /* symbols and types of the kernel */
	TARGET_TASKS = 1 << 3,     /* all tasks: threads and kernel threads as well */
	TARGET_LOOKUP = 1 << 4,    /* one address can be looked up */
	TARGET_PAGES = 1 << 5,     /* VMAs of processes, and the pages in them */
	TARGET_RMAP = 1 << 6,      /* processes that map a frame */
	TARGET_OWNER = 1 << 7,     /* which process maps an address, if none was named */
	TARGET_ELIGIBLE = 1 << 8,  /* whether a VMA may have large pages */
	TARGET_RUNNING = 1 << 9,   /* it changes while it is read */
	TARGET_OUR_PIDS = 1 << 10, /* PIDs are those of this PID namespace */
	TARGET_NO_GAPS = 1 << 11,  /* what it lacks is counted where it is met: defects of
				    * the file alone leave no answer incomplete */
	TARGET_HERE = 1 << 12,     /* it is the machine that runs atwalk: /proc, /sys and
				    * its CPU are about it */
};

struct subject;
struct target;
struct target_task;
struct target_tasks;

/* How page tables are found. Zero: as the source has it. */
struct target_opts {
	const char *paging, *pte_ext; /* a mode, and what the CPU adds to it */
	const char *kernel_file;      /* vmlinux, System.map or BTF */
	const char *remember;         /* folder for what is found; NULL: nothing is kept */
	const struct remembered *known; /* of its kernel: atw_kernel_known(); NULL: nothing */
	bool has_root, has_cpu, has_cbit;
	atw_pa root;
	uint64_t cpu, cbit;
	/* Of searches for the kernel, as long as the target is open; NULL: none. */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* What a listing of pages is for: what is not needed is not read. */
struct target_query {
	uint32_t pid; /* of this process alone; 0: of all */
	uint64_t mm;  /* the mm_struct of that process, where it is known */
	bool alone;   /* no other process will be looked up */
	bool frames;  /* facts of frames: */
	bool flags, counts, cgroups;
	struct pace *pace; /* of what is read of /proc */
};

/* While a file is read at once. */
struct target_reading {
	void (*damaged)(void *arg, const struct atw_err *err);
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *arg;
};

/* One of the processes; *why is set if it could not be asked. */
typedef void target_task_fn(struct target *t, const struct lnx_task *task, void *arg,
			    struct atw_err *why);
/* Of a process that could not be asked. */
typedef void target_unread_fn(void *arg, const struct atw_err *why);

/* For `info`: sentences, each with the name of what it is about. */
struct target_facts {
	void (*fact)(void *arg, const char *name, const char *text);
	void *arg;
	const char *tables; /* what the program does with page tables: "this, that" */
	bool every; /* not only the first of many */
	int result; /* of what could not be asked */
	struct atw_err why;
};
void target_fact(const struct target_facts *to, const char *name, const char *fmt, ...)
	ATW_PRINTF(3, 4);

struct target_backend {
	const char *noun; /* "dump" */
	const char *format; /* "capture"; NULL: the source's */
	uint32_t caps;      /* enum target_cap; `open` may add some */
	/*
	 * ATW_END: it is for another backend, with the reason in t->why where it is for
	 * this one as well. After a failure close() is called too.
	 */
	int (*open)(struct target *t, const struct source_input *in, struct atw_err *err);
	void (*close)(struct target *t); /* NULL: nothing but what every target has */
	int (*attach)(struct target *t, const struct target_opts *o,
		      const struct target_reading *rd, struct atw_err *err);
	/* Without page tables: what it has, "/proc reports", and what has more; else NULL. */
	const char *only, *reports, *instead;
	int (*provider)(struct target *t, const struct target_query *q,
			provider_cannot_fn *cannot, void *arg, struct provider **ret,
			struct atw_err *err);
	/* By the number of a process or a thread. */
	int (*by_pid)(struct target *t, uint64_t pid, unsigned half, struct subject *ret,
		      struct atw_err *err);
	/* NULL: a task has no page tables, but a number and a name. */
	int (*by_task)(struct target *t, const struct lnx_task *task, unsigned half,
		       struct subject *ret, struct atw_err *err);
	/* Every process with memory once, no thread. */
	int (*each)(struct target *t, target_task_fn *fn, target_unread_fn *unread,
		    void *arg, struct atw_err *err);
	/* TARGET_OWNER: does it map anything of first..last? ATW_OK: yes; ATW_END: no. */
	int (*maps)(struct target *t, const struct lnx_task *task, uint64_t first,
		    uint64_t last, struct atw_err *err);
	/* TARGET_TASKS: `open` may be NULL. */
	int (*tasks_open)(struct target_tasks *c, struct atw_err *err);
	int (*tasks_next)(struct target_tasks *c, struct target_task *ret,
			  struct atw_err *err);
	/* Is any of it RAM, as far as that is known? NULL: as the source has it. */
	bool (*is_ram)(const struct target *t, uint64_t first, uint64_t last);
	/* A line about the format; NULL: the source has one. */
	void (*describe_format)(const struct target *t, char *buf, size_t len);
	/*
	 * What is known of it, and what is missing. True: CPUs and memory are in it, else
	 * the source knows them. NULL: nothing that symbols do not lead to.
	 */
	bool (*describe)(struct target *t, struct target_facts *to, uint32_t pid);
};

extern const struct target_backend target_memory, target_procfs, target_capture, target_plugin;
extern const struct source_format target_capture_format;

struct target {
	const struct target_backend *backend;
	const char *name; /* SOURCE as it was typed, borrowed */
	const char *format; /* of a plugin's target; else NULL */
	struct atw_source *source; /* TARGET_MEMORY, else NULL */
	char remark[400];          /* of a guest's RAM, by attach; or empty */
	struct atw_err why;        /* without a source that was wanted: the reason */
	uint32_t caps;             /* enum target_cap */
	struct atw_kernel *kernel; /* TARGET_SYMBOLS */
	struct mmu_space
		space;    /* the kernel's, or that of a CPU or root that was given */
	char label[48];   /* of that CPU's tables where memory has them; or empty */
	bool space_given; /* a CPU or a root was */
	char release[96]; /* empty: unknown */
	char machine[72]; /* likewise, and as far as no kernel is needed for it */
	uint64_t cpus;    /* 0: unknown */
	bool defective;   /* truncated or damaged */
	struct capture_input *file; /* of a capture */
	struct captured *captured;
	struct atw_soft_abi soft;
	bool soft_known;
};

/*
 * Opens the source and chooses the backend. `given`: what source_input_open() takes besides
 * the name; NULL: nothing. `name` has to live as long, and so has `added`: NULL, or sources and
 * targets of plugins.
 */
int target_open(const char *name, const struct atw_source_spec *given,
		const struct added_sources *added, struct target **ret, struct atw_err *err);
/* Finds the kernel, or reads what stands for it. May be left out: info does without. */
int target_attach(struct target *t, const struct target_opts *o,
		  const struct target_reading *rd, struct atw_err *err);
void target_close(struct target *t);

static inline bool target_has(const struct target *t, uint32_t caps)
{
	return (t->caps & caps) == caps;
}
/* Are they there? If not, the sentence says that `what` needs them. */
int target_need(const struct target *t, uint32_t caps, const char *what,
		struct atw_err *err);
/* The kernel's own addresses, of a target that may have those of processes alone. */
int target_need_kernel(const struct target *t, struct atw_err *err);
/* Was memory wanted, and cannot be read? Then the reason, and the remedy as a hint. */
bool target_fell_back(const struct target *t, struct atw_err *err);

/*
 * Pages of the SOURCE's processes. `cannot` hears of what cannot be read.
 */
int target_provider(struct target *t, const struct target_query *q,
		    provider_cannot_fn *cannot, void *arg, struct provider **ret,
		    struct atw_err *err);

/*
 * The same with its tasks listed, and the index of process q->pid among them. Nothing is
 * left open after a failure.
 */
int target_process(struct target *t, const struct target_query *q,
		   provider_cannot_fn *cannot, void *arg, struct provider **ret,
		   size_t *task, struct atw_err *err);

bool target_is_ram(const struct target *t, uint64_t first, uint64_t last);
bool target_describe(struct target *t, struct target_facts *to, uint32_t pid);
/* "elf"; and a line about it. */
const char *target_format(const struct target *t);
void target_describe_format(const struct target *t, char *buf, size_t len);
/* A path that leads to the capture as long as the target is open; NULL: it is none. */
const char *target_capture_path(const struct target *t);

/* Defects of the file, a sentence each; false behind the last. */
bool target_defect(const struct target *t, size_t i, struct atw_blob *ret);

/* What words mean that the CPU ignores; found when it is first asked for. */
const struct atw_soft_abi *target_soft(struct target *t);

/* ---- task_list.c: cursor over the tasks of a target; TARGET_TASKS ---- */

enum target_task_has {
	TASK_TGID = 1,
	TASK_PPID = 2,
	TASK_STATE = 4,
	TASK_AT = 8,
	TASK_KIND = 16, /* `kernel` is known */
};

struct target_task {
	struct lnx_task task; /* mm 0: none, or not known; its pages may be known by tgid */
	uint32_t have;        /* TASK_...: which members are known */
};

/* Several may be open at once. */
struct target_tasks {
	struct target *target;
	struct lnx_tasks *walk; /* of memory */
	struct procfs_tasks *listed; /* of /proc */
	size_t at;              /* of a capture */
};

int target_tasks_open(struct target *t, struct target_tasks *ret, struct atw_err *err);
/*
 * ATW_END after the last. After any other failure but ATW_E_LIMIT the cursor goes on
 * behind what could not be read.
 */
int target_tasks_next(struct target_tasks *c, struct target_task *ret,
		      struct atw_err *err);
void target_tasks_close(struct target_tasks *c);

/* ---- subject.c: selection of the address space of a command ---- */

/* Of page-table isolation's two copies. */
enum subject_half { SUBJECT_BOTH, SUBJECT_USER, SUBJECT_KERNEL };

struct subject {
	struct mmu_space space;
	bool given;       /* chosen explicitly: it is the space of user addresses */
	char label[48];   /* "process 7 (init)"; empty: the kernel */
	uint64_t pid, mm; /* of a process; mm 0: not known, or none */
	char task[17];    /* its name; empty: not known */
};

/* Without a choice: the kernel's, or that of the root or CPU given at opening. */
void subject_default(const struct target *t, struct subject *ret);

/* By number. ATW_E_NONE: there is no such process, or it has no memory. */
int subject_by_pid(struct target *t, uint64_t pid, unsigned half, struct subject *ret,
		   struct atw_err *err);
int subject_by_task(struct target *t, const struct lnx_task *task, unsigned half,
		    struct subject *ret, struct atw_err *err);

/* Processes that fit a description. */
struct subject_matches {
	unsigned n;
	struct lnx_task first;
	struct buf list;       /* "7 (init), 12 (sh)": the first dozen */
	struct atw_err unread; /* of a process that could not be asked: why */
	bool damaged;          /* not only for lack of permission */
};
void subject_matches_deinit(struct subject_matches *m);
int subject_named(struct target *t, const char *name, struct subject_matches *ret,
		  struct atw_err *err);
/* Those that map any of first..last; TARGET_OWNER. */
int subject_owners(struct target *t, uint64_t first, uint64_t last,
		   struct subject_matches *ret, struct atw_err *err);

/* For backends: a process of which no page tables are known. */
void subject_set_process(struct subject *s, uint64_t pid, const char *name);
