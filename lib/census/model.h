/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - decoder of the stream: pages by process, VMA, file and part of the file.
 *
 * model.c is a census_sink that turns records into events for any number of reports at
 * once: tasks that share an address space are emitted once, VMAs have a class and a unit,
 * the parts of one VMA are merged, and runs have the number of mappings, counted by
 * atwalk or by the kernel.
 */
#pragma once

#include "census/census.h"

/* Purpose of a VMA. Guesses are marked (`guess`; "~" in plain output). */
enum census_class {
	CENSUS_TEXT, CENSUS_RODATA, CENSUS_RELRO, CENSUS_DATA, CENSUS_BSS,   /* of a unit */
	CENSUS_HEAP, CENSUS_STACK, CENSUS_ANON,      /* of a process */
	CENSUS_JIT, CENSUS_SHM, CENSUS_FILE,         /* JIT code; shared memory, memfd,
						      * SysV; a file that is no program */
	CENSUS_SPECIAL,                              /* [vdso] and similar */
	CENSUS_DEVICE,
	CENSUS_RESERVED,                             /* PROT_NONE */
	CENSUS_CLASSES,
};

/* Suffix of the name of a deleted file, as in the kernel. */
#define CENSUS_DELETED " (deleted)"

/* A mapped file, or a substitute for one. */
struct census_unit {
	uint32_t number;                 /* from 0, in order of appearance */
	const char *name;                /* as shown, without CENSUS_DELETED */
	uint64_t major, minor, inode;
	struct capture_bytes build;
	bool keyed;                      /* device and inode are known */
	bool deleted, program;           /* deleted; executable of a process */
	bool code;                       /* some VMA maps it executable */
	const struct census_unit *joined;        /* the unit that it is a copy of;
						  * NULL: none */
};
/* Known at the end of the stream: the representative of all copies. NULL is accepted. */
const struct census_unit *census_unit_root(const struct census_unit *u);

struct census_process {
	uint32_t number;                 /* from 0: address spaces, in input order */
	bool paper;                      /* recorded in the LPMA format */
	const struct capture_task *task; /* of the first task with this address space */
	uint32_t task_has;               /* CAPTURE_T_... */
	const char *name;                /* its name, terminated */
	uint64_t pid;
	const struct census_unit *exe;   /* NULL: not known */
	bool incomplete;                 /* at PROCESS_END: not all of its areas are known */
};

struct census_area {
	const struct census_process *process;
	const struct capture_area *v;    /* as recorded; the first of several parts */
	uint32_t v_has;                  /* CAPTURE_V_... */
	const char *name;                /* terminated; "" if NULL */
	const struct census_unit *unit;  /* NULL: anonymous */
	enum census_class class;
	bool guess;
	bool own;                        /* of the program and no library: LPMA's X */
	bool read, write, exec, shared;
	bool grows;                      /* VM_GROWSDOWN */
	bool incomplete;                 /* at AREA_END: some pages are not recorded */
	uint64_t first, last;            /* `last` is final at CENSUS_ON_AREA_END */
	/*
	 * At AREA_END: pages in memory that its P: line counts and no run lists, with
	 * their mappings if known. `user` 0: there are none, or their number is not
	 * known; `incomplete` is set then.
	 */
	struct capture_sums rest;
	/*
	 * Offset in the unit in bytes: the same in all processes that map it. For .bss:
	 * the offset it would have in the file.
	 */
	uint64_t pos;
};

/* Its pages are device memory: certain, and not only by the name of its file. */
static inline bool census_is_device(const struct census_area *a)
{
	return a->class == CENSUS_DEVICE && !a->guess;
}

enum census_known {
	CENSUS_REFS = 1, CENSUS_COUNT = 2, CENSUS_FLAGS = 4, CENSUS_PA = 8,
	CENSUS_ORIGIN = 16,              /* `anon` */
	CENSUS_BACKED = 32,              /* `swapbacked` */
};

/* Adjacent pages of a VMA that agree in all of this. */
struct census_pages {
	const struct census_area *area;
	const struct capture_run *run;   /* as recorded */
	uint32_t known;                  /* CENSUS_...: which of the following are
					  * known */
	uint64_t va, pages;
	uint64_t pa;                     /* of the first; `same`: of all, else
					  * contiguous */
	uint64_t refs;                   /* mappings that were found; without `counted`
					  * the kernel's mapcount */
	uint64_t count;                  /* the kernel's mapcount */
	uint64_t flags;                  /* 1 << KPF_...; not known in the LPMA format,
					  * which has flags of another kernel: those
					  * are in `run` */
	bool like;                       /* all but run, va, pages and pa is as in the event
					  * before, which was CENSUS_ON_PAGES of the area */
	bool counted, same;
	bool present, writable, exec, dirty, accessed;
	bool anon, zero;                 /* no file; a zero page */
	bool swapbacked;                 /* by their flags, or those of their folio's
					  * head */
	bool swapped, device;            /* device: present, but not RAM */
	bool kindless;                   /* whether they are hugetlbfs's is not known */
};

enum census_what {
	CENSUS_ON_HEADER, CENSUS_ON_RAM, CENSUS_ON_SWAP,
	CENSUS_ON_TASK,                  /* every T: line, including threads and kernel
					  * threads */
	CENSUS_ON_PROCESS,               /* an address space begins */
	CENSUS_ON_AREA, CENSUS_ON_PAGES, CENSUS_ON_AREA_END,
	CENSUS_ON_PROCESS_END,
	CENSUS_ON_FRAMES, CENSUS_ON_CACHED, CENSUS_ON_LOST, CENSUS_ON_END,
};
#define CENSUS_ON(what) (1u << CENSUS_ON_##what)

