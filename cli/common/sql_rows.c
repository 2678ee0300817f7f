/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql_rows.c - rows of a listing, kept as long as a statement runs. */
#include "sql.h"

#include "base/hash.h"
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
	/* While they are read: only rows of this process, if there is one. */
	const struct sql_query *query;
	const char *leader;
	int pid_at, leader_at;           /* in the listing's schema; -1: it has none */
	struct sql_index *index;         /* of sql_rows_index(); a list */
	uint64_t *number, numbered;      /* of sql_rows_number(), and of which columns */
};

bool sql_is_text(enum atw_type type)
{
	return type == ATW_T_TEXT || type == ATW_T_ENUM || type == ATW_T_FLAGS ||
	       type == ATW_T_LETTERS;
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

bool sql_rows_add(struct sql_rows *r, const struct sql_rows *more)
{
	size_t at = r->value.len, texts = r->text.len;
	uint64_t *v;

	buf_add(&r->value, more->value.data, more->value.len);
	buf_add(&r->text, more->text.data, more->text.len);
	if (r->value.failed || r->text.failed)
		return false;
	v = (uint64_t *)(void *)(r->value.data + at);
	for (size_t i = 0; i < more->n; i++, v += 1 + r->nkept)
		for (size_t k = 0; k < r->nkept; k++)
			if (sql_is_text(r->kept[k].type))
				v[1 + k] += texts;
	r->n += more->n;
	return true;
}

/* ---- rows by the value of a column ---- */

/* Chains of rows with values of the same hash; a row is its number and 1, 0 is the end. */
struct sql_index {
	struct sql_index *next;
	const struct sql_rows *rows;
	size_t column;
	unsigned shift;
	uint32_t *head, *follow;
};

static bool sql_index_text(const struct sql_index *x)
{
	return sql_is_text(x->rows->column[x->column].type);
}

static size_t sql_index_place(const struct sql_index *x, union atw_value v)
{
	uint64_t h = sql_index_text(x) ? hash_bytes(0, v.s, strlen(v.s)) : hash_u64(v.u);

	return h >> x->shift;
}

static void sql_index_free(struct sql_index *x)
{
	free(x->head);
	free(x->follow);
	free(x);
}

static struct sql_index *sql_index_create(struct sql_rows *r, size_t column)
{
	struct sql_index *x = r->n < UINT32_MAX ? calloc(1, sizeof(*x)) : NULL;
	unsigned bits = 1;
	union atw_value v;

	if (!x)
		return NULL;
	while ((size_t)1 << bits < r->n)
		bits++;
	*x = (struct sql_index){ .next = r->index, .rows = r, .column = column, .shift = 64 - bits };
	x->head = calloc((size_t)1 << bits, sizeof(*x->head));
	x->follow = calloc(r->n + 1, sizeof(*x->follow));
	if (!x->head || !x->follow) {
		sql_index_free(x);
		return NULL;
	}
	/* From the last one, so that rows of one value are found as they came. */
	for (size_t i = r->n; i--;) {
		size_t place;

		if (!sql_rows_value(r, i, column, &v))
			continue;
		place = sql_index_place(x, v);
		x->follow[i] = x->head[place];
		x->head[place] = (uint32_t)i + 1;
	}
	r->index = x;
	return x;
}

const struct sql_index *sql_rows_index(struct sql_rows *r, size_t column)
{
	struct sql_index *x = r->index;

	while (x && x->column != column)
		x = x->next;
	return x ? x : sql_index_create(r, column);
}

/* The first of a chain that has the value. */
static size_t sql_index_seek(const struct sql_index *x, uint32_t at, union atw_value wanted)
{
	union atw_value v = { 0 };

	for (; at; at = x->follow[at - 1]) {
		sql_rows_value(x->rows, at - 1, x->column, &v);
		if (sql_index_text(x) ? !strcmp(v.s, wanted.s) : v.u == wanted.u)
			return at - 1;
	}
	return x->rows->n;
}

size_t sql_index_first(const struct sql_index *x, union atw_value value)
{
	return sql_index_seek(x, x->head[sql_index_place(x, value)], value);
}

size_t sql_index_next(const struct sql_index *x, size_t row)
{
	union atw_value v = { 0 };

	sql_rows_value(x->rows, row, x->column, &v);
	return sql_index_seek(x, x->follow[row], v);
}

/* ---- numbers of rows ---- */

static uint64_t sql_rows_hash(const struct sql_rows *r, size_t row, uint64_t columns)
{
	union atw_value v;
	uint64_t h = 0;

	for (size_t i = 0; i < r->ncols; i++) {
		if (!(columns >> i & 1))
			continue;
		if (!sql_rows_value(r, row, i, &v))
			h = hash_two(h, 0);
		else if (sql_is_text(r->column[i].type))
			h = hash_bytes(h, v.s, strlen(v.s));
		else
			h = hash_two(hash_two(h, 1), v.u);
	}
	return h;
}

/*
 * What the row has in these columns, and which it is of those that have the same. All of them
 * or none are in what is read for another query, which compares no other columns.
 */
static bool sql_rows_number_all(struct sql_rows *r, uint64_t columns)
{
	struct { uint64_t hash, n; } *seen;
	unsigned bits = 1;
	bool whole;

	while ((size_t)1 << bits < 2 * r->n)
		bits++;
	seen = calloc((size_t)1 << bits, sizeof(*seen));
	r->number = calloc(r->n + 1, sizeof(*r->number));
	whole = seen && r->number;
	for (size_t i = 0; whole && i < r->n; i++) {
		uint64_t h = sql_rows_hash(r, i, columns);
		size_t at = hash_u64(h) >> (64 - bits);

		while (seen[at].n && seen[at].hash != h)
			at = (at + 1) & (((size_t)1 << bits) - 1);
		seen[at].hash = h;
		r->number[i] = hash_two(h, seen[at].n++);
	}
	r->numbered = columns;
	free(seen);
	if (whole)
		return true;
	free(r->number);
	r->number = NULL;
	return false;
}

bool sql_rows_number(struct sql_rows *r, size_t row, uint64_t columns, uint64_t *ret)
{
	if (r->number && r->numbered != columns) {
		free(r->number);
		r->number = NULL;
	}
	if (!r->number && !sql_rows_number_all(r, columns))
		return false;
	*ret = r->number[row];
	return true;
}

void sql_rows_free(struct sql_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nkept; i++)
		buf_deinit(&r->kept[i].words.raw);
	buf_deinit(&r->value);
	buf_deinit(&r->text);
	for (struct sql_index *x = r->index, *next; x; x = next) {
		next = x->next;
		sql_index_free(x);
	}
	free(r->number);
	free(r);
}

