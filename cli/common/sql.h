/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql.h - listings and reports of a program as tables of SQLite.
 *
 *	sql_statements.c  statements: from operands, a file, or a prompt
 *	sql_library.c     SQLite, loaded when it is needed
 *	sql_table.c       virtual tables: their names and columns
 *	sql_plan.c        which constraints of a query go to the listing
 *	sql_cursor.c      the rows of a query, read when they are needed
 *	sql_rows.c        the rows of a listing, kept as long as a statement runs
 *	sql_sizes.c       expressions that are sizes
 *	sql_result.c      rows of a statement, to where the user said
 *
 * The program has the command, and a list of its tables.
 */
#pragma once

#include "command.h"

enum { SQL_COLUMNS = 64, SQL_PASSED = 6, SQL_SOURCES = 8, SQL_TABLE_NAME = 80 };

/* A table: a command, with an option and a word in front of its SOURCE. */
struct sql_kind {
	const char *name, *about;
	const struct command *cmd;
	const char *option, *word;       /* or NULL */
	const char *pid;                 /* how a process is given: an option, or "" for a word */
	const char *leader;              /* NULL, or the column that equals pid in every row */
	const char *address;             /* an option that takes one */
	bool ranges;                     /* behind SOURCE: ranges of addresses */
	const char *target;              /* what it must be given; a word behind SOURCE */
	const char *plugin;              /* NULL, or the plugin that it is of: the command loads it */
	bool alone;                      /* with a process its rows are other ones */
	const char *without;             /* NULL, or columns that are n/a in every row: "entry,node" */
};

/* Where rows come from. */
struct sql_source {
	const char *name;                /* its tables are NAME_TABLE; NULL: TABLE */
	const char *word;                /* SOURCE */
	const struct sql_kind *(*kind)(size_t i);        /* tables by number; NULL past the end */
	const struct sql_kind *more;     /* and those that are not known before it runs */
	size_t nmore;
};

/* Tables of both kinds by number; NULL past the end. */
const struct sql_kind *sql_source_kind(const struct sql_source *of, size_t i);

/* "TABLE" or "NAME_TABLE". */
const char *sql_table_name(const struct sql_source *of, const struct sql_kind *k,
			   char buf[SQL_TABLE_NAME]);

struct sql_text {
	const char *name;
	enum atw_type type;
};

/* ---- sql_rows.c ---- */

/* Which rows of a table: all of `used`, and what the listing is given. */
struct sql_query {
	uint64_t used;                   /* columns, by their number in the table */
	const char *filter;              /* or "" */
	bool has_pid, has_address;
	bool any_pid;                    /* of a task: one without memory has no rows */
	int64_t pid, address;
	const int64_t *pids;             /* of these, if there are any, and not of `pid` */
	size_t npids;
	/* Rows from one address to another of the lower half are needed, and no others there. */
	bool has_range, upper;           /* `upper`: and those of the upper half */
	uint64_t first, last;
	const char *target;              /* or NULL */
};

struct sql_rows;
/*
 * Runs the listing. `column` are those of the table. Returns its exit status; *ret is NULL
 * if that is an error, which was printed, but for q->any_pid.
 */
struct sql;
int sql_rows_read(struct sql *s, const struct sql_source *of, const struct sql_kind *k,
		  const struct sql_text *column, size_t n, const struct sql_query *q,
		  struct sql_rows **ret);
/* Appends rows of the same columns, for another process. false: no memory. */
bool sql_rows_add(struct sql_rows *r, const struct sql_rows *more);
void sql_rows_free(struct sql_rows *r);
size_t sql_rows_count(const struct sql_rows *r);
/*
 * An index of a column that is kept, not of seconds: made when it is first asked for; NULL: no
 * memory. Rows with one value follow each other as they came; past the last is sql_rows_count().
 */
struct sql_index;
const struct sql_index *sql_rows_index(struct sql_rows *r, size_t column);
size_t sql_index_first(const struct sql_index *x, union atw_value value);
size_t sql_index_next(const struct sql_index *x, size_t row);
/* false: n/a. Texts are valid until sql_rows_free(). */
bool sql_rows_value(const struct sql_rows *r, size_t row, size_t column,
		    union atw_value *ret);
/*
 * A number of the row that no other one has, whatever it has in common with it, and the same
 * row has in what is read for another query of these columns. *ret is untouched without memory.
 */
bool sql_rows_number(struct sql_rows *r, size_t row, uint64_t columns, uint64_t *ret);
bool sql_is_text(enum atw_type type);
/*
 * The columns of a table, by asking its listing; their names are to be freed. Returns how
 * many, or a negative exit status; the error was printed.
 */
