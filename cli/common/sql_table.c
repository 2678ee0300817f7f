/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_table.c - virtual tables of SQLite: their names and columns. */
#include "sql_table.h"
#include "base/message.h"

#ifdef HAVE_SQLITE3

struct sql_module {
	struct sql *s;
	const struct sql_source *of;
	const struct sql_kind *kind;
};

static const char *const type_words[] = {
	[ATW_T_VA] = "VA INTEGER", [ATW_T_PA] = "PA INTEGER", [ATW_T_HEX] = "HEX INTEGER",
	[ATW_T_BYTES] = "BYTES INTEGER", [ATW_T_COUNT] = "COUNT INTEGER", [ATW_T_ENUM] = "TEXT",
	[ATW_T_FLAGS] = "TEXT", [ATW_T_LETTERS] = "TEXT", [ATW_T_TEXT] = "TEXT",
	[ATW_T_SECONDS] = "REAL", [ATW_T_CHANGE] = "COUNT INTEGER",
	[ATW_T_CHANGE_BYTES] = "COUNT INTEGER", [ATW_T_PAGES] = "COUNT INTEGER",
	[ATW_T_LIST] = "COUNT INTEGER",
};

enum atw_type sql_declared(const char *decl)
{
	static const enum atw_type kept[] = { ATW_T_VA, ATW_T_PA, ATW_T_HEX, ATW_T_BYTES };

	for (size_t i = 0; decl && i < ARRAY_SIZE(kept); i++)
		if (!strcmp(decl, type_words[kept[i]]))
			return kept[i];
	return ATW_T_COUNT;
}

static int table_disconnect(sqlite3_vtab *base)
{
	struct sql_table *t = (struct sql_table *)base;

	for (int i = 0; i < t->n; i++)
		free((char *)(uintptr_t)t->column[i].name);
	free(t);
	return SQLITE_OK;
}

static int table_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			 sqlite3_vtab **ret, char **error)
{
	const struct sql_module *m = arg;
	struct sql_table *t = calloc(1, sizeof(*t));
	struct buf b = { 0 };
	int n, r;

	if (!t)
		return SQLITE_NOMEM;
	*t = (struct sql_table){ .s = m->s, .of = m->of, .kind = m->kind, .pid = -1, .address = -1,
				  .end = -1 };
	n = sql_columns(m->s, m->of, m->kind, t->column);
	if (n <= 0) {
		m->s->status = -n;
		*error = m->s->lib->mprintf(_("%s cannot be read"), m->kind->name);
		free(t);
		return SQLITE_ERROR;
	}
	t->n = n;
	m->s->opened |= !m->of->name;
	buf_str(&b, "CREATE TABLE x(");
	for (int i = 0; i < n; i++) {
		buf_printf(&b, "%s\"%s\" %s", i ? ", " : "", t->column[i].name,
			   type_words[t->column[i].type]);
		if (!strcmp(t->column[i].name, "pid"))
			t->pid = i;
		if (!strcmp(t->column[i].name, "address"))
			t->address = i;
		if (!strcmp(t->column[i].name, "end"))
			t->end = i;
	}
	if (m->kind->target)
		buf_str(&b, ", target TEXT HIDDEN");
	buf_str(&b, ")");
	r = b.failed ? SQLITE_NOMEM : m->s->lib->declare_vtab(db, b.data);
	buf_deinit(&b);
	if (r != SQLITE_OK)
		table_disconnect(&t->base);
	else
		*ret = &t->base;
	return r;
}

static int table_declare(struct sql *s, const struct sql_source *of, const struct sql_kind *kind)
{
	/* Without xCreate: each is there without being created. */
	static const sqlite3_module module = {
		.xConnect = table_connect, .xBestIndex = sql_plan_best,
		.xDisconnect = table_disconnect,
		.xOpen = sql_cursor_open, .xClose = sql_cursor_close,
		.xFilter = sql_cursor_filter, .xNext = sql_cursor_next,
		.xEof = sql_cursor_eof, .xColumn = sql_cursor_column,
		.xRowid = sql_cursor_rowid,
	};
	struct sql_module *m = malloc(sizeof(*m));
	char name[SQL_TABLE_NAME];

	if (!m)
		return SQLITE_NOMEM;
	*m = (struct sql_module){ s, of, kind };
	/* It frees the module, also when it fails. */
	return s->lib->create_module_v2(s->db, sql_table_name(of, kind, name), &module, m, free);
}

int sql_tables(struct sql *s)
{
	const struct sql_kind *k;

	for (const struct sql_source *of = s->source; of < s->source + s->sources; of++)
		for (size_t i = 0; (k = sql_source_kind(of, i)); i++)
			if (table_declare(s, of, k) != SQLITE_OK)
				return SQLITE_ERROR;
	return SQLITE_OK;
}

#endif
