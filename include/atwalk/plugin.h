/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin.h - interface between the program atwalk and shared objects that it loads.
 *
 * A plugin is one object of type struct atw_plugin with the name `atwalk_plugin`, and a
 * note with its identity, which the program reads before it loads anything:
 *
 *	ATW_PLUGIN("my", "1.0", ATW_PLUGIN_ANNOTATOR, "what it is for",
 *		   .start = my_start, .annotator = my_annotator);
 *
 * A plugin needs no library of atwalk: it gets what it may call as struct atw_host. One with
 * a format, a source or a target names it in its note:
 *
 *	ATW_PLUGIN_WITH("my", "1.0", ATW_PLUGIN_SINK, "what it is for", "mine", "", "",
 *			.start = my_start, .sink = my_sink);
 *
 * Compatibility:
 *
 * - Every struct begins with its size, which its author sets to its sizeof. Members are
 *   only appended. A member behind the size that the other side states does not exist
 *   there; it is treated as zero, and zero is the default of each optional member.
 * - A plugin with longer structs than the program knows is accepted while all that is
 *   unknown is zero, and else refused.
 * - ATW_PLUGIN_ABI is raised only if the meaning of a released member changes. Plugins of
 *   another number are refused.
 * - Arrays that cross the border are of pointers, of numbers, or of union atw_cell, never
 *   of structs.
 *
 * Ownership and lifetime:
 *
 * - The program and the plugin call each other only from one thread at a time, which may be
 *   another one on the next call. The plugin must not call the program from a thread of its
 *   own.
 * - Everything that the program passes is valid until the call returns, except the struct
 *   atw_host, which is valid until `stop` has returned, and what is documented otherwise.
 * - Everything that the plugin returns belongs to it. Structs, names and columns stay valid
 *   and unchanged until `stop`. Texts in cells stay valid until the next call with the same
 *   state, and until its `end`.
 *
 * Errors: a function returns ATW_OK, or a negative enum atw_status after it described the
 * failure with one call of host->error(). The program prints it, and removes the output
 * that was not completed. A plugin does not print, exit, or change the signal handlers,
 * the working folder or the locale of the process.
 */
#ifndef ATWALK_PLUGIN_H
#define ATWALK_PLUGIN_H

#include <atwalk/column.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATW_PLUGIN_ABI 1

/* What a plugin has: bits. */
enum atw_plugin_kind {
	ATW_PLUGIN_ANNOTATOR = 1,
	ATW_PLUGIN_REPORT = 2,
	ATW_PLUGIN_SINK = 4,         /* formats of output */
	ATW_PLUGIN_SOURCE = 8,       /* sources of physical memory */
	ATW_PLUGIN_TARGET = 16,      /* saved processes, without physical memory */
};

enum atw_plugin_limit {
	ATW_BATCH_ROWS = 4096,       /* the most rows of a batch */
	ATW_PLUGIN_COLUMNS = 32,     /* the most inputs, and the most columns, of one plugin */
	ATW_LISTING_COLUMNS = 64,    /* the most columns of the rows that a sink gets */
	ATW_BATCH_RUNS = 4096,       /* the most runs of pages of a batch */
};

enum atw_input_flag {
	ATW_INPUT_OPTIONAL = 1,      /* rows without this column are accepted */
};

/* Facts about the rows of a listing. */
enum atw_listing_flag {
	ATW_LISTING_RUNNING = 1,     /* of the running kernel: /sys describes its memory */
	ATW_LISTING_PIDS = 2,        /* and PIDs are those of /proc */
	/*
	 * Processes that may not be read do not make a report incomplete: it mentions them by
	 * `note` and `warn` of struct atw_host (--allow-unreadable).
	 */
	ATW_LISTING_UNREADABLE = 4,
};

/* Does the struct that `p` points to have this member? */
#define ATW_HAS_MEMBER(p, member) \
	((p)->size >= offsetof(__typeof__(*(p)), member) + sizeof((p)->member))

enum atw_sink_flag {
	ATW_SINK_BINARY = 1,         /* not for a terminal, and a file has one table */
};

