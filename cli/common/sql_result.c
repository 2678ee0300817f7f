/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_result.c - rows of a statement as rows of a listing.
 *
 * SQLite says what a value is when it is there, and a listing what its columns are before
 * the first row; so all rows are kept, and then written.
 */
#include "sql.h"
#include "output/annotate.h"

#ifdef HAVE_SQLITE3

enum { NOTHING, WHOLE, FRACTION, WORDS };        /* what a value is */

struct sql_result {
	size_t n;
	struct atw_column column[SQL_COLUMNS];
	char name[SQL_COLUMNS][48];
	bool negative[SQL_COLUMNS], fraction[SQL_COLUMNS], words[SQL_COLUMNS];
	struct buf value;                /* uint64_t: what each is, 2 bits; then those of a row */
	struct buf text;
	size_t rows;
	size_t blob;                     /* 1 + the first column that has one; 0: none */
};

/* A key of letters, digits and "_", and one that no other column has. */
static void result_name(struct sql_result *a, size_t i, const char *name)
{
	char *to = a->name[i];
	size_t n = 0;

	for (; *name && n < sizeof(a->name[0]) - 8; name++) {
		char c = *name >= 'A' && *name <= 'Z' ? (char)(*name + 32) : *name;

		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			to[n++] = c;
		else if (n && to[n - 1] != '_')
			to[n++] = '_';
	}
	while (n && to[n - 1] == '_')
		n--;
	to[n] = 0;
	if (!n)
		snprintf(to, sizeof(a->name[0]), "column%zu", i + 1);
	for (size_t j = 0; j < i; j++)
		if (!strcmp(a->name[j], to)) {
			snprintf(to + strlen(to), 8, "_%zu", i + 1);
			break;
		}
}

static void result_take(struct sql_result *a, const struct sql_library *l, sqlite3_stmt *st)
{
	uint64_t row[2 + SQL_COLUMNS] = { 0 };

	for (size_t i = 0; i < a->n; i++) {
		int at = (int)i, type = l->column_type(st, at);
		uint64_t what = NOTHING;

		if (type == SQLITE_INTEGER) {
			int64_t v = l->column_int64(st, at);

			what = WHOLE;
			row[2 + i] = (uint64_t)v;
			a->negative[i] |= v < 0;
		} else if (type == SQLITE_FLOAT) {
			double v = l->column_double(st, at);

			what = FRACTION;
			memcpy(&row[2 + i], &v, sizeof(v));
			/* Thousandths of larger ones do not fit. */
			a->words[i] |= !(v >= 0 && v < 1e15);
			a->fraction[i] = true;
		} else if (type != SQLITE_NULL) {
			const char *s = (const char *)l->column_text(st, at);
			size_t len = (size_t)l->column_bytes(st, at);

			/* No column of a listing has bytes: they would end at the first zero. */
			if (!a->blob && (type == SQLITE_BLOB || (s && strlen(s) != len)))
				a->blob = i + 1;
			what = WORDS;
			a->words[i] = true;
			row[2 + i] = a->text.len;
			buf_add(&a->text, s ? s : "", s ? strlen(s) + 1 : 1);
		}
		row[i / 32] |= what << i % 32 * 2;
	}
	buf_add(&a->value, row, (2 + a->n) * sizeof(row[0]));
	a->rows++;
}

static void result_types(struct sql_result *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct atw_column *c = &a->column[i];
		bool hex = c->type == ATW_T_VA || c->type == ATW_T_PA || c->type == ATW_T_HEX;

		if (a->words[i] || (a->fraction[i] && a->negative[i])) {
			c->type = ATW_T_TEXT;
			c->width = 1;    /* as wide as its texts */
		} else if (a->fraction[i]) {
			c->type = ATW_T_SECONDS;
		} else if (a->negative[i] && !hex) {
			c->type = c->type == ATW_T_BYTES ? ATW_T_CHANGE_BYTES : ATW_T_CHANGE;
		}
	}
}

static int result_row(const struct sql_result *a, size_t i, struct atw_output *out,
		      struct atw_err *err)
{
	const uint64_t *from = (const uint64_t *)(const void *)a->value.data + i * (2 + a->n);
	char number[SQL_COLUMNS][32];
	union atw_value v[SQL_COLUMNS];
	struct atw_row row = { v, 0 };
	double d;

