/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_recording.c - tables of a recording of kmap, for queries that have other sources too.
 *
 * Only atwalk-kmap reads recordings. A table is a query to it, for the columns that are
 * needed; texts come in hexadecimal digits, which need no quotes, and are not like n/a.
 */
#include "atwalk.h"
#include "sql_kinds.h"

#include "common/sql_recording.h"
#include "base/num.h"
#include "format/json.h"

struct sql_recording_opts {
	const char *symbols, *kernel;
};

/* Those that atwalk-kmap takes as well; sql passes them on. */
static const struct opt options[] = {
	{ 0, "symbols", OPT_TEXT, offsetof(struct sql_recording_opts, symbols), "FILE", "", NULL },
	{ 0, "kernel", OPT_TEXT, offsetof(struct sql_recording_opts, kernel), "FILE", "", NULL },
	{ 0 }
};

struct sql_recording {
	struct atw_column column[SQL_COLUMNS];
	size_t n;
	struct atw_output *out;
	struct buf text[SQL_COLUMNS];    /* of a row */
};

/* A line that describes a column: its name and declared type. */
static int sql_recording_take_column(void *arg, struct atw_blob line, struct atw_err *err)
{
	static const struct { const char *decl; enum atw_type type; } types[] = {
		{ "VA INTEGER", ATW_T_VA }, { "PA INTEGER", ATW_T_PA }, { "HEX INTEGER", ATW_T_HEX },
		{ "BYTES INTEGER", ATW_T_BYTES }, { "TEXT", ATW_T_TEXT }, { "REAL", ATW_T_SECONDS },
	};
	struct sql_recording *k = arg;
	struct atw_blob name, type;
	struct atw_column *c = &k->column[k->n];

	if (!json_member(line, "name", &name) || !json_member(line, "type", &type))
		return ATW_OK;
	if (k->n == SQL_COLUMNS)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "more than %d columns", SQL_COLUMNS);
	*c = (struct atw_column){
		.key = strndup(name.data, name.len), .type = ATW_T_COUNT, .help = "",
	};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (strlen(types[i].decl) == type.len &&
		    !memcmp(types[i].decl, type.data, type.len))
			c->type = types[i].type;
	k->n++;
	return c->key ? ATW_OK : atw_err_nomem(err);
}

static bool sql_recording_text(struct buf *b, struct atw_blob hex)
{
	const char *at = hex.data, *end = at + hex.len;
	uint64_t byte;

	b->len = 0;
	for (; at + 1 < end; at += 2) {
		if (!num_hex(at, 2, &byte))
			return false;
		buf_add(b, &(char){ (char)byte }, 1);
	}
	buf_add(b, "", 1);
	return at == end && !b->failed;
}

static bool sql_recording_number(enum atw_type type, struct atw_blob text, uint64_t *ret)
{
	const char *s = text.data;
	bool minus = text.len > 1 && *s == '-';
	char number[32];

	if (type == ATW_T_SECONDS) {
		snprintf(number, sizeof(number), "%.*s", (int)text.len, s);
		*ret = (uint64_t)(strtod(number, NULL) * 1000 + 0.5);
		return true;
	}
	if (!num_any(s + minus, text.len - minus, ret))
		return false;
	if (minus)
		*ret = -*ret;
	return true;
}

static int sql_recording_take_row(void *arg, struct atw_blob line, struct atw_err *err)
{
	struct sql_recording *k = arg;
	struct json_cursor at = json_open(line);
	struct atw_blob key, value;
	union atw_value v[SQL_COLUMNS] = { 0 };
	struct atw_row row = { v, 0 };
	size_t i = 0;
	bool good = true;

	for (; i < k->n && json_next(&at, &key, &value); i++) {
		bool text = k->column[i].type == ATW_T_TEXT;

		if (value.len == 4 && !memcmp(value.data, "null", 4))
			continue;
		good &= text ? sql_recording_text(&k->text[i], value)
			     : sql_recording_number(k->column[i].type, value, &v[i].u);
		if (text)
			v[i].s = k->text[i].data;
		row.have |= (uint64_t)1 << i;
	}
	if (i < k->n || !good)
		return atw_err_set(err, ATW_E_IO, "atwalk-kmap printed no row: %.*s",
				   (int)MIN(line.len, 80), (const char *)line.data);
	return atw_output_row(k->out, &row, err);
}