int sql_columns(struct sql *s, const struct sql_source *of, const struct sql_kind *k,
		struct sql_text ret[SQL_COLUMNS]);

/* ---- the rest needs SQLite ---- */

/* What was read for the statement that runs. */
struct sql_read {
	struct sql_read *next;
	const struct sql_source *of;
	const struct sql_kind *kind;
	char *key;                       /* of the query */
	struct sql_rows *rows;
	uint64_t pids, addresses;        /* of a join: so many were read one by one */
};

struct sql {
	const struct common *c;
	const char *command;             /* for messages */
	/* SOURCE, of which sql_main() sets the word, and those that are attached. */
	struct sql_source source[SQL_SOURCES];
	size_t sources;                  /* 0 is 1 */
	/* Options that listings are given if they take them, "--kernel", and their values. */
	struct {
		const char *option, *value;
		bool attached;           /* listings of attached sources as well */
	} passed[SQL_PASSED];
	bool allow;                      /* --allow-unreadable is given as well */
	/* Can the source be opened? For statements without a table. Returns an exit status. */
	int (*check)(const struct sql *s);
	int status;                      /* of listings: the worst */
	const struct sql_library *lib;
	struct sqlite3 *db;
	struct sql_read *read;
	bool more;                       /* statements follow, in operands */
	bool opened;                     /* the source, or a table of it */
};

/*
 * Runs the statements behind SOURCE in the operands, or those of standard input. Opens and
 * closes; the caller has set `c`, `command`, `source`, `passed`, `allow` and `check`. Returns
 * the exit status.
 */
int sql_main(struct sql *s, int argc, char **argv);
int sql_open(struct sql *s, struct atw_err *err);
void sql_close(struct sql *s);
void sql_forget(struct sql *s);
/* Does nothing but blanks and ";" follow? */
bool sql_is_end(const char *text);
/*
 * Runs the first statement of *text and puts *text behind it. Returns an exit status;
 * errors are printed.
 */
int sql_run(struct sql *s, const char **text);
/* Does the text end with a whole statement? */
bool sql_is_whole(const struct sql *s, const char *text);

#ifdef HAVE_SQLITE3
#include <sqlite3.h>

/* Functions of SQLite, without "sqlite3_". */
#define SQL_CALLS(CALL) \
	CALL(close) \
	CALL(column_bytes) \
	CALL(column_count) \
	CALL(column_decltype) \
	CALL(column_double) \
	CALL(column_int64) \
	CALL(column_name) \
	CALL(column_text) \
	CALL(column_type) \
	CALL(complete) \
	CALL(create_module_v2) \
	CALL(declare_vtab) \
	CALL(errmsg) \
	CALL(finalize) \
	CALL(free) \
	CALL(mprintf) \
	CALL(open_v2) \
	CALL(prepare_v2) \
	CALL(result_double) \
	CALL(result_int64) \
	CALL(result_null) \
	CALL(result_text) \
	CALL(set_authorizer) \
	CALL(sql) \
	CALL(step) \
	CALL(value_double) \
	CALL(value_int64) \
	CALL(value_numeric_type) \
	CALL(value_text) \
	CALL(value_type)

struct sql_library {
#define SQL_MEMBER(name) __typeof__(sqlite3_##name) *name;
	SQL_CALLS(SQL_MEMBER)
#undef SQL_MEMBER
	/* Since 3.38; NULL before. */
	int (*vtab_rhs_value)(sqlite3_index_info *, int, sqlite3_value **);
	int (*vtab_in)(sqlite3_index_info *, int, int);
	int (*vtab_in_first)(sqlite3_value *, sqlite3_value **);
	int (*vtab_in_next)(sqlite3_value *, sqlite3_value **);
	/* Since 3.22; NULL before. */
	const char *(*vtab_collation)(sqlite3_index_info *, int);
};

int sql_library_load(const struct sql_library **ret, struct atw_err *err);
/* Declares all tables. */
int sql_tables(struct sql *s);
/* The type of a column that is one of a table; others are numbers. */
enum atw_type sql_declared(const char *decl);
/* Bit i: column i is an expression of which it is certain that it is a size. */
uint64_t sql_sizes(const struct sql *s, sqlite3_stmt *statement, size_t columns);
/* Runs a statement that has columns, and writes its rows. */
int sql_result(struct sql *s, sqlite3_stmt *statement);
int sql_wrong(const struct sql *s);
#endif
