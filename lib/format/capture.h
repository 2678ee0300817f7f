/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - captures: owners of physical memory as text, atwalk-capture(5).
 *
 * This is the output of Movall, Nelson and Wetzstein, "Linux Physical Memory Analysis",
 * USENIX 2005, Figure 1 (the LPMA format, `paper` in names), with additions for 64 bits,
 * large pages and swap. Pure.
 *
 * A file that begins with "H: atwalk-capture, 1" is in our format. All others are parsed
 * as LPMA: 32 bits, pages of 4 KiB, names without escapes, long M: lines wrapped.
 */
#pragma once

#include <atwalk/base.h>

enum {
	CAPTURE_VERSION = 1,
	CAPTURE_LINE = 65536,        /* bytes of a line, including its newline */
	CAPTURE_BUILD = 32,          /* bytes of a build id */
	CAPTURE_PA_BITS = 56,        /* maximum of all supported CPUs */
	CAPTURE_TASKS = 4 << 20,     /* PID_MAX_LIMIT */
	CAPTURE_RAMS = 1024,         /* R: ranges that frames are compared with */
	CAPTURE_SWAP_UNKNOWN = 0x100,    /* type of a swap device that is not known */
};

struct capture_pair {
	uint64_t a, b;               /* "a:b" */
};

struct capture_bytes {
	uint8_t b[CAPTURE_BUILD];
	size_t len;
};

/*
 * Numbers as recorded in the line. A name is not terminated; data is NULL if the line has
 * NULL. Names of a file are in the reader and valid until its next line.
 */
struct capture_header {
	struct atw_blob key, value;
};

struct capture_ram {
	uint64_t start, last;
	struct atw_blob name;
	uint64_t node;
	struct atw_blob zone;        /* "DMA32", "Normal" */
};
enum { CAPTURE_R_NODE = 1, CAPTURE_R_ZONE = 2 };

struct capture_swap {
	uint64_t type, pages, used;
	struct atw_blob name;
};

/*
 * U: A file that is or was mapped. `loads`: its program headers, as "offset:address:file
 * size:memory size:flags" in hexadecimal, separated by bars; flags: 1 executable, 2
 * writable, 4 readable, 8: PT_GNU_RELRO, else PT_LOAD.
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
	CAPTURE_LOAD_TEXT = 88,      /* maximum length of one of them */
	CAPTURE_LOAD_MOST = 32,      /* per file: more than linkers emit */
};

struct capture_task {
	struct atw_blob name;
	uint64_t pid, mm, cpu;
	uint64_t minor, major, child_minor, child_major, user, system;
	uint64_t tgid, ppid, uid, start;
	struct atw_blob cgroup, exe;
	/*
	 * start:end, hexadecimal: of code, of data, of the heap (brk(2)). Copied from
	 * mm_struct without checks.
	 */
	struct capture_pair code, data, brk;
	uint64_t stack;              /* its first address */
	uint64_t threads;            /* number of tasks of the process */
	uint64_t kthread;            /* 1: a thread of the kernel */
};
enum {
	CAPTURE_T_TGID = 1, CAPTURE_T_PPID = 2, CAPTURE_T_UID = 4, CAPTURE_T_START = 8,
	CAPTURE_T_CGROUP = 16, CAPTURE_T_EXE = 32, CAPTURE_T_CODE = 64,
	CAPTURE_T_DATA = 128, CAPTURE_T_BRK = 256, CAPTURE_T_STACK = 512,
	CAPTURE_T_THREADS = 1024,
	/* Positional fields: the CPU; four counts of faults; user and system time. */
	CAPTURE_T_CPU = 2048, CAPTURE_T_FAULTS = 4096, CAPTURE_T_TIMES = 8192,
	CAPTURE_T_KTHREAD = 16384,
};

enum capture_task_kind {
	CAPTURE_TASK_UNKNOWN, CAPTURE_TASK_KTHREAD, CAPTURE_TASK_PROCESS, CAPTURE_TASK_THREAD,
};
/* `again`: a task before it has the same address space. */
enum capture_task_kind capture_task_kind(const struct capture_task *t, uint32_t has, bool again);
/* The idle task of our form: no list of tasks has it. */
bool capture_task_idle(uint64_t pid, uint32_t has);

