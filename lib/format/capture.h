/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - owners of physical memory, as text: atwalk-capture(5). That is the output
 * of Movall, Nelson and Wetzstein, "Linux Physical Memory Analysis", USENIX 2005, Figure
 * 1, with additions for 64 bits, large pages and swap. Pure.
 *
 * A file that begins with "H: atwalk-capture, 1" is ours. All others are read as the
 * paper's: 32 bits, pages of 4 KiB, names without escapes, long M: lines wrapped.
 */
#ifndef FORMAT_CAPTURE_H
#define FORMAT_CAPTURE_H

#include <atwalk/base.h>

enum {
	CAPTURE_VERSION = 1,
	CAPTURE_LINE = 65536,        /* bytes of a line, with its newline */
	CAPTURE_BUILD = 32,          /* bytes of a build id */
	CAPTURE_PA_BITS = 56,        /* no machine has longer physical addresses */
	CAPTURE_TASKS = 4 << 20,     /* PID_MAX_LIMIT */
	CAPTURE_RAMS = 1024,         /* R: ranges that frames are compared with */
};

struct capture_pair {
	uint64_t a, b;               /* "a:b" */
};

struct capture_bytes {
	uint8_t b[CAPTURE_BUILD];
	size_t len;
};

/*
 * Numbers are what the line says. A name is bytes, not ended; data is NULL where
 * the line has NULL. Of a file they lie in the reader, until its next line.
 */
struct capture_header {
	struct atw_blob key, value;
};

struct capture_ram {
	uint64_t start, last;
	struct atw_blob name;
	uint64_t node;
};
enum { CAPTURE_R_NODE = 1 };

struct capture_swap {
	uint64_t type, pages, used;
	struct atw_blob name;
};

/*
 * U: A file of which areas are, or have been. `loads`: its program headers, as
 * "offset:address:file size:memory size:flags" in hexadecimal, a bar between them;
 * flags: 1 executable, 2 writable, 4 readable, 8: it is PT_GNU_RELRO, else PT_LOAD.
 */
struct capture_file {
	struct capture_pair dev;     /* major, minor */
	uint64_t inode;
	struct atw_blob name;
	struct capture_bytes build;
	struct atw_blob loads;
};
enum { CAPTURE_U_BUILD = 1, CAPTURE_U_LOADS = 2 };

struct capture_load {
	uint64_t offset, va, file_size, size, flags;
};
enum {
	CAPTURE_LOAD_EXEC = 1, CAPTURE_LOAD_WRITE = 2, CAPTURE_LOAD_READ = 4,
	CAPTURE_LOAD_RELRO = 8,
	CAPTURE_LOAD_TEXT = 88,      /* bytes are enough for one */
	CAPTURE_LOAD_MOST = 32,      /* of a file: more than any linker makes */
};

struct capture_task {
	struct atw_blob name;
	uint64_t pid, mm, cpu;
	uint64_t minor, major, child_minor, child_major, user, system;
	uint64_t tgid, ppid, uid, start;
	struct atw_blob cgroup, exe;
	/*
	 * start:end, hexadecimal: of code, of data, of the heap that brk(2) moves. As
	 * the kernel has it, not checked.
	 */
	struct capture_pair code, data, brk;
	uint64_t stack;              /* where it began */
	uint64_t threads;            /* how many tasks the process has */
};
enum {
	CAPTURE_T_TGID = 1, CAPTURE_T_PPID = 2, CAPTURE_T_UID = 4, CAPTURE_T_START = 8,
	CAPTURE_T_CGROUP = 16, CAPTURE_T_EXE = 32, CAPTURE_T_CODE = 64,
	CAPTURE_T_DATA = 128, CAPTURE_T_BRK = 256, CAPTURE_T_STACK = 512,
	CAPTURE_T_THREADS = 1024,
	/* By place: the CPU; the four of faults; user and system. */
	CAPTURE_T_CPU = 2048, CAPTURE_T_FAULTS = 4096, CAPTURE_T_TIMES = 8192,
};

struct capture_area {
	uint64_t start, last, size, resident, prot, flags;
	struct atw_blob name;
	struct capture_pair dev;     /* major, minor */
	uint64_t inode, offset, page;
	struct capture_bytes build;
	uint64_t shared;             /* 1: MAP_SHARED */
	uint64_t more;               /* 1: the next V: line, if it begins right behind it, is
	                              * of the same area, which was too long for one */
};
enum {
	CAPTURE_V_PROT = 1, CAPTURE_V_FLAGS = 2, CAPTURE_V_DEV = 4, CAPTURE_V_INODE = 8,
	CAPTURE_V_OFFSET = 16, CAPTURE_V_BUILD = 32, CAPTURE_V_PAGE = 64,
	CAPTURE_V_SHARED = 128, CAPTURE_V_MORE = 256,
};

struct capture_sums {
	uint64_t user, exec, readonly, single, shared;
	uint64_t swap, anon, file, huge;
};
enum {
	CAPTURE_P_SWAP = 1, CAPTURE_P_ANON = 2, CAPTURE_P_FILE = 4, CAPTURE_P_HUGE = 8,
};