struct census_event {
	enum census_what what;
	uint32_t task_has;                       /* TASK: CAPTURE_T_... */
	bool again;                              /* TASK: its address space occurred
						  * before */
	uint32_t ram_has;                        /* RAM: CAPTURE_R_... */
	uint32_t cached_has;                     /* CACHED: CAPTURE_C_... */
	uint64_t page;                           /* bytes */
	union {
		const struct capture_header *header;
		const struct capture_ram *ram;
		const struct capture_swap *swap;
		const struct capture_task *task;
		const struct census_process *process;    /* PROCESS, PROCESS_END */
		const struct census_area *area;          /* AREA, AREA_END */
		const struct census_pages *pages;
		const struct capture_frames *frames;
		const struct capture_cached *cached;
		const struct capture_lost *lost;
	};
};

/* LPMA flags "S" "X" "r" "w" "x" "B", a bit each, from bit 0 on; in class.c. */
unsigned census_flags(const struct census_area *a);
/* "..r.x." */
const char *census_flags_text(unsigned flags, char buf[7]);

/* ---- reports ---- */

/*
 * Output of a report. Rows have the report's schema; text is written between rows, in
 * plain output only; notes follow all rows.
 */
struct census_out {
	int (*row)(void *arg, const struct atw_row *row, struct atw_err *err);
	void (*text)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	void (*note)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	/* A note of what is omitted unless the user gives `param`. */
	void (*left_out)(void *arg, enum atw_param param, const char *fmt, ...)
		ATW_PRINTF(3, 4);
	/* A note that records the report needs are missing: the result is partial. */
	void (*lacks)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	bool plain;                      /* plain text */
	bool whole;                      /* every row is shown, so sums are meaningful */
	bool damaged;                    /* some lines of a capture could not be read */
	bool paper;                      /* the LPMA analyser's exact layout, written
					  * by text() */
	void *arg;
};

struct census_report_opts {
	bool virtual;                    /* sizes of addresses, not of pages in memory */
	const char *by;                  /* NULL: the report's default */
	bool bare;                       /* include tasks without memory */
	uint64_t self;                   /* pid of this program; 0: not in the stream */
	/* The name of a user of the recorded machine; NULL: no names are known. */
	const char *(*user)(void *arg, uint64_t uid);
	void *user_arg;
};

/* One analysis; all selected ones share one pass. Listed in reports.def. */
struct census_report {
	const char *name, *title, *help;
	uint32_t on;                     /* CENSUS_ON(...) | ...: events to receive */
	/*
	 * Takes several streams, snapshots of one machine in order, and keeps no pointers
	 * into a stream after its CENSUS_ON_END.
	 */
	bool looks;
	bool paper;                      /* has a layout of the LPMA analyser */
	/* Support of the option `virtual`: none, in the LPMA layout, always. */
	enum { NO_VIRTUAL, VIRTUAL_PAPER, VIRTUAL } virtual;
	bool by;                         /* supports `by` */
	bool bare;                       /* supports `bare` */
	bool slabs, threads;             /* needs slab caches, threads of processes */
	/*
	 * By process only sums of equal pages are needed. `kinds`: columns that need the
	 * flags of each page; NULL: none.
	 */
	bool sums;
	const char *const *kinds;
	/*
	 * step() emits all rows of the stream that has ended and resets the state:
	 * --watch repeats the report. Its schema has a column `look` for that.
	 */
	bool again;
	bool text;                       /* plain text is a layout of its own, written
					  * by text() */
	bool tools;                      /* its table is input of other programs:
					  * nothing is shortened */
	const struct atw_schema *schema;
	size_t state;                    /* bytes of its state, which begins zeroed */
	bool opts;                       /* the state begins with the options */
	int (*init)(void *state, const struct census_report_opts *o, struct atw_err *err);
	/* ATW_E_LIMIT for pages: not counted, which the result reports; not a failure. */
	int (*feed)(void *state, const struct census_event *ev, struct atw_err *err);
	/*
	 * NULL: all output is written by finish(). Between two snapshots: emits rows that
	 * are final; finish() emits the rest.
	 */
	int (*step)(void *state, const struct census_out *out, struct atw_err *err);
	int (*finish)(void *state, const struct census_out *out, struct atw_err *err);
	void (*deinit)(void *state);     /* also after a failure of init() */
};
/* *ret is set even on failure, and is to be dropped then as well. */
int census_report_start(const struct census_report *report, const struct census_report_opts *o,
			void **ret, struct atw_err *err);
/* NULL is accepted. */
void census_report_drop(const struct census_report *report, void *state);
/* By number; NULL past the end. By name; NULL: there is none. */
const struct census_report *census_report_kind(size_t i);
const struct census_report *census_report_find(const char *name, size_t len);

struct census_model;
int census_model_open(const struct census_report *const *report, void *const *state, size_t n,
		      struct census_model **ret, struct atw_err *err);
struct census_sink census_model_sink(struct census_model *m);
/* After the last record: emits the events that are still delayed. */
int census_model_end(struct census_model *m, struct atw_err *err);
/* Bytes; as known so far. */
uint64_t census_model_page(const struct census_model *m);
void census_model_close(struct census_model *m);
