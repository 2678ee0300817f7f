/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * formats.h - table of the text formats that addresses of memory references come in.
 *
 *	perf         perf script, with the default fields or those of -F
 *	lackey       valgrind --tool=lackey --trace-mem=yes
 *	dynamorio    drmemtrace's view tool; the samples memtrace_simple and memtrace_x86
 *	csv          rows of fields that commas, semicolons or tabs separate, with a head
 *
 * Pure. A parser gets one line at a time and keeps nothing of it. Its state is what a head
 * or an earlier line said about later ones: columns, the process, the CPU of a thread.
 */
#pragma once

#include "trace/trace.h"

enum {
	TRACE_LINE_MAX = 16384,  /* bytes in a line; longer ones are an error */
	TRACE_FIRST_LINES = 64,  /* lines that the detection can use */
	TRACE_COLUMNS = 128,     /* in a row of fields */
};

struct trace_options {
	/*
	 * Name of the column or field with the addresses: NULL selects data addresses, by
	 * the names that are common. "ip" selects those of instructions.
	 */
	const char *address;
	/*
	 * Of `perf script`, the fields given to its -F. Without it they are recognized in
	 * each line, which is ambiguous if a line has neither an event nor symbols.
	 */
	const char *fields;
	/* Hint of errors about a column of addresses that is missing, or NULL. */
	const char *column_hint;
};

struct trace_parser {
	const struct trace_format *format;
	uint64_t line;           /* number of the line parsed last, from 1 */
	bool code;               /* the address is that of the instruction */
	uint32_t pid;            /* of the lines that follow; 0: unknown */
	uint32_t tid, cpu;       /* a thread and the CPU it was last reported on */
	bool have_cpu;
	uint32_t fields;         /* perf: enum trace_field; 0: recognized in each line */
	/* csv */
	uint8_t column[TRACE_COLUMNS]; /* enum trace_column of each */
	unsigned columns;
	char separator;
	bool decimal;            /* addresses without 0x are decimal */
	bool head;               /* the line with the names has been parsed */
};

struct trace_format {
	const char *name;        /* as a user selects it */
	const char *what;        /* for messages and help */
	/* Do these first lines, which need not be complete, have this format? */
	bool (*detect)(const struct atw_blob *line, size_t n);
	/* Optional. */
	int (*init)(struct trace_parser *p, const struct trace_options *opts,
		    const struct atw_blob *line, size_t n, struct atw_err *err);
	/* As trace_parse(). `ret` is zeroed, but for a count of 1. */
	int (*parse)(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		     struct atw_err *err);
};

extern const struct trace_format trace_formats[];
extern const size_t trace_formats_count;

/* NULL: there is none of this name. */
const struct trace_format *trace_format_named(const char *name);
/* From the first lines of a file, without line ends. NULL: none matches. */
const struct trace_format *trace_format_detect(const struct atw_blob *line, size_t n);

/*
 * Start parsing. The first lines are the same as for the detection and are parsed again by
 * trace_parse(). ATW_E_MISSING: there is no column with addresses. ATW_E_USAGE: an option
 * that the format does not have, or a name that the head does not have.
 */
int trace_parser_init(struct trace_parser *ret, const struct trace_format *format,
		      const struct trace_options *opts, const struct atw_blob *line,
		      size_t n, struct atw_err *err);

/*
 * Parse one line without its line end. `ret` points into the line. ATW_OK: a reference,
 * which need not have an address. ATW_END: none: a head, a comment, a record of another
 * kind. ATW_E_FORMAT, ATW_E_LIMIT: the error names the line; the next one can be parsed.
 * Of a line longer than TRACE_LINE_MAX only the length is used.
 */
int trace_parse(struct trace_parser *p, struct atw_blob line, struct trace_ref *ret,
		struct atw_err *err);