struct capture_lost {
	uint64_t pid;                /* 0: of no process */
	struct atw_blob what, why;
	uint64_t start, last;
	uint64_t denied;             /* processes that may not be read; 0: not known how many */
};
enum { CAPTURE_L_START = 1, CAPTURE_L_LAST = 2, CAPTURE_L_DENIED = 4 };

struct capture_end {
	uint64_t lines, tasks, areas, lost;   /* before this line */
};

/* One line. `has`: which of what a line may lack is there, CAPTURE_x_... */
struct capture_record {
	char letter;
	uint32_t has;
	union {
		struct capture_header h;
		struct capture_ram r;
		struct capture_swap s;
		struct capture_file u;
		struct capture_task t;
		struct capture_area v;
		struct capture_sums p;
		struct atw_blob m;   /* for capture_run() */
		struct atw_blob f;   /* for capture_frames_run() */
		struct capture_lost l;
		struct capture_end e;
	};
};

/*
 * The low 12 bits of an entry are those of the paper's processor, a PowerPC of
 * the 40x family, whatever the processor: linux-2.4, asm-ppc/pgtable.h.
 */
enum capture_entry {
	CAPTURE_PRESENT = 0x002, CAPTURE_USER = 0x010, CAPTURE_WRITE = 0x040,
	CAPTURE_DIRTY = 0x080, CAPTURE_EXEC = 0x200, CAPTURE_ACCESSED = 0x400,
	CAPTURE_ENTRY_BITS = 0xfff,
};

enum capture_state {
	CAPTURE_PLAIN,               /* in memory, on swap or nothing: as the rest says */
	CAPTURE_GUARD, CAPTURE_MARKER, CAPTURE_MIGRATION, CAPTURE_POISON,
	CAPTURE_PRIVATE,             /* in the memory of a device */
	CAPTURE_DEVICE,              /* present, but not RAM */
	CAPTURE_ZERO,                /* the page of zeroes */
	CAPTURE_STATES,
};

/* Pages at neighbouring addresses that have all of this in common. */
struct capture_run {
	uint32_t has;
	uint64_t va, pages;
	uint64_t entry;              /* of the first; the others lie behind it */
	uint64_t count, flags;       /* the kernel's */
	uint64_t refs;               /* how often found mapped */
	uint64_t order, folio;       /* of the entry, of what the page is part of */
	struct capture_pair swap;    /* type, offset of the first */
	uint64_t state;              /* enum capture_state */
	uint64_t map;                /* bits 55 to 63 of the pagemap word */
	uint64_t raw;                /* the entry as the processor has it */
	uint64_t same;               /* 1: all of them are one frame */
	uint64_t noframe;            /* 1: the entry's bits are known, its frame is not */
};
enum {
	CAPTURE_M_COUNT = 1, CAPTURE_M_FLAGS = 2, CAPTURE_M_REFS = 4, CAPTURE_M_ORDER = 8,
	CAPTURE_M_FOLIO = 16, CAPTURE_M_SWAP = 32, CAPTURE_M_STATE = 64,
	CAPTURE_M_MAP = 128, CAPTURE_M_RAW = 256, CAPTURE_M_SAME = 512,
	CAPTURE_M_NOFRAME = 1024,
};

/* What a frame of RAM is used for: words of F: lines, capture_uses[] has them. */
enum capture_use {
	CAPTURE_FREE, CAPTURE_ANON, CAPTURE_FILE, CAPTURE_SHMEM, CAPTURE_SLAB,
	CAPTURE_PGTABLE, CAPTURE_HUGETLB, CAPTURE_KSM, CAPTURE_ZEROES,
	CAPTURE_KERNEL,              /* in use, and nothing says for what */
	CAPTURE_RESERVED, CAPTURE_OFFLINE, CAPTURE_HWPOISON,
	CAPTURE_UNKNOWN,             /* there is RAM, and nothing is known of it */
	CAPTURE_USES,
};

/* F: pa*pages=use | ...: neighbouring frames, mapped by any process or by none. */
struct capture_frames {
	uint64_t pa, pages;
	enum capture_use use;
};

/* What must be known of the lines before. */
struct capture_reader {
	uint64_t line;               /* number of the last one, from 1 */
	uint64_t page;               /* bytes */
	bool paper, started, ended;
	bool skip;                   /* in the rest of a line that was too long */
	bool wrapped;                /* the paper's: an M: line may go on */
	bool body;                   /* something else than H: was seen */
	bool in_task, in_area;
	bool frames;                 /* F: was seen: no more tasks */
	uint64_t tasks, areas, lost, pid;
	uint64_t area_start, area_last;
	bool any_area, any_sums, any_run;
	uint64_t mapped;             /* bytes of all areas */
	uint64_t run_last;           /* of the area's last run, of the last F: run */
	bool any_ram;
	uint64_t ram_last;
	unsigned nram, ram_near;     /* those in ram[]; where the last frames were */
	bool ram_full;               /* some are not */
	struct {
		uint64_t start, last;    /* whole pages; neighbours are one */
	} ram[CAPTURE_RAMS];
	char names[CAPTURE_LINE];
};