struct capture_area {
	uint64_t start, last, size, resident, prot, flags;
	struct atw_blob name;
	struct capture_pair dev;     /* major, minor */
	uint64_t inode, offset, page;
	struct capture_bytes build;
	uint64_t shared;             /* 1: MAP_SHARED */
	uint64_t more;               /* 1: the next V: line, if it is adjacent,
				      * continues the same area, which was too long for
				      * one line */
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

/*
 * C: A file in the page cache, whether it is mapped or not; its pages on one NUMA node that are
 * charged to one cgroup.
 */
struct capture_cached {
	struct capture_pair dev;     /* major, minor */
	uint64_t inode;
	uint64_t pages, dirty;
	struct atw_blob name;
	uint64_t node;
	struct atw_blob cgroup;
};
enum { CAPTURE_C_NODE = 1, CAPTURE_C_CGROUP = 2 };

struct capture_lost {
	uint64_t pid;                /* 0: of no process */
	struct atw_blob what, why;
	uint64_t start, last;
	uint64_t denied;             /* processes without permission to read them; 0:
				      * unknown number */
};
enum { CAPTURE_L_START = 1, CAPTURE_L_LAST = 2, CAPTURE_L_DENIED = 4 };

struct capture_end {
	uint64_t lines, tasks, areas, lost;   /* numbers before this line */
};

/* One line. `has`: CAPTURE_x_..., the optional fields that are present. */
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
		struct capture_cached c;
		struct capture_lost l;
		struct capture_end e;
	};
};

/*
 * The low 12 bits of an entry are encoded as by the LPMA format's processor, a PowerPC of
 * the 40x family, on any processor: linux-2.4, asm-ppc/pgtable.h.
 */
enum capture_entry {
	CAPTURE_PRESENT = 0x002, CAPTURE_USER = 0x010, CAPTURE_WRITE = 0x040,
	CAPTURE_DIRTY = 0x080, CAPTURE_EXEC = 0x200, CAPTURE_ACCESSED = 0x400,
	/* Ours: that processor has no pages that can be executed and not read. */
	CAPTURE_UNREADABLE = 0x800,
	CAPTURE_ENTRY_BITS = 0xfff,
};

enum capture_state {
	CAPTURE_PLAIN,               /* in memory, swapped or absent, by the other
				      * fields */
	CAPTURE_GUARD, CAPTURE_MARKER, CAPTURE_MIGRATION, CAPTURE_POISON,
	CAPTURE_PRIVATE,             /* device-private memory */
	CAPTURE_DEVICE,              /* present, but not RAM */
	CAPTURE_ZERO,                /* the zero page */
	CAPTURE_STATES,
};

/* Pages at adjacent addresses that agree in all of this. */
struct capture_run {
	uint32_t has;
	bool like;                   /* all but va, pages and the frame of the entry is that
				      * of the run that was passed on before; false: not known */
	uint64_t va, pages;
	uint64_t entry;              /* of the first page; frames of the others follow */
	uint64_t count, flags;       /* from the kernel: mapcount and flags */
	uint64_t refs;               /* number of mappings that were found */
	uint64_t order, folio;       /* of the entry; of the folio that contains the
				      * page */
	struct capture_pair swap;    /* type, offset of the first */
	uint64_t state;              /* enum capture_state */
	uint64_t map;                /* bits 55 to 63 of the pagemap word */
	uint64_t raw;                /* the entry as stored by the processor */
	uint64_t same;               /* 1: all of them map the same frame */
	uint64_t noframe;            /* 1: the bits of the entry are known, its frame
				      * is not */
};
enum {
	CAPTURE_M_COUNT = 1, CAPTURE_M_FLAGS = 2, CAPTURE_M_REFS = 4, CAPTURE_M_ORDER = 8,
	CAPTURE_M_FOLIO = 16, CAPTURE_M_SWAP = 32, CAPTURE_M_STATE = 64,
	CAPTURE_M_MAP = 128, CAPTURE_M_RAW = 256, CAPTURE_M_SAME = 512,
	CAPTURE_M_NOFRAME = 1024,
};

/* Types of frames: words of F: lines, with names in capture_uses[]. */
enum capture_use {
	CAPTURE_FREE, CAPTURE_ANON, CAPTURE_FILE, CAPTURE_SHMEM, CAPTURE_SLAB,
	CAPTURE_PGTABLE, CAPTURE_HUGETLB, CAPTURE_KSM, CAPTURE_ZEROES,
	CAPTURE_KERNEL,              /* in use, for an unknown purpose */
	CAPTURE_RESERVED, CAPTURE_OFFLINE, CAPTURE_HWPOISON,
	CAPTURE_UNKNOWN,             /* RAM without any information */
	CAPTURE_USES,
};

