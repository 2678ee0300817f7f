/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - decoder of the stream: pages by process, area, file and part of the file.
 *
 * model.c is a census_sink that turns records into events for any number of reports at
 * once: tasks that share an address space are emitted once, areas have a class and a
 * unit, the parts of one area are one, and runs have the number of mappings, whether
 * atwalk or the kernel counted.
 */
#ifndef CENSUS_MODEL_H
#define CENSUS_MODEL_H

#include "census/census.h"

/* What an area is for. A guess is marked as one (`guess`; "~" in plain output). */
enum census_class {
	CENSUS_TEXT, CENSUS_RODATA, CENSUS_RELRO, CENSUS_DATA, CENSUS_BSS,   /* of a unit */
	CENSUS_HEAP, CENSUS_STACK, CENSUS_ANON,      /* of a process */
	CENSUS_JIT, CENSUS_SHM, CENSUS_FILE,         /* code made at run time; shared memory,
	                                              * memfd, SysV; a file that is no program */
	CENSUS_SPECIAL,                              /* [vdso] and its like */
	CENSUS_DEVICE,
	CENSUS_RESERVED,                             /* no rights at all */
	CENSUS_CLASSES,
};

/* Behind the name of a file that is gone, as the kernel has it. */
#define CENSUS_DELETED " (deleted)"

/* A file that is mapped, or what stands for one. */
struct census_unit {
	uint32_t number;                 /* from 0, in the order they were met */
	const char *name;                /* as shown; CENSUS_DELETED taken off */
	uint64_t major, minor, inode;
	struct capture_bytes build;
	bool keyed;                      /* device and inode are known */
	bool deleted, program;           /* gone; some process's executable */
	bool code;                       /* some area maps some of it executable */
	const struct census_unit *joined;        /* a copy of that one; NULL: none */
};
/* Found out late, so at the end: which one speaks for all copies. NULL is fine. */
const struct census_unit *census_unit_root(const struct census_unit *u);

struct census_process {
	uint32_t number;                 /* from 0: address spaces, in input order */
	bool paper;                      /* recorded in the paper's own form */
	const struct capture_task *task; /* of the first task that has it */
	uint32_t task_has;               /* CAPTURE_T_... */
	const char *name;                /* of it, terminated */
	uint64_t pid;
	const struct census_unit *exe;   /* NULL: not known */
	bool incomplete;                 /* at PROCESS_END: not all of its areas are known */
};

struct census_area {
	const struct census_process *process;
	const struct capture_area *v;    /* as recorded; of several parts the first */
	uint32_t v_has;                  /* CAPTURE_V_... */
	const char *name;                /* terminated; "" if NULL */
	const struct census_unit *unit;  /* NULL: of the process itself */
	enum census_class class;
	bool guess;
	bool own;                        /* the program's own, of no library: the paper's X */
	bool read, write, exec, shared;
	bool grows;                      /* downwards, by itself */
	bool incomplete;                 /* at AREA_END: some pages are not recorded */
	uint64_t first, last;            /* `last` is sure at CENSUS_ON_AREA_END */
	/*
	 * At AREA_END: pages in memory that its P: line counts and no run lists; how
	 * often they are mapped, if that is known. `user` 0: there are none, or their
	 * number is not known; `incomplete` is set then.
	 */
	struct capture_sums rest;
	/*
	 * Where in the unit it begins, bytes: the same in all processes that map it.
	 * For .bss: where it would begin, were it in the file.
	 */
	uint64_t pos;
};

enum census_known {
	CENSUS_REFS = 1, CENSUS_COUNT = 2, CENSUS_FLAGS = 4, CENSUS_PA = 8,
	CENSUS_ORIGIN = 16,              /* `anon` */
	CENSUS_BACKED = 32,              /* `swapbacked` */
};

/* Neighbouring pages of an area that have all of this in common. */
struct census_pages {
	const struct census_area *area;
	const struct capture_run *run;   /* as recorded */
	uint32_t known;                  /* CENSUS_...: what is known of the following */
	uint64_t va, pages;
	uint64_t pa;                     /* of the first; `same`: of all, else they follow */
	uint64_t refs;                   /* how often found mapped; without `counted` the
	                                  * kernel's count */
	uint64_t count;                  /* the kernel's */
	uint64_t flags;                  /* 1 << KPF_...; not known of the paper's form,
	                                  * which has flags of another kernel: those are
	                                  * in `run` */
	bool counted, same;
	bool present, writable, exec, dirty, accessed;
	bool anon, zero;                 /* of no file; the page of zeroes */
	bool swapbacked;                 /* as their flags say, or those of their folio's head */
	bool swapped, device;            /* device: present, but no RAM */
};