/* ---- from a listing ---- */

static int sql_take_schema(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	struct sql_rows *r = arg;

	r->pid_at = schema_find(sc, "pid", 3);
	r->leader_at = r->leader ? schema_find(sc, r->leader, strlen(r->leader)) : -1;
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

/*
 * Is the row of the process in the query? For the number of a thread, listings have rows of
 * its process, and `ps` that of the thread.
 */
static bool sql_is_asked(const struct sql_rows *r, const struct atw_row *row)
{
	uint64_t pid = (uint64_t)r->query->pid;

	if (!r->query->has_pid)
		return true;
	if (r->pid_at < 0 || !(row->have >> r->pid_at & 1) || row->v[r->pid_at].u != pid)
		return false;
	return r->leader_at < 0 || !(row->have >> r->leader_at & 1) ||
	       row->v[r->leader_at].u == pid;
}

static int sql_take_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct sql_rows *r = arg;
	uint64_t v[1 + SQL_COLUMNS] = { 0 };

	if (!sql_is_asked(r, row))
		return ATW_OK;
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
	char pid[24], address[24], range[40];
};

static void sql_build(const struct sql *s, const struct sql_source *of, const struct sql_kind *k,
		      const struct sql_query *q, struct sql_line *l)
{
	const char *const words[] = { k->word, of->word, q->target };
	struct command_args *a = &l->args;
	struct common c = *s->c;

	if (k->option)
		command_arg(a, k->option);
	snprintf(l->pid, sizeof(l->pid), "%" PRId64, q->pid);
	snprintf(l->address, sizeof(l->address), "%" PRIx64, (uint64_t)q->address);
	snprintf(l->range, sizeof(l->range), "%" PRIx64 "-%" PRIx64, q->first, q->last);
	if (q->has_pid && *k->pid)
		command_arg_option(a, k->pid, l->pid);
	if (q->has_address)
		command_arg_option(a, k->address, l->address);
	command_arg_option(a, "--filter", *q->filter ? q->filter : NULL);
	for (size_t i = 0; i < SQL_PASSED && s->passed[i].option; i++)
		if ((!of->name || s->passed[i].attached) &&
		    command_takes(k->cmd, s->passed[i].option + 2))
			command_arg_option(a, s->passed[i].option, s->passed[i].value);
	for (size_t i = 0; k->plugin && i < s->c->plugin.n; i++)
		command_arg_option(a, "--plugin", s->c->plugin.v[i]);
	if (s->allow && command_takes(k->cmd, "allow-unreadable"))
		command_arg(a, "--allow-unreadable");
	/* Parts of SOURCE, and where its memory is, are of no other one. */
	if (of->name) {
		c.parts.n = 0;
		c.layout = NULL;
	}
	command_arg_common(a, &c);
	/* What a statement says is no option, whatever it looks like. */
	command_arg(a, "--");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i])
			command_arg(a, words[i]);
	if (q->has_pid && !*k->pid)
		command_arg(a, l->pid);
	if (q->has_range)
		command_arg(a, l->range);
	if (q->has_range && q->upper)
		command_arg(a, "8000000000000000-ffffffffffffffff");
}