/* 0..100, as in atw_source_ops. */
int capture_probe(struct atw_blob head);

void capture_init(struct capture_reader *c);
/*
 * The record of the next line in buf[*pos], which then moves behind it. ATW_END:
 * no whole line is left; bring more, with what is left in front. `last` says that
 * there is no more. After a failure the line is passed and reading can go on;
 * its sentence begins with the number of the line. A buffer of CAPTURE_LINE holds
 * any line.
 */
int capture_next(struct capture_reader *c, struct atw_blob buf, bool last, size_t *pos,
		 struct capture_record *ret, struct atw_err *err);
/*
 * The next run of an M: record; *text, which began as its `m`, moves behind it.
 * ATW_END: that was all. After a failure the run is passed.
 */
int capture_run(struct capture_reader *c, struct atw_blob *text, struct capture_run *ret,
		struct atw_err *err);
/* The same of an F: record and its `f`. */
int capture_frames_run(struct capture_reader *c, struct atw_blob *text,
		       struct capture_frames *ret, struct atw_err *err);
/* The next of `loads`; ATW_END: that was all. */
int capture_load(struct atw_blob *loads, struct capture_load *ret, struct atw_err *err);
/*
 * A slab cache: the value of an H: line slab.NAME, "SIZE OBJECTS ACTIVE SLABS PAGES", of
 * which ACTIVE may be "-". false: it is none.
 */
struct capture_slab {
	uint64_t size;               /* of an object, bytes */
	uint64_t objects, active;    /* there is room for, are in use */
	uint64_t slabs, pages;
	bool has_active;
};
enum { CAPTURE_SLAB_TEXT = 112 };
bool capture_slab(struct atw_blob value, struct capture_slab *ret);
size_t capture_slab_text(const struct capture_slab *s, char buf[CAPTURE_SLAB_TEXT]);
/* A line of /proc/slabinfo, without its newline. */
bool capture_slabinfo(struct atw_blob line, struct atw_blob *name, struct capture_slab *ret);
/* After the last line: is it whole? ATW_E_DAMAGED: it says where it is cut off. */
int capture_finish(const struct capture_reader *c, struct atw_err *err);

/* What the paper's P: line would count this run as, added to *sums. */
void capture_add(const struct capture_run *run, bool paper, struct capture_sums *sums);

/*
 * One line, one run, by itself: what the others say is not compared with it.
 * The names go to names[], as long as the line.
 */
int capture_parse(struct atw_blob line, bool paper, char *names,
		  struct capture_record *ret, struct atw_err *err);
int capture_parse_run(struct atw_blob text, bool paper, struct capture_run *ret,
		      struct atw_err *err);
int capture_parse_frames(struct atw_blob text, struct capture_frames *ret,
			 struct atw_err *err);

/*
 * The line of a record, with its newline; " VA=..., FLAGS |" of a run, and these
 * in a row are the `m` of a record. How many bytes, 0: there is no room for it.
 * In the form of version 1. What is behind it in buf[] may change.
 */
size_t capture_write(const struct capture_record *rec, char *buf, size_t len);
size_t capture_write_run(const struct capture_run *run, char *buf, size_t len);
/*
 * The same of very many: what stands behind the entry is what stood there in the run
 * before, as a rule. `t` keeps that, and has a `len` of 0 at first.
 */
enum { CAPTURE_TAIL = 320, CAPTURE_TAIL_USUAL = 64 };
struct capture_tail {
	size_t len;
	struct capture_run of;
	char text[CAPTURE_TAIL];     /* longer than that all fields of a run are not */
};
size_t capture_write_like(const struct capture_run *run, struct capture_tail *t, char *buf,
			  size_t len);
/* Likewise of an F: line. */
size_t capture_write_frames(const struct capture_frames *run, char *buf, size_t len);
/*
 * The paper's own form: T: V: P: lines and pages of M:, all fields of which are known and
 * have 32 bits. *field: the first that does not fit.
 */
enum capture_fit {
	CAPTURE_FITS, CAPTURE_TOO_LARGE, CAPTURE_UNKNOWN_FIELD,
	CAPTURE_ODD_NAME,            /* read back it would be another */
};
enum capture_fit capture_paper_fit(const struct capture_record *rec, const char **field);
enum capture_fit capture_paper_run_fit(const struct capture_run *run, const char **field);
/* As above, of what fits; "VA=ENTRY, COUNT, FLAGS |" of a run, which is one page. */
size_t capture_write_paper(const struct capture_record *rec, char *buf, size_t len);
size_t capture_write_paper_run(const struct capture_run *run, char *buf, size_t len);
/* One of `loads`, with a bar in front if it is not the `first`. */
size_t capture_write_load(const struct capture_load *load, bool first, char *buf, size_t len);

#endif