enum atw_source_flag {
	ATW_SOURCE_FILE = 1,         /* what follows the colon is a file */
};

/* Memory of an extent. */
enum atw_plugin_memory {
	ATW_MEMORY_ABSENT = 0,       /* there is none */
	ATW_MEMORY_DATA = 1,         /* the source has these bytes */
	ATW_MEMORY_ZERO = 2,         /* they are known to be zero; they are not read */
	ATW_MEMORY_EXCLUDED = 3,     /* there was memory, and the source has left it out */
};

enum atw_task_flag {
	ATW_TASK_PARENT = 1,         /* `ppid` is known */
};

enum atw_area_flag {
	ATW_AREA_READ = 1,
	ATW_AREA_WRITE = 2,
	ATW_AREA_EXEC = 4,
	ATW_AREA_RIGHTS = 8,         /* the three above are known */
	ATW_AREA_SHARED = 16,        /* MAP_SHARED */
	ATW_AREA_PAGES = 32,         /* its pages are known: what no run has is not mapped */
};

/* State of the pages of a run. */
enum atw_plugin_page {
	ATW_PAGE_PRESENT = 1,        /* they are in memory */
	ATW_PAGE_SWAPPED = 2,        /* on swap */
	ATW_PAGE_UNKNOWN = 3,        /* they could not be read */
};

/* A physical address that is not known. */
#define ATW_FRAME_UNKNOWN UINT64_MAX

struct atw_host;
/* Where rows and remarks of a report go. */
struct atw_plugin_output;
/* Where the bytes of a sink go. */
struct atw_plugin_stream;

typedef int atw_host_error_fn(struct atw_err *err, int status, const char *fmt, ...)
	ATW_PRINTF(3, 4);
typedef void atw_host_warn_fn(const struct atw_host *host, const char *fmt, ...)
	ATW_PRINTF(2, 3);
typedef int atw_host_row_fn(struct atw_plugin_output *out, const union atw_cell *cell,
			    uint64_t known, struct atw_err *err);