enum census_what {
	CENSUS_ON_HEADER, CENSUS_ON_RAM, CENSUS_ON_SWAP,
	CENSUS_ON_TASK,                  /* every T: line, threads and kernel threads too */
	CENSUS_ON_PROCESS,               /* an address space begins */
	CENSUS_ON_AREA, CENSUS_ON_PAGES, CENSUS_ON_AREA_END,
	CENSUS_ON_PROCESS_END,
	CENSUS_ON_FRAMES, CENSUS_ON_LOST, CENSUS_ON_END,
};
#define CENSUS_ON(what) (1u << CENSUS_ON_##what)

struct census_event {
	enum census_what what;
	uint32_t task_has;                       /* TASK: CAPTURE_T_... */
	bool again;                              /* TASK: its address space came before */
	uint32_t ram_has;                        /* RAM: CAPTURE_R_... */
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
		const struct capture_lost *lost;
	};
};

/* "S" "X" "r" "w" "x" "B" of the paper's flags, a bit each, from bit 0 on; in class.c. */
unsigned census_flags(const struct census_area *a);
/* "..r.x." */
const char *census_flags_text(unsigned flags, char buf[7]);

/* ---- reports ---- */

/*
 * Where a report's answer goes. A row is of its schema; text stands between rows,
 * in plain output only; a note behind all of them.
 */
struct census_out {
	int (*row)(void *arg, const struct atw_row *row, struct atw_err *err);
	void (*text)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	void (*note)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	/* A note of what is left out unless the user gives `param`. */
	void (*left_out)(void *arg, enum atw_param param, const char *fmt, ...)
		ATW_PRINTF(3, 4);
	/* A note that records the report needs are missing: the answer is partial. */
	void (*lacks)(void *arg, const char *fmt, ...) ATW_PRINTF(2, 3);
	bool plain;                      /* plain text for a person */
	bool whole;                      /* every row is shown: sums belong to it */
	bool paper;                      /* the paper's exact layout, all of it by text() */
	void *arg;
};

struct census_report_opts {
	bool virtual;                    /* sizes of addresses, not of pages that are there */
	const char *by;                  /* NULL: the report's own */
	bool bare;                       /* tasks without memory are rows as well */
	uint64_t self;                   /* pid of the program that looks; 0: not in there */
	/* The name of a user of the recorded machine; NULL: no names are known. */
	const char *(*user)(void *arg, uint64_t uid);
	void *user_arg;
};

/* One analysis; all that are asked for share one pass. Listed in reports.def. */
struct census_report {
	size_t size;
	const char *name, *title, *help;
	uint32_t on;                     /* CENSUS_ON(...) | ...: events it wants */
	/*
	 * It takes several streams, looks at one machine in their order, and keeps
	 * nothing of a stream behind its CENSUS_ON_END.
	 */
	bool looks;
	bool paper;                      /* has a layout of the paper's */
	enum { NO_VIRTUAL, VIRTUAL_PAPER, VIRTUAL } virtual;     /* has use for that option: no,
	                                  * in the paper's layout, always */
	bool by;                         /* and for that one */
	bool bare;                       /* likewise */
	bool slabs, threads;             /* it needs slab caches, threads of processes */
	/*
	 * By process it needs to know of pages no more than how many are alike. Columns
	 * for which it has to know what each page is: a list; NULL: none.
	 */
	bool sums;
	const char *const *kinds;
	/*
	 * step() has all rows of the stream that has ended and forgets it: --watch is the
	 * same report again and again. Its schema has a column `look` for that.
	 */
	bool again;
	bool tools;                      /* other programs read its table: nothing is cut */
	const struct atw_schema *schema;
	int (*start)(const struct census_report_opts *o, void **ret, struct atw_err *err);
	/* ATW_E_LIMIT, of pages: not counted, and the answer will say so; it goes on. */
	int (*feed)(void *state, const struct census_event *ev, struct atw_err *err);
	/*
	 * NULL: all is said at the end. Of looks, between two: rows that will not change
	 * any more; finish() says the rest.
	 */
	int (*step)(void *state, const struct census_out *out, struct atw_err *err);
	int (*finish)(void *state, const struct census_out *out, struct atw_err *err);
	void (*drop)(void *state);       /* always called; NULL is fine */
};
/* By number; NULL past the end. By name; NULL: there is none. */
const struct census_report *census_report_kind(size_t i);
const struct census_report *census_report_find(const char *name, size_t len);

struct census_model;
int census_model_open(const struct census_report *const *report, void *const *state, size_t n,
		      struct census_model **ret, struct atw_err *err);
struct census_sink census_model_sink(struct census_model *m);
/* After the last record: emits the events that are still delayed. */
int census_model_end(struct census_model *m, struct atw_err *err);
/* Bytes; as far as it is known by now. */
uint64_t census_model_page(const struct census_model *m);
void census_model_close(struct census_model *m);

#endif
