/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - typed rows, and the sinks that format them.
 *
 * A command describes its columns once and emits rows of values; a sink writes them as a
 * table, CSV or JSON. Rows are streamed: a sink keeps none.
 */
#pragma once

#include <atwalk/base.h>

enum atw_type {
	ATW_T_VA,                /* u: "0x..." in every format */
	ATW_T_PA,                /* u: the same */
	ATW_T_HEX,               /* u: the same; a raw word */
	ATW_T_BYTES,             /* u: a size; --units changes its plain form only */
	ATW_T_COUNT,             /* u: a plain number */
	ATW_T_ENUM,              /* u: index into names */
	ATW_T_FLAGS,             /* u: bit set over names; "a,b,c"; JSON: a list */
	ATW_T_LETTERS,           /* u: bit set over letters; "rw-u" */
	ATW_T_TEXT,              /* s: UTF-8 is not assumed; sinks escape */
	ATW_T_SECONDS,           /* u: thousandths of one; "1.500" in every format */
	ATW_T_CHANGE,            /* u: a count's, two's complement; "+3", CSV and JSON: 3 */
	ATW_T_CHANGE_BYTES,      /* u: a size's, the same; --units as of BYTES */
	ATW_T_PAGES,             /* u: a number of pages; plain with `page_units`: in --units */
	ATW_T_TIME,              /* u: us since 1970; "2026-11-28T05:10:00.000000Z" everywhere */
	ATW_T_LIST,              /* list; JSON: objects of `of`; else their number */
};

struct atw_schema;

/* The values of a column that are words. Each is also a word of --filter. */
struct atw_names {
	size_t n;                /* at most 64 for FLAGS and LETTERS */
	const char *const *name; /* e.g. "writable"; NULL entries are unused */
	const char *letters;     /* LETTERS only: one char a bit, "rwxu" */
};

struct atw_column {
	const char *key;         /* [a-z0-9_]+; JSON key, CSV head, --columns word */
	const char *help;
	enum atw_type type;
	uint8_t width;           /* of the plain table; 0: by type */
	bool hidden;             /* shown only if --columns names it */
	const struct atw_names *names;
	bool sum;                /* the plain table ends with its sum */
	uint64_t unknown;        /* FLAGS: bits that no row has information about; they
				  * are n/a */
	const struct atw_schema *of;     /* LIST only: of numbers, no texts and no lists */
	bool sizes;              /* TEXT only: a text of digits is a number of bytes. The plain
				  * table has it in --units; a filter compares it as a number */
	bool rate;               /* per second: the heads of tables for people end with "/s" */
};

/* A column of ATW_T_`t`; a width of 0: by type. Other members may follow the help. */
#define COLUMN(k, t, w, ...) { .key = k, .type = ATW_T_##t, .width = w, .help = __VA_ARGS__ }
#define HIDDEN_COLUMN(k, t, w, h) COLUMN(k, t, w, h, .hidden = true)

struct atw_schema {
	const char *name;        /* "walk", "map" */
	const struct atw_column *col;
	size_t ncols;            /* at most 64 */
};

struct atw_list;
union atw_value {
	uint64_t u;
	const char *s;           /* borrowed for the call */
	const struct atw_list *list;     /* the same */
};

/* Bit i of `have` is clear: column i is n/a, which is never shown as 0. */
struct atw_row {
	const union atw_value *v;
	uint64_t have;
};

/* Lists are compared by their length. */
struct atw_list {
	size_t n;
	const union atw_value *v;        /* all values of the first element, then of the
					  * next */
	const uint64_t *have;            /* one for each element */
};

struct atw_sink;
struct annotator;

/* Sinks get only the chosen columns, in the chosen order. */
struct atw_sink_ops {
	const char *name, *help;
	bool binary;             /* not for a terminal, and one table for each file */
	bool apart;              /* rows but the first depend on no others: output/part.h */
	bool here;               /* rows are to be formatted by the thread that emits them */
	int (*begin)(struct atw_sink *k, const struct atw_schema *sc,
		     struct atw_err *err);
	int (*row)(struct atw_sink *k, const struct atw_row *row, struct atw_err *err);
	int (*end)(struct atw_sink *k, struct atw_err *err);     /* NULL: nothing follows */
	/* NULL: no rows are kept. Writes those that are. */
	int (*flush)(struct atw_sink *k, struct atw_err *err);
	/*
	 * NULL: not in this format. Called before begin() with facts about the rows that
	 * follow.
	 */
	void (*measure)(struct atw_sink *k, const struct atw_row *row);
	/*
	 * NULL: not in this format. The last row, with sums; columns of `blank` are left
	 * empty.
	 */
	int (*sum)(struct atw_sink *k, const struct atw_row *row, uint64_t blank,
		   struct atw_err *err);
	/* NULL: nothing to free. After a failure of begin() as well. */
	void (*drop)(struct atw_sink *k);
};

