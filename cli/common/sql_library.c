/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_library.c - SQLite, loaded when it is needed, and statements run by it. */
#include "sql.h"

#ifdef HAVE_SQLITE3

#include <dlfcn.h>

#include "base/nearest.h"

/* Linked, it would make every start of the program slower. */
int sql_library_load(const struct sql_library **ret, struct atw_err *err)
{
	static struct sql_library l;
	void *lib = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	bool whole = lib != NULL;

#define FIND(name) \
	whole = whole && (l.name = (__typeof__(sqlite3_##name) *)dlsym(lib, "sqlite3_" #name));
	SQL_CALLS(FIND)
#undef FIND
	if (!whole) {
		atw_err_set(err, ATW_E_UNSUPPORTED, "no SQL without SQLite: %s", dlerror());
		atw_err_hint(err, "install libsqlite3-0");
		return ATW_E_UNSUPPORTED;
	}
	l.vtab_rhs_value = (__typeof__(l.vtab_rhs_value))dlsym(lib, "sqlite3_vtab_rhs_value");
	l.vtab_in_first = (__typeof__(l.vtab_in_first))dlsym(lib, "sqlite3_vtab_in_first");
	l.vtab_in_next = (__typeof__(l.vtab_in_next))dlsym(lib, "sqlite3_vtab_in_next");
	if (l.vtab_in_first && l.vtab_in_next)
		l.vtab_in = (__typeof__(l.vtab_in))dlsym(lib, "sqlite3_vtab_in");
	l.vtab_collation = (__typeof__(l.vtab_collation))dlsym(lib, "sqlite3_vtab_collation");
	*ret = &l;
	return ATW_OK;
}

/* A query writes no file. */
static int sql_authorize(void *arg, int action, const char *a, const char *b, const char *c,
			 const char *d)
{
	return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

int sql_open(struct sql *s, struct atw_err *err)
{
	int r = sql_library_load(&s->lib, err);

	if (r < 0)
		return r;
	if (s->lib->open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
		    SQLITE_OK ||
	    s->lib->set_authorizer(s->db, sql_authorize, NULL) != SQLITE_OK ||
	    sql_tables(s) != SQLITE_OK)
		return atw_err_nomem(err);
	return ATW_OK;
}

void sql_close(struct sql *s)
{
	sql_forget(s);
	if (s->db)
		s->lib->close(s->db);
}

bool sql_is_whole(const struct sql *s, const char *text)
{
	return s->lib->complete(text);
}

/* Of a table that does not exist: the one that was meant. */
static void sql_hint_table(const struct sql *s, const char *word, struct atw_err *err)
{
	struct nearest near = { .word = word, .len = strlen(word) };
	char name[SQL_TABLE_NAME], meant[SQL_TABLE_NAME];
	const struct sql_kind *k;

	for (const struct sql_source *of = s->source; of < s->source + s->sources; of++)
		for (size_t i = 0; (k = sql_source_kind(of, i)); i++) {
			nearest_try(&near, sql_table_name(of, k, name));
			/* It keeps the name, which the next one overwrites. */
			if (near.name == name) {
				snprintf(meant, sizeof(meant), "%s", name);
				near.name = meant;
			}
		}
	if (near.name)
		atw_err_hint(err, "did you mean '%s'?", near.name);
}

/* What SQLite says of the last failure, unless a listing said it. */
int sql_wrong(const struct sql *s)
{
	static const char no_table[] = "no such table: ";
	const char *why = s->lib->errmsg(s->db);
	struct atw_err err = { 0 };

	if (s->status == EXIT_SOURCE || s->status == EXIT_USAGE)
		return s->status;
	atw_err_set(&err, ATW_E_USAGE, "sql: %s", why);
	if (!strncmp(why, no_table, strlen(no_table)))
		sql_hint_table(s, why + strlen(no_table), &err);
	return print_error(&err);
}

/* A statement without tables opens no source: SELECT 1. Returns whether it cannot be opened. */
static bool sql_lacks_source(struct sql *s, int *ret_status)
{
	if (!s->opened)
		*ret_status = s->check(s);
	s->opened |= !*ret_status;
	return *ret_status;
}

int sql_run(struct sql *s, const char **text)
{
	sqlite3_stmt *statement = NULL;
	int status = EXIT_COMPLETE;

	if (s->lib->prepare_v2(s->db, *text, -1, &statement, text) != SQLITE_OK) {
		status = sql_wrong(s);
		*text += strlen(*text);
	} else if (statement && sql_lacks_source(s, &status)) {
		/* It says why not. */
	} else if (statement && s->lib->column_count(statement)) {
		/* Nothing has been written then. */
		status = s->c->output && (s->more || !sql_is_end(*text))
				 ? usage_error(s->command, "--output takes the rows of one statement")
				 : sql_result(s, statement);
	} else if (statement && s->lib->step(statement) != SQLITE_DONE) {
		status = sql_wrong(s);
	}
	s->lib->finalize(statement);
	sql_forget(s);
	return status;
}

#else

int sql_open(struct sql *s, struct atw_err *err)
{
	atw_err_set(err, ATW_E_UNSUPPORTED, "this build has no SQL");
	atw_err_hint(err, "install libsqlite3-dev and build again");
	return ATW_E_UNSUPPORTED;
}

void sql_close(struct sql *s)
{
	sql_forget(s);
}

bool sql_is_whole(const struct sql *s, const char *text)
{
	return true;
}

int sql_run(struct sql *s, const char **text)
{
	return EXIT_SOURCE;
}

#endif

void sql_forget(struct sql *s)
{
	for (struct sql_read *r = s->read, *next; r; r = next) {
		next = r->next;
		sql_rows_free(r->rows);
		free(r->key);
		free(r);
	}
	s->read = NULL;
}