/* Of a guest's frames, what the host has: words of F: lines, with names in capture_hosts[]. */
enum capture_host {
	CAPTURE_HOST_UNKNOWN,        /* no guest, or not known; not written */
	CAPTURE_HOST_BACKED,         /* in memory, and no more is known; or a zero page */
	CAPTURE_HOST_SWAPPED,
	CAPTURE_HOST_ABSENT,         /* nothing: the guest never wrote it, or returned it */
	CAPTURE_HOST_LARGE,          /* in memory, part of a large page */
	CAPTURE_HOST_SMALL,          /* in memory, no large page; or merged by KSM */
	CAPTURE_HOST_UNMERGED,       /* the same, and not merged */
	CAPTURE_HOST_KSM,            /* merged by KSM: others may have the page as well */
	CAPTURE_HOST_ZERO,           /* a zero page, which is no memory of the guest's */
	CAPTURE_HOSTS,
};

/* F: pa*pages=use | ...: adjacent frames, whether processes map them or not. */
struct capture_frames {
	uint64_t pa, pages;
	enum capture_use use;
	enum capture_host host;
	uint32_t has;                /* CAPTURE_F_NODE, CAPTURE_F_CLEAN */
	uint32_t node;               /* of the host */
	bool clean;                  /* of a page of a file: as on disk */
};
enum { CAPTURE_F_HOST = 1, CAPTURE_F_NODE = 2, CAPTURE_F_CLEAN = 4 };

/* Results of capture_parse_ahead() and capture_text_ahead(), for the text being read. */
struct capture_parsed {
	const char *text;
	size_t checked;                  /* of capture_text_ahead() */
	const uint64_t *next, *end;      /* those that were not read yet */
	/* The run before `next` is in `into`, and was without a failure. */
	const uint64_t *behind;
	struct capture_run *into;
	bool sound;
};

/* State of the reader that later lines depend on. */
struct capture_reader {
	struct capture_parsed parsed;    /* of the text that capture_next() reads */
	uint64_t line;               /* number of the last one, from 1 */
	uint64_t page;               /* bytes */
	bool paper, started, ended;
	bool skip;                   /* in the rest of a line that is too long */
	bool wrapped;                /* LPMA: an M: line may continue */
	bool body;                   /* a line other than H: was seen */
	bool in_task, in_area;
	bool frames;                 /* an F: line was seen: no more tasks */
	bool cached;                 /* a C: line was seen: nor frames */
	uint64_t tasks, areas, lost, pid;
	uint64_t area_start, area_last;
	bool any_area, any_sums, any_run;
	uint64_t mapped;             /* bytes of all areas */
	uint64_t run_last;           /* end of the area's last run, of the last F: run */
	bool any_ram;
	uint64_t ram_last;
	unsigned nram, ram_near;     /* used entries of ram[]; the range of the last
				      * frames */
	bool ram_full;               /* some ranges are not in ram[] */
	struct {
		uint64_t start, last;    /* whole pages; adjacent ranges are merged */
	} ram[CAPTURE_RAMS];
	char names[CAPTURE_LINE];
};

/* 0..100, as in atw_source_ops. */
int capture_probe(struct atw_blob head);

void capture_init(struct capture_reader *c);
/*
 * Parse the next line in buf[*pos] and advance *pos behind it. ATW_END: no complete line
 * is left; the caller provides more, after the unparsed rest. `last`: there is no more
 * input. After a failure the line is skipped and reading can continue; the message begins
 * with the line number. A buffer of CAPTURE_LINE holds any line.
 */
int capture_next(struct capture_reader *c, struct atw_blob buf, bool last, size_t *pos,
		 struct capture_record *ret, struct atw_err *err);
/*
 * The next run of an M: record; *text, initially its `m`, is advanced. ATW_END: no more
 * runs. After a failure the run is skipped, and *ret is undefined. It takes least time if
 * *ret is where the run before is.
 */
int capture_run(struct capture_reader *c, struct atw_blob *text, struct capture_run *ret,
		struct atw_err *err);
/* The same for an F: record and its `f`. */
int capture_frames_run(struct capture_reader *c, struct atw_blob *text,
		       struct capture_frames *ret, struct atw_err *err);
/*
 * Parses runs of the M: lines of a text in the form of version 1, as far as they do not
 * depend on other lines, for capture_reader.parsed: another thread can do it. Some may be
 * missing, which capture_run() parses then. Packed, because a struct capture_run of each
 * would take most of the time to pass on. Returns the number of words in ret[].
 */