int sql_rows_read(struct sql *s, const struct sql_source *of, const struct sql_kind *k,
		  const struct sql_text *column, size_t n, const struct sql_query *q,
		  struct sql_rows **ret)
{
	struct sql_rows *r = calloc(1, sizeof(*r));
	const struct atw_tap tap = { .open = sql_take_schema, .row = sql_take_row, .arg = r };
	struct sql_line line = { .pid = "" };
	struct buf asked = { 0 };
	int status;

	*ret = NULL;
	if (!r)
		return print_nomem();
	r->column = column;
	r->ncols = n;
	r->used = q->used;
	r->query = q;
	r->leader = k->leader;
	for (size_t i = 0; i < n; i++) {
		if (!(q->used >> i & 1))
			continue;
		r->place[i] = (uint8_t)r->nkept;
		r->kept[r->nkept] = (struct sql_kept){ .type = column[i].type, .at = -1 };
		r->kept[r->nkept].words.form = &r->kept[r->nkept].form;
		r->nkept++;
		buf_printf(&asked, " %s", column[i].name);
	}
	if (q->has_pid)
		buf_printf(&asked, " pid %s", k->leader ? k->leader : "");
	buf_printf(&asked, " %s ", q->filter);
	sql_build(s, of, k, q, &line);
	if (q->any_pid)
		diagnostics_silence(true);
	diagnostics_of_query(true);
	status = asked.failed || line.args.failed
			 ? print_nomem()
			 : command_tap(k->cmd, s->c, &tap, asked.data, line.args.n, line.args.v);
	diagnostics_of_query(false);
	r->query = NULL;
	if (q->any_pid)
		diagnostics_silence(false);
	command_args_deinit(&line.args);
	buf_deinit(&asked);
	/* Which of the processes that map an address? Without rows, it would seem unmapped. */
	if (status == EXIT_NO && !q->has_pid && diagnostics_query_lacks())
		status = EXIT_USAGE;
	/* Of the kernel, and the source has only processes: nothing is wrong with the query. */
	if (status == EXIT_USAGE && k->alone && !q->has_pid)
		status = EXIT_SOURCE;
	if (status == EXIT_SOURCE || status == EXIT_USAGE)
		sql_rows_free(r);
	else
		*ret = r;
	return status;
}

/* ---- its columns ---- */

struct sql_describe {
	const char *without;
	struct sql_text *ret;
	int n;
};

static bool sql_is_without(const char *list, const char *key)
{
	const char *word;
	size_t len;

	while (list_next(&list, &word, &len))
		if (strlen(key) == len && !memcmp(key, word, len))
			return true;
	return false;
}

static void sql_take_columns(void *arg, const struct atw_schema *sc)
{
	struct sql_describe *d = arg;

	d->n = 0;
	for (size_t i = 0; i < sc->ncols; i++)
		if (!sql_is_without(d->without, sc->col[i].key))
			d->ret[d->n++] = (struct sql_text){ strdup(sc->col[i].key), sc->col[i].type };
}

int sql_columns(struct sql *s, const struct sql_source *of, const struct sql_kind *k,
		struct sql_text ret[SQL_COLUMNS])
{
	const struct sql_query q = { .filter = "", .target = k->target ? "0" : NULL };
	struct sql_describe d = { .without = k->without, .ret = ret };
	struct sql_line line = { .pid = "" };
	struct sql_rows *rows;
	int status;

	sql_build(s, of, k, &q, &line);
	if (!line.args.failed)
		command_columns(k->cmd, s->c, sql_take_columns, &d, line.args.n, line.args.v);
	command_args_deinit(&line.args);
	if (d.n)
		return d.n;
	/* It says why not. */
	status = sql_rows_read(s, of, k, ret, 0, &q, &rows);
	sql_rows_free(rows);
	return -(status ? status : EXIT_SOURCE);
}
