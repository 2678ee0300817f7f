/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - typed rows, and where they go.
 *
 * A command describes its columns once and hands over rows of values; a sink
 * turns them into a table, CSV or JSON. Rows stream: a sink keeps no row.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include <atwalk/base.h>

enum atw_type {
	ATW_T_VA,                /* u: "0x..." in every format */
	ATW_T_PA,                /* u: likewise */
	ATW_T_HEX,               /* u: likewise; a raw word */
	ATW_T_BYTES,             /* u: a size; --units changes its plain form only */
	ATW_T_COUNT,             /* u: a plain number */
	ATW_T_ENUM,              /* u: index into names */
	ATW_T_FLAGS,             /* u: bit set over names; "a,b,c"; JSON: a list */
	ATW_T_LETTERS,           /* u: bit set over letters; "rw-u" */
	ATW_T_TEXT,              /* s: UTF-8 is not assumed; sinks escape */
	ATW_T_SECONDS,           /* u: thousandths of one; "1.500" in every format */
	ATW_T_CHANGE,            /* u: a count's, two's complement; "+3", CSV and JSON: 3 */
	ATW_T_CHANGE_BYTES,      /* u: a size's, likewise; --units as of BYTES */
	ATW_T_PAGES,             /* u: a number of pages; plain with `page_units`: in --units */
	ATW_T_LIST,              /* list: JSON: objects of `of`; else how many */
};

struct atw_schema;

/* The words a column's values are made of. Each is also a word of --filter. */
struct atw_names {
	size_t n;                /* at most 64 for FLAGS and LETTERS */
	const char *const *name; /* e.g. "writable"; NULL entries are unused */
	const char *letters;     /* LETTERS only: one char a bit, "rwxu" */
};

struct atw_column {
	const char *key;         /* [a-z0-9_]+; JSON key, CSV head, --columns word */
	const char *help;
	enum atw_type type;
	uint8_t width;           /* of the plain table; 0: as the type needs */
	bool hidden;             /* shown only when --columns names it */
	const struct atw_names *names;
	bool sum;                /* the plain table has its sum at the end */
	uint64_t unknown;        /* FLAGS: of these words no row says anything, not even no */
	const struct atw_schema *of;     /* LIST only: of numbers, no texts and no lists */
	bool rate;               /* per second: the heads of tables for people end with "/s" */
};

struct atw_schema {
	const char *name;        /* "walk", "map" */
	const struct atw_column *col;
	size_t ncols;            /* at most 64 */
};

struct atw_list;
union atw_value {
	uint64_t u;
	const char *s;           /* borrowed for the call */
	const struct atw_list *list;     /* likewise */
};

/* Bit i of `have` unset: column i is n/a, which is never 0. */
struct atw_row {
	const union atw_value *v;
	uint64_t have;
};

/* What it is compared by is how many there are. */
struct atw_list {
	size_t n;
	const union atw_value *v;        /* those of the first, then those of the next */
	const uint64_t *have;            /* one each */
};

struct atw_sink;

/* Sinks see only the chosen columns, in the chosen order. */
struct atw_sink_ops {
	size_t size;
	const char *name, *help;
	int (*begin)(struct atw_sink *k, const struct atw_schema *sc,
		     struct atw_err *err);
	int (*row)(struct atw_sink *k, const struct atw_row *row,
		   struct atw_err *err);
	int (*end)(struct atw_sink *k, struct atw_err *err);
	/* NULL: not in this format. Before begin, of rows that will come. */
	void (*measure)(struct atw_sink *k, const struct atw_row *row);
	/* Likewise: the last row, with sums; nothing at all in columns of `blank`. */
	int (*sum)(struct atw_sink *k, const struct atw_row *row, uint64_t blank,
		   struct atw_err *err);
};

enum atw_units { ATW_UNITS_HUMAN, ATW_UNITS_BYTES, ATW_UNITS_PAGES };

/* How the user wants rows to come out; all zero is the default. */
struct atw_output_opts {
	const char *format;      /* NULL: plain */
	const char *path;        /* NULL: standard output */
	const char *columns;     /* NULL: those not hidden; "+a,b" adds to them,
	                          * where the schema has its place */
	const char *filter;      /* NULL: every row */
	const char *sort;        /* "size:desc,address"; NULL: as they come */
	const char *group;       /* a column: one row a value: how many, and their sizes */
	enum atw_units units;
	unsigned page_shift;     /* for --units pages; 0: 12 */
	bool color;
	bool bare;               /* plain: no head line, for output of text alone */
	bool page_units;         /* numbers of pages are shown in `units`, too */
	/*
	 * Plain: the first rows wait until so many are known, or until a flush, so that
	 * columns are as wide as they need. Texts that are longer than 64 characters
	 * and not in the last column have three dots in their middle then.
	 */
	bool ahead;
	uint64_t limit;          /* rows, the rest is left out and counted; 0: all */
	/*
	 * Tables of several moments, parted by flushes: `limit` is of each, and the plain
	 * one has no last row with sums.
	 */
	bool sumless;
};

/*
 * The way from rows to bytes: filter, then group or sort, then columns, then
 * the sink. A file is written beside its place and renamed by commit, so a
 * failure leaves no half of one.
 */
struct atw_output;

/*
 * Checks everything the user typed against the schema before any row. The
 * schema, its names and the options' texts must stay until close.
 */
int atw_output_open(const struct atw_output_opts *o,
		    const struct atw_schema *sc,
		    struct atw_output **ret, struct atw_err *err);
/* The same without an output: would it open, as far as what was typed goes? */
int atw_output_check(const struct atw_output_opts *o,
		     const struct atw_schema *sc, struct atw_err *err);
/* The row's texts are copied where they are kept. */
int atw_output_row(struct atw_output *out, const struct atw_row *row,
		   struct atw_err *err);
/* The page of what rows are about, once it is known: 1 << page_shift bytes. */
void atw_output_page(struct atw_output *out, unsigned page_shift);
/* How many rows the limit has left out so far. */
uint64_t atw_output_left_out(const struct atw_output *out);
/* Rows that passed the filter so far. */
uint64_t atw_output_rows(const struct atw_output *out);
/*
 * A line above the next row that is shown, for what it and those after it have
 * in common: plain format only, and not where rows are sorted or grouped. One
 * that no row follows is forgotten.
 */
int atw_output_heading(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Text behind the row before it, which goes where that one went: nowhere, if the
 * filter does not let it pass. Plain format only, and not where rows are sorted or
 * grouped.
 */
int atw_output_text(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Free text below the table: plain format only, other formats drop it. Comes
 * out after the rows.
 */
int atw_output_note(struct atw_output *out, const char *fmt, ...)
	ATW_PRINTF(2, 3);
/*
 * Write out what was emitted so far, for a reader that waits for it; a file is still put
 * in its place only by commit. Rows that are sorted or grouped stay.
 */
int atw_output_flush(struct atw_output *out, struct atw_err *err);
/* Everything is written and in its place when this returns ATW_OK. */
int atw_output_commit(struct atw_output *out, struct atw_err *err);
/* Drops what commit did not put in place. NULL is fine. */
void atw_output_close(struct atw_output *out);

/* The formats this build knows, by number; NULL past the end. */
const struct atw_sink_ops *atw_sink_kind(size_t i);

#endif