enum { CAPTURE_PARSED_TEXT = 1 << 20 };  /* a text must be shorter */
size_t capture_parse_ahead(struct atw_blob text, uint64_t *ret, size_t most);
/*
 * The number of bytes at the beginning of a text that are whole lines without control
 * characters or bytes above 0x7e, for capture_reader.parsed.
 */
size_t capture_text_ahead(struct atw_blob text);
/* The next one of `loads`; ATW_END: no more. */
int capture_load(struct atw_blob *loads, struct capture_load *ret, struct atw_err *err);
/*
 * A slab cache: the value of an H: line slab.NAME, "SIZE OBJECTS ACTIVE SLABS PAGES",
 * where ACTIVE may be "-". false: the value is invalid.
 */
struct capture_slab {
	uint64_t size;               /* of an object, bytes */
	uint64_t objects, active;    /* allocated slots, slots in use */
	uint64_t slabs, pages;
	bool has_active;
};
enum { CAPTURE_SLAB_TEXT = 112 };
bool capture_slab(struct atw_blob value, struct capture_slab *ret);
size_t capture_slab_text(const struct capture_slab *s, char buf[CAPTURE_SLAB_TEXT]);
/* A line of /proc/slabinfo, without its newline. */
bool capture_slabinfo(struct atw_blob line, struct atw_blob *name, struct capture_slab *ret);
/* After the last line: is the capture complete? ATW_E_DAMAGED: it is truncated. */
int capture_finish(const struct capture_reader *c, struct atw_err *err);

/* Do they agree in `has` and all that is behind `entry`? */
bool capture_run_tail_same(const struct capture_run *a, const struct capture_run *b);
/* Adds this run to the sums that an LPMA P: line has. */
void capture_add(const struct capture_run *run, bool paper, struct capture_sums *sums);
/* `pages` like those of the run, counted by the mappings that were found, where known. */
void capture_add_found(const struct capture_run *run, uint64_t pages, bool paper,
		       struct capture_sums *sums);

/*
 * Parse one line or one run without comparing it with others. The names are copied to
 * names[], which is as long as the line.
 */
int capture_parse(struct atw_blob line, bool paper, char *names,
		  struct capture_record *ret, struct atw_err *err);
int capture_parse_run(struct atw_blob text, bool paper, struct capture_run *ret,
		      struct atw_err *err);
int capture_parse_frames(struct atw_blob text, struct capture_frames *ret,
			 struct atw_err *err);

/*
 * Format the line of a record, with its newline, or " VA=..., FLAGS |" of a run; a
 * sequence of these is the `m` of a record. In the format of version 1. Returns the
 * length; 0: it does not fit. The rest of buf[] may be overwritten.
 */
size_t capture_write(const struct capture_record *rec, char *buf, size_t len);
size_t capture_write_run(const struct capture_run *run, char *buf, size_t len);
/*
 * A fast variant for many runs: the text behind the entry mostly equals that of the
 * previous run. `t` caches it, and begins with a `len` of 0.
 */
enum { CAPTURE_TAIL = 320, CAPTURE_TAIL_USUAL = 64 };
struct capture_tail {
	size_t len;
	struct capture_run of;
	char text[CAPTURE_TAIL];     /* no run is longer */
};
size_t capture_write_like(const struct capture_run *run, struct capture_tail *t, char *buf,
			  size_t len);
/* The same for an F: line. */
size_t capture_write_frames(const struct capture_frames *run, char *buf, size_t len);
/*
 * The LPMA format: T: V: P: lines and pages of M:, in which all fields are known and have
 * at most 32 bits. *field: the first that does not fit.
 */
enum capture_fit {
	CAPTURE_FITS, CAPTURE_TOO_LARGE, CAPTURE_UNKNOWN_FIELD,
	CAPTURE_ODD_NAME,            /* it would be parsed as another name */
};
enum capture_fit capture_paper_fit(const struct capture_record *rec, const char **field);
enum capture_fit capture_paper_run_fit(const struct capture_run *run, const char **field);
/* As above, for records that fit; "VA=ENTRY, COUNT, FLAGS |" of a run of one page. */
size_t capture_write_paper(const struct capture_record *rec, char *buf, size_t len);
size_t capture_write_paper_run(const struct capture_run *run, char *buf, size_t len);
/* One of `loads`, preceded by a bar unless it is the `first`. */
size_t capture_write_load(const struct capture_load *load, bool first, char *buf, size_t len);