typedef void atw_host_note_fn(struct atw_plugin_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
typedef int atw_host_write_fn(struct atw_plugin_stream *to, const void *data, size_t len,
			      struct atw_err *err);

/**
 * struct atw_host - what a plugin may call
 * @size: size of the struct in the program that passes it; see ATW_HAS_MEMBER()
 * @abi: ATW_PLUGIN_ABI of the program
 * @flags: 0
 * @version: version of the program, such as "0.2.0"
 * @error: describe a failure, in one sentence without the name of the plugin; returns
 *	@status, so that the caller can return it
 * @warn: print a warning, unless the user asked for quiet
 * @row: emit a row of a report: a cell for each column, and @known with bit i set if the
 *	value of column i is known; texts are copied
 * @note: text for people below the table of a report, a line a call
 * @incomplete: the same, for what is missing in the report: it is printed on standard error
 *	as well, and the exit status of the program is then 4
 * @write: write bytes of a sink; they are copied. After a failure, which the program reports
 *	itself, everything else is discarded; the sink may return the result or go on
 */
struct atw_host {
	size_t size;
	uint32_t abi;
	uint32_t flags;
	const char *version;
	atw_host_error_fn *error;
	atw_host_warn_fn *warn;
	atw_host_row_fn *row;
	atw_host_note_fn *note;
	atw_host_note_fn *incomplete;
	atw_host_write_fn *write;
};

/**
 * struct atw_plugin_column - a column that a plugin reads or adds
 * @size: sizeof(struct atw_plugin_column)
 * @name: name of the column in --columns, and key in JSON: letters a-z, digits and _
 * @help: description, one line; NULL for a column that is read
 * @type: enum atw_column_type; 0 for a column that is read: any
 * @flags: enum atw_input_flag for a column that is read; else 0
 * @names: names of the values for ENUM and FLAGS, @nnames of them; else NULL
 * @nnames: number of elements in @names; at most 64 for FLAGS
 * @hidden: if not 0, the column is shown only if it is asked for by name
 * @unit: of the values in a listing: "bytes", "pages", "ms", "us"; with "/s" behind it, or
 *	"/s" alone, if they are rates; NULL: numbers, words or texts. Ignored in a column that the plugin describes
 * @letters: of FLAGS in a listing that tables show as letters, such as "rwxu": that of bit 0
 *	is the first, and a bit that is clear is shown as '-'; else NULL. Ignored likewise
 */
struct atw_plugin_column {
	size_t size;
	const char *name;
	const char *help;
	uint32_t type;
	uint32_t flags;
	const char *const *names;
	uint32_t nnames;
	uint32_t hidden;
	const char *unit;
	const char *letters;
};

/**
 * struct atw_listing - the rows that a plugin is about to get
 * @size: size of the struct in the program
 * @name: name of their kind, such as "map" or "pages"
 * @flags: enum atw_listing_flag
 * @ninputs: number of columns that the plugin reads; 0 in a report that reads no rows. For a
 *	sink: the number of all columns
 * @inputs: for each of them, in the order of the plugin, the column of these rows, with its
 *	type and names; NULL if they do not have it. For a sink: all columns, in the order in
 *	which they are shown. Valid until `end`
 */
struct atw_listing {
	size_t size;
	const char *name;
	uint32_t flags;
	uint32_t ninputs;
	const struct atw_plugin_column *const *inputs;
};

/**
 * struct atw_batch - rows, column by column
 * @size: size of the struct in the program
 * @nrows: number of rows, 1 to ATW_BATCH_ROWS
 * @reserved: 0
 * @in: @nrows values of each column that the plugin reads, in its order; NULL for a column
 *	that these rows do not have
 * @in_known: for each of these columns, a set of bits: bit r % 64 of element r / 64 is set if
 *	the value of row r is known; other values are not initialized
 * @out: room for @nrows values of each column that the plugin adds; NULL in a report and in
 *	a sink
 * @out_known: room for the bits of these columns, all clear at first
 *
 * Sizes are in bytes, addresses are those of the listing, and numbers of pages are of its
 * page size. A text ends with a NUL and is of any bytes.
 */
struct atw_batch {
	size_t size;
	uint32_t nrows;
	uint32_t reserved;
	const union atw_cell *const *in;
	const uint64_t *const *in_known;
	union atw_cell *const *out;
	uint64_t *const *out_known;
};

typedef int atw_plugin_begin_fn(void *instance, const struct atw_listing *listing, void **ret,
				struct atw_err *err);
typedef int atw_plugin_rows_fn(void *state, const struct atw_batch *batch, struct atw_err *err);
typedef int atw_plugin_finish_fn(void *state, struct atw_plugin_output *out,
				 struct atw_err *err);
typedef void atw_plugin_end_fn(void *state);

/**
 * struct atw_annotator - adds columns to the rows of listings and reports
 * @size: sizeof(struct atw_annotator)
 * @inputs: the columns that it reads, and NULL behind the last
 * @columns: the columns that it adds, at least one, and NULL behind the last
 * @begin: the beginning of a listing; optional: the state is then the instance. Several
 *	listings may be in progress
 * @rows: computes the added columns of a batch
 * @end: the end of a listing, after a failure as well; optional. It is called once for each
 *	@begin that succeeded
 */
struct atw_annotator {
	size_t size;
	const struct atw_plugin_column *const *inputs;
	const struct atw_plugin_column *const *columns;
	atw_plugin_begin_fn *begin;
	atw_plugin_rows_fn *rows;
	atw_plugin_end_fn *end;
};

/**
 * struct atw_plugin_report - a report, made of the rows of a command of atwalk
 * @size: sizeof(struct atw_plugin_report)
 * @name: its name: atwalk report NAME
 * @help: description, one line
 * @from: words of the command that has the rows, with NULL behind the last; the first is
 *	pages, map, ps, report, info or vms. SOURCE and the options about it are appended.
 *	NULL: no rows are read
 * @inputs: the columns that it reads, and NULL behind the last
 * @columns: the columns of the report, at least one, and NULL behind the last
 * @begin: the beginning, as in struct atw_annotator; optional. The name of the listing is
 *	that of the report
 * @rows: reads a batch of rows; optional if @from is NULL
 * @finish: emits the report by host->row()
 * @end: releases the state; optional
 */
struct atw_plugin_report {
	size_t size;
	const char *name;
	const char *help;
	const char *const *from;
	const struct atw_plugin_column *const *inputs;
	const struct atw_plugin_column *const *columns;
	atw_plugin_begin_fn *begin;
	atw_plugin_rows_fn *rows;
	atw_plugin_finish_fn *finish;
	atw_plugin_end_fn *end;
};

typedef int atw_plugin_sink_begin_fn(void *instance, const struct atw_listing *listing,
				     struct atw_plugin_stream *to, void **ret,
				     struct atw_err *err);
typedef int atw_plugin_sink_finish_fn(void *state, struct atw_err *err);

/**
 * struct atw_plugin_sink - a format of output: --format NAME
 * @size: sizeof(struct atw_plugin_sink)
 * @name: its name, as in the note: letters a-z, digits, _ and -. The program's own formats
 *	cannot be replaced
 * @help: description, one line
 * @flags: enum atw_sink_flag
 * @reserved: 0
 * @begin: the beginning of a table: all of its columns, and where its bytes go, which is
 *	valid until `end`. Several tables may be in progress
 * @rows: a batch of rows, with the columns of the listing. Any value may be unknown. Names of
 *	ENUM and FLAGS may be NULL, and values may have no name: they are shown as numbers
 * @finish: behind the last row; optional
 * @end: releases the state, after a failure as well; optional. It is called once for each
 *	@begin that succeeded
 *
 * A sink keeps no rows: it writes those of a batch by host->write() before it returns. What
 * is written goes to standard output or to a file, which gets its name when all of it is
 * complete.
 */
struct atw_plugin_sink {
	size_t size;
	const char *name;
	const char *help;
	uint32_t flags;
	uint32_t reserved;
	atw_plugin_sink_begin_fn *begin;
	atw_plugin_rows_fn *rows;
	atw_plugin_sink_finish_fn *finish;
	atw_plugin_end_fn *end;
};

/**
 * struct atw_plugin_input - what a source is opened from
 * @size: size of the struct in the program
 * @text: what the user typed behind the name and the colon; with ATW_SOURCE_FILE a path, which
 *	may be that of a copy
 * @data: with ATW_SOURCE_FILE the bytes of the file, unpacked if it was packed, else NULL.
 *	Valid until `close`
 * @len: number of bytes at @data
 */
struct atw_plugin_input {
	size_t size;
	const char *text;
	const void *data;
	uint64_t len;
};

/**
 * struct atw_plugin_extent - a range of physical memory
 * @size: size of the struct in the program
 * @start: physical address of its first byte
 * @len: number of bytes, not 0
 * @kind: enum atw_plugin_memory
 * @reserved: 0
 */
struct atw_plugin_extent {
	size_t size;
	uint64_t start;
	uint64_t len;
	uint32_t kind;
	uint32_t reserved;
};

typedef int atw_plugin_open_fn(void *instance, const struct atw_plugin_input *input, void **ret,
			       struct atw_err *err);
typedef int atw_plugin_extent_fn(void *state, uint64_t i, struct atw_plugin_extent *ret,
				 struct atw_err *err);
typedef int64_t atw_plugin_read_fn(void *state, uint64_t pa, void *buf, uint64_t len,
				   struct atw_err *err);
typedef int atw_plugin_fact_fn(void *state, const char *key, const void **ret, uint64_t *ret_len);
typedef const char *atw_plugin_describe_fn(void *state);
typedef void atw_plugin_close_fn(void *state);

/**
 * struct atw_plugin_source - a source of physical memory: SOURCE is NAME:TEXT
 * @size: sizeof(struct atw_plugin_source)
 * @name: its name, as in the note: letters a-z, digits, _ and -. The program's own sources
 *	cannot be replaced
 * @help: description, one line
 * @flags: enum atw_source_flag
 * @reserved: 0
 * @open: opens it, for reading alone
 * @extent: extent number i, from 0, in ascending order and without overlaps; ATW_END behind
 *	the last. Memory between two of them is absent. All are read once, after @open
 * @read: reads up to @len bytes of one extent with data, and returns how many, at least 1; the
 *	program calls again for the rest. Less than 0: an enum atw_status; the program reports
 *	that these bytes cannot be read
 * @fact: a fact by its key, valid until @close; ATW_E_MISSING: it has none. Optional
 * @describe: what it is, one line for `atwalk info`; optional
 * @close: releases the state; optional. It is called once for each @open that succeeded
 *
 * Facts, all of them optional. Numbers are little-endian, texts need no end:
 *
 *	vmcoreinfo         the text of the note VMCOREINFO
 *	machine, release   "x86_64", and that of the kernel
 *	cpus               8 bytes: the number of CPUs
 *	cpu0.cr3           8 bytes; cr0, cr2 and cr4 likewise, and of other CPUs
 *	cpu0.prstatus      the bytes of the note PRSTATUS of CPU 0
 *	stored             8 bytes: number of bytes in the file, unless ATW_SOURCE_FILE is set
 *	truncated          a sentence: memory is missing because the source ends early
 *	damaged            a sentence: something else is wrong with the source
 *	root, paging       8 bytes: the kernel's page table, and its mode, as in `info`
 *	ignore             8 bytes: bits of entries that are no address
 *	init_task          8 bytes: virtual address of the first task
 *	btf                types of the kernel
 */
struct atw_plugin_source {
	size_t size;
	const char *name;
	const char *help;
	uint32_t flags;
	uint32_t reserved;
	atw_plugin_open_fn *open;
	atw_plugin_extent_fn *extent;
	atw_plugin_read_fn *read;
	atw_plugin_fact_fn *fact;
	atw_plugin_describe_fn *describe;
	atw_plugin_close_fn *close;
};

/**
 * struct atw_plugin_task - a task of a target
 * @size: size of the struct in the program
 * @pid: its number, not 0
 * @tgid: number of its process; 0: it is @pid
 * @ppid: number of the parent of its process, with ATW_TASK_PARENT
 * @flags: enum atw_task_flag
 * @space: number of its address space, which has no other meaning: tasks that share one have the
 *	same; 0: it has none, as a process that has ended
 * @name: its name; NULL: not known, which is shown as an empty text
 * @exe: name of the program's file; NULL: not known
 *
 * Texts stay valid until the next call with the same state.
 */
struct atw_plugin_task {
	size_t size;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t flags;
	uint64_t space;
	const char *name;
	const char *exe;
};

/**
 * struct atw_plugin_area - a memory area (VMA) of a task
 * @size: size of the struct in the program
 * @start: address of its first byte
 * @end: address behind its last byte; both are multiples of the page size
 * @flags: enum atw_area_flag
 * @reserved: 0
 * @offset: of @start in the file, in bytes, if @file is set
 * @inode: inode number of the file; 0: not known, or no file
 * @file: 1: it maps the file @name
 * @reserved2: 0
 * @name: name of the file, or a word such as "[heap]"; NULL: none. It stays valid until the next
 *	call with the same state
 */
struct atw_plugin_area {
	size_t size;
	uint64_t start;
	uint64_t end;
	uint32_t flags;
	uint32_t reserved;
	uint64_t offset;
	uint64_t inode;
	uint32_t file;
	uint32_t reserved2;
	const char *name;
};

/**
 * struct atw_plugin_pages - runs of pages of an area
 * @size: size of the struct in the program
 * @n: number of runs, 1 to ATW_BATCH_RUNS
 * @reserved: 0
 * @address: virtual address of the first page of each, in ascending order
 * @count: number of pages of each
 * @state: enum atw_plugin_page of each
 * @frame: of present pages, the physical address of the first, which the others follow, or
 *	ATW_FRAME_UNKNOWN; NULL: no address is known
 *
 * Runs lie in the area and do not overlap. The arrays belong to the plugin and stay valid until
 * the next call with the same state.
 */
struct atw_plugin_pages {
	size_t size;
	uint32_t n;
	uint32_t reserved;
	const uint64_t *address;
	const uint64_t *count;
	const uint64_t *state;
	const uint64_t *frame;
};

/**
 * struct atw_plugin_lost - what is missing in a target
 * @size: size of the struct in the program
 * @pid: number of the process; 0: it is about no process
 * @reserved: 0
 * @what: what could not be read, in a word or a few: "pages", "areas"
 * @why: the reason
 */
struct atw_plugin_lost {
	size_t size;
	uint32_t pid;
	uint32_t reserved;
	const char *what;
	const char *why;
};

typedef int atw_plugin_task_fn(void *state, struct atw_plugin_task *ret, struct atw_err *err);
typedef int atw_plugin_area_fn(void *state, struct atw_plugin_area *ret, struct atw_err *err);
typedef int atw_plugin_pages_fn(void *state, struct atw_plugin_pages *ret, struct atw_err *err);
typedef int atw_plugin_lost_fn(void *state, struct atw_plugin_lost *ret, struct atw_err *err);

/**
 * struct atw_plugin_target - processes and their pages, where no physical memory can be read:
 *	SOURCE is NAME:TEXT
 * @size: sizeof(struct atw_plugin_target)
 * @name: its name, as among the sources of the note. The program's own cannot be replaced, and a
 *	source and a target cannot have the same
 * @help: description, one line
 * @flags: enum atw_source_flag
 * @reserved: 0
 * @open: opens it, as a source
 * @task: the next task, in the order of `atwalk ps`; ATW_END behind the last
 * @area: the next area of this task, in ascending order, or ATW_END. It is called if the task has
 *	an address space that no task before it has
 * @pages: the next runs of this area, or ATW_END. It is called if the area has ATW_AREA_PAGES
 * @lost: behind the last task, the next thing that is missing, or ATW_END; optional. It is shown
 *	on standard error, and the exit status is then 4
 * @fact: a fact by its key, as of a source: `page`, 8 bytes, the size of a page, else 4096;
 *	`machine`, `release`; optional
 * @describe: what it is, one line for `atwalk info`; optional
 * @close: releases the state; optional. It is called once for each @open that succeeded, after
 *	everything was read
 *
 * Structs are zeroed before each call, but for their size, and zero means that nothing is known.
 * The program reads all of it once, after @open, and keeps it as a capture; all commands that
 * read captures can use it. A failure of any function is one of all: nothing is shown then.
 */
struct atw_plugin_target {
	size_t size;
	const char *name;
	const char *help;
	uint32_t flags;
	uint32_t reserved;
	atw_plugin_open_fn *open;
	atw_plugin_task_fn *task;
	atw_plugin_area_fn *area;
	atw_plugin_pages_fn *pages;
	atw_plugin_lost_fn *lost;
	atw_plugin_fact_fn *fact;
	atw_plugin_describe_fn *describe;
	atw_plugin_close_fn *close;
};

typedef int atw_plugin_start_fn(const struct atw_host *host, const char *options, void **ret,
				struct atw_err *err);
typedef void atw_plugin_stop_fn(void *instance);
typedef const struct atw_annotator *atw_plugin_annotator_fn(void *instance);
typedef const struct atw_plugin_report *atw_plugin_report_fn(void *instance, uint32_t i);
typedef const struct atw_plugin_sink *atw_plugin_sink_fn(void *instance, uint32_t i);
typedef const struct atw_plugin_source *atw_plugin_source_fn(void *instance, uint32_t i);
typedef const struct atw_plugin_target *atw_plugin_target_fn(void *instance, uint32_t i);

/**
 * struct atw_plugin - a plugin
 * @size: sizeof(struct atw_plugin); ATW_PLUGIN() sets it
 * @abi: ATW_PLUGIN_ABI; ATW_PLUGIN() sets it
 * @flags: 0
 * @start: called once, before anything else: @options is what the user wrote behind the
 *	name of the plugin and a colon, or NULL
 * @stop: called once at the end, if @start succeeded
 * @annotator: the annotator; NULL, or the function returns NULL: there is none
 * @report: report number i, from 0; NULL, or the function returns NULL: there are no more
 *
 * @sink: format number i, likewise
 * @source: source number i, likewise
 * @target: target number i, likewise
 *
 * @annotator, @report, @sink, @source and @target may depend on the options. They must return the same
 * each time.
 */
struct atw_plugin {
	size_t size;
	uint32_t abi;
	uint32_t flags;
	atw_plugin_start_fn *start;
	atw_plugin_stop_fn *stop;
	atw_plugin_annotator_fn *annotator;
	atw_plugin_report_fn *report;
	atw_plugin_sink_fn *sink;
	atw_plugin_source_fn *source;
	atw_plugin_target_fn *target;
};

/**
 * struct atw_plugin_note - identity of a plugin, in an ELF note of its file
 * @abi: ATW_PLUGIN_ABI
 * @size: sizeof(struct atw_plugin)
 * @kinds: bits of enum atw_plugin_kind
 * @reserved: 0
 * @name: name of the plugin: letters a-z, digits, _ and -, with a NUL behind it
 * @version: its version, with a NUL behind it
 * @help: what it is for, one line, with a NUL behind it
 * @formats: names of all formats that its sinks may have, separated by commas, with a NUL
 *	behind them
 * @sources: names of all sources and targets that it may have, likewise
 * @magic: how files of these sources are recognized, separated by blanks: NAME@OFFSET=BYTES.
 *	OFFSET is decimal and less than 65536, BYTES are up to 32 in hexadecimal, where ? is
 *	any digit. A file that is of a format of the program is never one of a plugin. No
 *	plugin is loaded, and none is called, to recognize a file
 *
 * Numbers are little-endian. The owner of the note is "atwalk", its type ATW_PLUGIN_NOTE.
 * Members may be appended; the texts that an older note lacks are empty.
 */
struct atw_plugin_note {
	uint32_t abi;
	uint32_t size;
	uint32_t kinds;
	uint32_t reserved;
	char name[32];
	char version[32];
	char help[112];
	char formats[96];
	char sources[96];
	char magic[256];
};

#define ATW_PLUGIN_NOTE 3
#define ATW_PLUGIN_OWNER "atwalk"

/*
 * Defines the plugin: its note, which has the first arguments, and its struct, which is
 * initialized with the others. To be used once, in one file. ATW_PLUGIN_WITH() is for one with
 * formats, sources or targets, which are in its note.
 */
#define ATW_PLUGIN(plugin_name, plugin_version, plugin_kinds, plugin_help, ...)         \
	ATW_PLUGIN_WITH(plugin_name, plugin_version, plugin_kinds, plugin_help, "", "", "", \
			__VA_ARGS__)

#define ATW_PLUGIN_WITH(plugin_name, plugin_version, plugin_kinds, plugin_help,         \
			plugin_formats, plugin_sources, plugin_magic, ...)              \
	_Static_assert(sizeof(plugin_name) <= 32 && sizeof(plugin_version) <= 32 &&     \
		       sizeof(plugin_help) <= 112 && sizeof(plugin_formats) <= 96 &&    \
		       sizeof(plugin_sources) <= 96 && sizeof(plugin_magic) <= 256,     \
		       "a text of ATW_PLUGIN() is too long");                           \
	extern ATW_API const struct atw_plugin atwalk_plugin;                           \
	const struct atw_plugin atwalk_plugin = {                                       \
		.size = sizeof(struct atw_plugin), .abi = ATW_PLUGIN_ABI, __VA_ARGS__   \
	};                                                                              \
	static const struct {                                                           \
		uint32_t owner_size, size, type;                                        \
		char owner[8];                                                          \
		struct atw_plugin_note note;                                            \
	} atwalk_plugin_note __attribute__((section(".note.atwalk"), used, aligned(4))) = { \
		sizeof(ATW_PLUGIN_OWNER), sizeof(struct atw_plugin_note), ATW_PLUGIN_NOTE, \
		ATW_PLUGIN_OWNER,                                                       \
		{ ATW_PLUGIN_ABI, sizeof(struct atw_plugin), plugin_kinds, 0, plugin_name, \
		  plugin_version, plugin_help, plugin_formats, plugin_sources,          \
		  plugin_magic },                                                       \
	}

#ifdef __cplusplus
}
#endif
#endif