/* A function that takes rows in place of a file: all that pass the filter, all columns. */
struct atw_tap {
	int (*open)(void *arg, const struct atw_schema *sc, struct atw_err *err);
	int (*row)(void *arg, const struct atw_row *row, struct atw_err *err);
	void *arg;
	/* NULL: not wanted. The page size of the rows that follow, unless it is 4096. */
	void (*page)(void *arg, unsigned page_shift);
};

enum atw_units { ATW_UNITS_HUMAN, ATW_UNITS_BYTES, ATW_UNITS_PAGES };

/* Output options; a zeroed struct is the default. */
struct atw_output_opts {
	const char *format;      /* NULL: plain */
	const struct atw_sink_ops *sink; /* a sink that is not in the list of formats; or NULL */
	const char *path;        /* NULL: standard output */
	const char *columns;     /* NULL: those not hidden; "+a,b" adds to them,
	                          * where the schema has its place */
	const char *filter;      /* NULL: every row */
	const char *sort;        /* "size:desc,address"; NULL: in the order they are
				  * emitted */
	const char *group;       /* a column: one row per value, with the number of rows
				  * and their size */
	enum atw_units units;
	unsigned page_shift;     /* for --units pages; 0: 12 */
	bool color;
	bool bare;               /* plain: without column heads, for output that is only
				  * text */
	bool page_units;         /* numbers of pages are shown in `units`, too */
	/*
	 * Plain: the first rows are buffered until so many are known, or until a flush,
	 * to find the column widths. Texts longer than 64 characters are then shortened
	 * in their middle, unless they are in the last column.
	 */
	bool ahead;
	uint64_t limit;          /* rows; further ones are only counted; 0: unlimited */
	/*
	 * The rows are tables of several moments, separated by flushes: `limit` applies
	 * to each table, and the plain one has no row with sums.
	 */
	bool sumless;
	bool private;            /* a new file is its owner's alone */
	unsigned threads;        /* beside the caller's, to format rows with; 0: none */
	/* Nothing is written: neither format nor path, columns, group and sort count. */
	const struct atw_tap *tap;
	struct atw_output_sum *sum;      /* NULL: not wanted; else of all with this one */
	const struct annotator *annotators;      /* of plugins: output/annotate.h */
	size_t nannotators;
	uint32_t listing;        /* enum atw_listing_flag: of what the rows are */
};

/* Of several outputs, those that are complete. */
struct atw_output_sum {
	uint64_t outputs;
	uint64_t rows;           /* past the filter */
};

/*
 * The pipeline from rows to bytes: filter, then group or sort, then columns, then the
 * sink. A file is written under a temporary name in its folder and renamed by commit, so
 * a failure leaves no partial file.
 */
struct atw_output;

/*
 * Validates all options against the schema before any row is emitted. The schema, its
 * names and the texts of the options must stay valid until close.
 */
int atw_output_open(const struct atw_output_opts *o,
		    const struct atw_schema *sc,
		    struct atw_output **ret, struct atw_err *err);
/* The same without an output: validates the options only. */
int atw_output_check(const struct atw_output_opts *o,
		     const struct atw_schema *sc, struct atw_err *err);
/* Texts of the row are copied if they are kept. */
int atw_output_row(struct atw_output *out, const struct atw_row *row,
		   struct atw_err *err);
/* The page size of the rows, once it is known: 1 << page_shift bytes. */
void atw_output_page(struct atw_output *out, unsigned page_shift);
/* The number of rows beyond the limit so far. */
uint64_t atw_output_left_out(struct atw_output *out);
/* The number of rows that passed the filter so far. */
uint64_t atw_output_rows(struct atw_output *out);
/*
 * A heading above the next row that is shown: plain format only, and not for sorted or
 * grouped rows. It is dropped if no row follows.
 */
int atw_output_heading(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Text below the row before it, dropped if that row did not pass the filter. Plain format
 * only, and not for sorted or grouped rows.
 */
int atw_output_text(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Free text below the table, written after all rows. Plain format only; other formats
 * drop it.
 */
int atw_output_note(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Write what was emitted so far, for a reader that waits for it; a file is still renamed
 * by commit only. Rows to be sorted or grouped are not written yet.
 */
int atw_output_flush(struct atw_output *out, struct atw_err *err);
/* ATW_OK: everything is written, and a file has its final name. */
int atw_output_commit(struct atw_output *out, struct atw_err *err);
/* Drops output that was not committed. NULL is accepted. */
void atw_output_close(struct atw_output *out);

/* The formats of this build by number; NULL past the end. */
const struct atw_sink_ops *atw_sink_kind(size_t i);
