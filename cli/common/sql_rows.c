/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_rows.c - rows of a listing, kept as long as a statement runs. */
#include "sql.h"

#include "output/sink.h"
#include "record/schema.h"

/* A column that is kept. */
struct sql_kept {
	enum atw_type type;
	int at;                          /* in the listing's schema; -1: it has none */
	struct cell words;               /* of ENUM, FLAGS and LETTERS */
	struct form form;                /* of `words`, which needs one */
	uint64_t last;                   /* text of the row before: 1 + its offset */
};

struct sql_rows {
	const struct sql_text *column;
	size_t n, ncols, nkept;
	uint64_t used;
	uint8_t place[SQL_COLUMNS];      /* of a column among those that are kept */
	struct sql_kept kept[SQL_COLUMNS];
	struct buf value;                /* uint64_t: `have`, then those that are kept; each row */
	struct buf text;
	size_t *order;                   /* of sql_rows_find(); NULL: none */
	size_t order_by;
};

bool sql_is_text(enum atw_type type)
{
	return type == ATW_T_TEXT || type == ATW_T_ENUM || type == ATW_T_FLAGS ||
	       type == ATW_T_LETTERS;
}

void sql_rows_free(struct sql_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nkept; i++)
		buf_deinit(&r->kept[i].words.raw);
	buf_deinit(&r->value);
	buf_deinit(&r->text);
	free(r->order);
	free(r);
}

size_t sql_rows_count(const struct sql_rows *r)
{
	return r->n;
}

static const uint64_t *rows_of(const struct sql_rows *r, size_t row)
{
	return (const uint64_t *)(const void *)r->value.data + row * (1 + r->nkept);
}

bool sql_rows_value(const struct sql_rows *r, size_t row, size_t column, union atw_value *ret)
{
	const uint64_t *v = rows_of(r, row);
	size_t at = r->place[column];

	if (!(r->used >> column & 1) || !(v[0] >> at & 1))
		return false;
	if (sql_is_text(r->kept[at].type))
		ret->s = r->text.data + v[1 + at];
	else
		ret->u = v[1 + at];
	return true;
}

/* ---- rows by the value of a column ---- */

struct sql_sorting {
	const struct sql_rows *r;
	size_t column;
};

/* n/a first; rows of one value stay as they came. */
static int sql_compare(const void *a, const void *b, void *arg)
{
	const struct sql_sorting *s = arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	union atw_value u = { 0 }, v = { 0 };
	bool have_u = sql_rows_value(s->r, x, s->column, &u);
	bool have_v = sql_rows_value(s->r, y, s->column, &v);

	if (have_u != have_v)
		return have_u ? 1 : -1;
	if (u.u != v.u)
		return u.u < v.u ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool sql_rows_order(struct sql_rows *r, size_t column)
{
	struct sql_sorting s = { r, column };

	if (r->order && r->order_by == column)
		return true;
	if (!r->order)
		r->order = calloc(r->n + 1, sizeof(*r->order));
	if (!r->order)
		return false;
	for (size_t i = 0; i < r->n; i++)
		r->order[i] = i;
	qsort_r(r->order, r->n, sizeof(*r->order), sql_compare, &s);
	r->order_by = column;
	return true;
}

size_t sql_rows_find(struct sql_rows *r, size_t column, int64_t value, size_t *ret_first)
{
	size_t lo = 0, hi = r->n, end;
	union atw_value v;

	*ret_first = 0;
	if (!sql_rows_order(r, column))
		return 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (!sql_rows_value(r, r->order[mid], column, &v) || v.u < (uint64_t)value)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < r->n && sql_rows_value(r, r->order[end], column, &v) &&
		       v.u == (uint64_t)value;)
		end++;
	*ret_first = lo;
	return end - lo;
}

size_t sql_rows_at(const struct sql_rows *r, size_t i)
{
	return r->order[i];
}

/* ---- from a listing ---- */

static int sql_take_schema(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct sql_rows *r = arg;

	for (size_t i = 0; i < r->ncols; i++) {
		struct sql_kept *k = &r->kept[r->place[i]];

		if (!(r->used >> i & 1))
			continue;
		k->at = schema_find(sc, r->column[i].name, strlen(r->column[i].name));
		if (k->at >= 0)
			k->words.col = &sc->col[k->at];
	}
	return ATW_OK;
}

/* Rows that follow each other mostly have the same text. */
static uint64_t sql_take_text(struct sql_rows *r, struct sql_kept *k, const char *s)
{
	if (!k->last || strcmp(r->text.data + k->last - 1, s) != 0) {
		k->last = r->text.len + 1;
		buf_add(&r->text, s, strlen(s) + 1);
	}
	return k->last - 1;
}