/* Asks atwalk-kmap; *ret is its exit status. */
static int sql_recording_ask(const struct sql_recording_opts *o, const char *file, const char *query,
			 external_line_fn *fn, struct sql_recording *k, int *ret, struct atw_err *err)
{
	struct command_args a = { 0 };
	int r;

	command_arg(&a, "atwalk-kmap");
	command_arg(&a, "sql");
	command_arg(&a, "--no-config");
	command_arg(&a, "--quiet");
	command_arg_option(&a, "--format", "jsonl");
	command_arg_option(&a, "--symbols", o->symbols);
	command_arg_option(&a, "--kernel", o->kernel);
	command_arg(&a, "--");
	command_arg(&a, file);
	command_arg(&a, query);
	r = a.failed ? atw_err_nomem(err) : external_lines(&cmd_kmap, a.v, fn, k, ret, err);
	command_args_deinit(&a);
	return r;
}

/* The columns of the table that anything asks for. */
static void sql_recording_choose(const struct common *c, struct sql_recording *k, const char *table,
			     struct buf *query)
{
	size_t n = 0;

	buf_str(query, "SELECT ");
	for (size_t i = 0; i < k->n; i++) {
		const char *key = k->column[i].key;

		if (!asks_for(c, key)) {
			free((char *)(uintptr_t)key);
			continue;
		}
		buf_str(query, n ? ", " : "");
		/* hex() of n/a is a text. */
		if (k->column[i].type == ATW_T_TEXT)
			buf_printf(query, "CASE WHEN \"%s\" NOTNULL THEN hex(\"%s\") END", key, key);
		else
			buf_printf(query, "\"%s\"", key);
		k->column[n++] = k->column[i];
	}
	buf_printf(query, "%s FROM %s", n ? "" : "NULL", table);
	k->n = n;
}

/* TABLE SOURCE */
static int sql_recording_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct sql_recording_opts *o = opts;
	struct sql_recording k = { .n = 0 };
	struct atw_schema schema = { argv[0], k.column, 0 };
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	struct buf query = { 0 };
	int status = EXIT_COMPLETE, r;

	buf_printf(&query, "PRAGMA table_info(%s)", argv[0]);
	r = query.failed ? atw_err_nomem(&err)
			 : sql_recording_ask(o, argv[1], query.data, sql_recording_take_column, &k, &status, &err);
	if (r == ATW_OK && !k.n)
		status = status ? status : EXIT_SOURCE;
	query.len = 0;
	/* A run for the columns alone gets all of them. */
	if (r == ATW_OK && *c->asked)
		sql_recording_choose(c, &k, argv[0], &query);
	schema.ncols = k.n;
	rows_opts(c, &oo);
	if (r == ATW_OK && !status)
		r = atw_output_open(&oo, &schema, &k.out, &err);
	if (r == ATW_OK && !status)
		r = query.failed ? atw_err_nomem(&err)
				 : sql_recording_ask(o, argv[1], query.data, sql_recording_take_row, &k, &status, &err);
	if (r < 0 || k.out)
		status = output_end(k.out, r, status, &err);
	for (size_t i = 0; i < k.n; i++) {
		free((char *)(uintptr_t)k.column[i].key);
		buf_deinit(&k.text[i]);
	}
	buf_deinit(&query);
	return status;
}

static const struct command cmd_recording = {
	.name = "sql",
	.common = OPT_COMMON_ROWS | OPT_COMMON_SOURCE | OPT_COMMON_PROGRESS | OPT_COMMON_VERBOSE,
	.options = options,
	.opts_size = sizeof(struct sql_recording_opts),
	.run = sql_recording_run,
};

#define ROWS(table, text) { .name = table, .about = text, .cmd = &cmd_recording, .word = table },
#define REPORT(report, text) ROWS("report_" report, text)

static const struct sql_kind kinds[] = { SQL_RECORDING_TABLES(ROWS, REPORT) };

const struct sql_kind *sql_recording_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}