	for (size_t j = 0; j < a->n; j++) {
		uint64_t what = from[j / 32] >> j % 32 * 2 & 3, u = from[2 + j];
		bool text = a->column[j].type == ATW_T_TEXT;

		v[j].u = u;
		memcpy(&d, &u, sizeof(d));
		if (what == NOTHING)
			continue;
		row.have |= (uint64_t)1 << j;
		if (what == WORDS) {
			v[j].s = a->text.data + u;
		} else if (text) {
			if (what == FRACTION)
				snprintf(number[j], sizeof(number[0]), "%.15g", d);
			else
				snprintf(number[j], sizeof(number[0]), "%" PRId64, (int64_t)u);
			v[j].s = number[j];
		} else if (a->column[j].type == ATW_T_SECONDS) {
			v[j].u = what == FRACTION ? (uint64_t)(d * 1000 + 0.5) : u * 1000;
		}
	}
	return atw_output_row(out, &row, err);
}

static bool result_reads_plugin(const struct sql *s, const char *plugin)
{
	const struct sql_read *r = s->read;

	while (r && !(r->kind->plugin && !strcmp(r->kind->plugin, plugin)))
		r = r->next;
	return r;
}

/* A plugin of which a report is read has its columns in the report. *ret is to be freed. */
static int result_annotators(const struct sql *s, struct atw_output_opts *oo,
			     struct annotator **ret, struct atw_err *err)
{
	size_t n = 0;

	*ret = calloc(oo->nannotators + 1, sizeof(**ret));
	if (!*ret)
		return atw_err_nomem(err);
	for (size_t i = 0; i < oo->nannotators; i++)
		if (!result_reads_plugin(s, oo->annotators[i].plugin))
			(*ret)[n++] = oo->annotators[i];
	oo->annotators = *ret;
	oo->nannotators = n;
	return ATW_OK;
}

static int result_write(const struct sql *s, struct sql_result *a)
{
	struct annotator *annotators = NULL;
	const struct atw_schema schema = { "sql", a->column, a->n };
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	int r;

	rows_opts(s->c, &oo);
	oo.ahead = true;
	r = result_annotators(s, &oo, &annotators, &err) ?:
		atw_output_open(&oo, &schema, &out, &err);
	for (size_t i = 0; r == ATW_OK && i < a->rows; i++)
		r = result_row(a, i, out, &err);
	r = output_end(out, r, EXIT_COMPLETE, &err);
	free(annotators);
	return r;
}

static int result_refuse(const struct sql_result *a)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_USAGE, "sql: column '%s' has bytes that are not text: use hex()",
		    a->name[a->blob - 1]);
	return print_error(&err);
}

int sql_result(struct sql *s, sqlite3_stmt *st)
{
	const struct sql_library *l = s->lib;
	struct sql_result *a = calloc(1, sizeof(*a));
	int r = SQLITE_NOMEM, status, n = l->column_count(st);
	uint64_t sizes;

	if (!a)
		return print_nomem();
	a->n = n < SQL_COLUMNS ? (size_t)n : SQL_COLUMNS;
	if (n > SQL_COLUMNS) {
		status = usage_error("sql", "%d columns are more than %d", n, SQL_COLUMNS);
		goto done;
	}
	sizes = sql_sizes(s, st, a->n);
	for (size_t i = 0; i < a->n; i++) {
		const char *declared = l->column_decltype(st, (int)i);

		result_name(a, i, l->column_name(st, (int)i));
		a->column[i] = (struct atw_column){
			.key = a->name[i], .help = "a column of the query",
			.type = !declared && sizes >> i & 1 ? ATW_T_BYTES : sql_declared(declared),
		};
	}
	while ((r = l->step(st)) == SQLITE_ROW && !a->value.failed && !a->text.failed && !a->blob)
		result_take(a, l, st);
	if (a->value.failed || a->text.failed) {
		status = print_nomem();
	} else if (a->blob) {
		status = result_refuse(a);
	} else if (r != SQLITE_DONE) {
		status = sql_wrong(s);
	} else {
		result_types(a);
		status = result_write(s, a);
	}
done:
	buf_deinit(&a->value);
	buf_deinit(&a->text);
	free(a);
	return status;
}

#endif