static int sql_take_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct sql_rows *r = arg;
	uint64_t v[1 + SQL_COLUMNS] = { 0 };

	for (size_t i = 0; i < r->nkept; i++) {
		struct sql_kept *k = &r->kept[i];
		const union atw_value *from = &row->v[k->at < 0 ? 0 : k->at];

		if (k->at < 0 || !(row->have >> k->at & 1))
			continue;
		v[0] |= (uint64_t)1 << i;
		if (k->type == ATW_T_TEXT)
			v[1 + i] = sql_take_text(r, k, from->s);
		else if (sql_is_text(k->type))
			v[1 + i] = sql_take_text(r, k, cell_words(&k->words, from->u));
		else
			v[1 + i] = k->type == ATW_T_LIST ? from->list->n : from->u;
	}
	buf_add(&r->value, v, (1 + r->nkept) * sizeof(v[0]));
	r->n++;
	return r->value.failed || r->text.failed ? atw_err_nomem(err) : ATW_OK;
}

/* ---- its command line ---- */

struct sql_line {
	struct command_args args;
	char pid[24], address[24];
};

static void sql_build(const struct sql *s, const struct sql_kind *k, const struct sql_query *q,
		      struct sql_line *l)
{
	const char *const words[] = { k->first, s->source, k->last, q->target };
	struct command_args *a = &l->args;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i])
			command_arg(a, words[i]);
	snprintf(l->pid, sizeof(l->pid), "%" PRId64, q->pid);
	snprintf(l->address, sizeof(l->address), "%" PRIx64, (uint64_t)q->address);
	if (q->has_pid && !*k->pid)
		command_arg(a, l->pid);
	else if (q->has_pid)
		command_arg_option(a, k->pid, l->pid);
	if (q->has_address)
		command_arg_option(a, k->address, l->address);
	command_arg_option(a, "--filter", *q->filter ? q->filter : NULL);
	for (size_t i = 0; i < SQL_PASSED && s->passed[i].option; i++)
		if (command_takes(k->cmd, s->passed[i].option + 2))
			command_arg_option(a, s->passed[i].option, s->passed[i].value);
	if (s->allow && command_takes(k->cmd, "allow-unreadable"))
		command_arg(a, "--allow-unreadable");
	command_arg_common(a, s->c);
}

int sql_rows_read(struct sql *s, const struct sql_kind *k, const struct sql_text *column,
		  size_t n, const struct sql_query *q, struct sql_rows **ret)
{
	struct sql_rows *r = calloc(1, sizeof(*r));
	const struct atw_tap tap = { sql_take_schema, sql_take_row, r };
	struct sql_line line = { .pid = "" };
	struct buf asked = { 0 };
	int status;

	*ret = NULL;
	if (!r)
		return print_nomem();
	r->column = column;
	r->ncols = n;
	r->used = q->used;
	for (size_t i = 0; i < n; i++) {
		if (!(q->used >> i & 1))
			continue;
		r->place[i] = (uint8_t)r->nkept;
		r->kept[r->nkept] = (struct sql_kept){ .type = column[i].type, .at = -1 };
		r->kept[r->nkept].words.form = &r->kept[r->nkept].form;
		r->nkept++;
		buf_printf(&asked, " %s", column[i].name);
	}
	buf_printf(&asked, " %s ", q->filter);
	sql_build(s, k, q, &line);
	diagnostics_silence(q->any_pid);
	diagnostics_of_query(true);
	status = asked.failed || line.args.failed
			 ? print_nomem()
			 : command_tap(k->cmd, s->c, &tap, asked.data, line.args.n, line.args.v);
	diagnostics_of_query(false);
	diagnostics_silence(false);
	command_args_deinit(&line.args);
	buf_deinit(&asked);
	if (status == EXIT_SOURCE || status == EXIT_USAGE)
		sql_rows_free(r);
	else
		*ret = r;
	return status;
}

/* ---- its columns ---- */

struct sql_describe {
	struct sql_text *ret;
	int n;
};

static void sql_take_columns(void *arg, const struct atw_schema *sc)
{
	struct sql_describe *d = arg;

	for (d->n = 0; (size_t)d->n < sc->ncols; d->n++)
		d->ret[d->n] = (struct sql_text){ strdup(sc->col[d->n].key), sc->col[d->n].type };
}

int sql_columns(struct sql *s, const struct sql_kind *k, struct sql_text ret[SQL_COLUMNS])
{
	const struct sql_query q = { .filter = "", .target = k->target ? "0" : NULL };
	struct sql_describe d = { .ret = ret };
	struct sql_line line = { .pid = "" };
	struct sql_rows *rows;
	int status;

	sql_build(s, k, &q, &line);
	if (!line.args.failed)
		command_columns(k->cmd, s->c, sql_take_columns, &d, line.args.n, line.args.v);
	command_args_deinit(&line.args);
	if (d.n)
		return d.n;
	/* It says why not. */
	status = sql_rows_read(s, k, ret, 0, &q, &rows);
	sql_rows_free(rows);
	return -(status ? status : EXIT_SOURCE);
}
