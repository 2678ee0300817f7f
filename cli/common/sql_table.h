/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_table.h - a virtual table of SQLite: its plan, and the cursors that read it. */
#pragma once

#include "sql.h"

#ifdef HAVE_SQLITE3

/*
 * What the plan passes to the cursor as a number: values that xFilter is given, in this order,
 * and above them 1 + the column of an index, of which the value is the last; 0: none.
 */
enum {
	WITH_TARGET = 1, WITH_PID = 2, WITH_ADDRESS = 4,
	PID_VARIES = 8,                  /* it comes from another table */
	ADDRESS_VARIES = 16,
	PID_LIST = 32,                   /* it is one of several: all of them are passed at once */
	INDEX_SHIFT = 8,
};

struct sql_table {
	sqlite3_vtab base;
	struct sql *s;
	const struct sql_source *of;
	const struct sql_kind *kind;
	int n;
	struct sql_text column[SQL_COLUMNS];
	int pid, address, end;           /* columns; -1: none */
};

/* Fails with a sentence of its own. */
static inline int sql_table_fail(struct sql_table *t, const char *text)
{
	struct sql *s = t->s;

	s->lib->free(t->base.zErrMsg);
	t->base.zErrMsg = s->lib->mprintf("%s", text);
	return SQLITE_ERROR;
}

/*
 * The whole number that equals the value in a column of INTEGER, where texts become numbers by
 * affinity; false: none does.
 */
static inline bool sql_value_whole(const struct sql_library *l, sqlite3_value *v, int64_t *ret)
{
	int type = l->value_numeric_type(v);
	double d;

	if (type == SQLITE_INTEGER) {
		*ret = l->value_int64(v);
		return true;
	}
	if (type != SQLITE_FLOAT)
		return false;
	d = l->value_double(v);
	if (!(d >= (double)INT64_MIN && d < -(double)INT64_MIN) || (double)(int64_t)d != d)
		return false;
	*ret = (int64_t)d;
	return true;
}

/* ---- sql_plan.c ---- */

/* xBestIndex: of the constraints, the number above, and as text what the listing is asked for. */
int sql_plan_best(sqlite3_vtab *base, sqlite3_index_info *x);
/* The text into the query: columns, range and filter, which is a part of the text. */
void sql_plan_query(const struct sql_table *t, const char *plan, struct sql_query *q);

/* ---- sql_cursor.c ---- */

int sql_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret);
int sql_cursor_close(sqlite3_vtab_cursor *base);
int sql_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		      sqlite3_value **argv);
int sql_cursor_next(sqlite3_vtab_cursor *base);
int sql_cursor_eof(sqlite3_vtab_cursor *base);
int sql_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column);
int sql_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret);

#endif
