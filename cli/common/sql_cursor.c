/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_cursor.c - cursors of virtual tables: the rows of a listing that a query needs.
 *
 * A join asks for the rows of each pid; after a few of them all rows are read at once, and kept
 * as long as the statement runs. Rows that are kept are found by an index of the column that a
 * join compares: SQLite makes none itself for virtual tables, and would look at every pair of
 * rows.
 */
#include "sql_table.h"
#include "base/message.h"
#include "base/sorted.h"

#ifdef HAVE_SQLITE3

/* Processes or addresses of a join, before all are read. */
enum { ONE_BY_ONE = 3 };
/* Processes of a list, before all are read and SQLite chooses: each has a listing of its own. */
enum { LIST_MOST = 32 };

struct sql_cursor {
	sqlite3_vtab_cursor base;
	struct sql_rows *rows;           /* borrowed, by others as well */
	const struct sql_index *index;   /* NULL: all of them, as they came */
	size_t at, end;
	const char *plan;                /* that `rows` are of, whatever it is compared with */
	uint64_t named;                  /* columns that the query names */
};

/* ---- reading ---- */

static struct sql_read *cursor_find_read(const struct sql_table *t, const char *key)
{
	struct sql_read *r = t->s->read;

	while (r && (r->of != t->of || r->kind != t->kind || strcmp(r->key, key) != 0))
		r = r->next;
	return r;
}

static struct sql_read *cursor_read_of(struct sql_table *t, const char *key)
{
	struct sql_read *r = cursor_find_read(t, key);

	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	*r = (struct sql_read){
		.next = t->s->read, .of = t->of, .kind = t->kind, .key = strdup(key),
	};
	t->s->read = r;
	return r->key ? r : NULL;
}

/* What the listing is asked for, in words: of two queries that are the same, one is read. */
static void cursor_key(const struct sql_query *q, struct buf *b)
{
	b->len = 0;
	buf_printf(b, "%" PRIx64 "|%s|%s|", q->used, q->filter, q->target ? q->target : "");
	if (q->has_pid && !q->npids)
		buf_printf(b, "%" PRId64, q->pid);
	for (size_t i = 0; i < q->npids; i++)
		buf_printf(b, "%" PRId64 ",", q->pids[i]);
	if (q->has_address)
		buf_printf(b, "@%" PRIx64, (uint64_t)q->address);
	if (q->has_range)
		buf_printf(b, "@%d,%" PRIx64 "-%" PRIx64, q->upper, q->first, q->last);
}

/* Does a row begin in front of `last`, and is it cut off by the end of what was read? */
static bool cursor_cut(const struct sql_table *t, const struct sql_rows *rows, uint64_t last,
		      uint64_t read)
{
	union atw_value address, end;

	for (size_t i = 0; i < sql_rows_count(rows); i++)
		if (sql_rows_value(rows, i, (size_t)t->address, &address) && address.u <= last &&
		    sql_rows_value(rows, i, (size_t)t->end, &end) && end.u >= read)
			return true;
	return false;
}

/*
 * Listings cut their rows at both ends of a range. So one page more is read in front: what
 * begins there is not asked for, and what begins behind it is whole. Behind the range more
 * and more is read until no row that is asked for reaches the end.
 */
static int cursor_read(struct sql_table *t, const struct sql_query *q, struct sql_rows **ret)
{
	static const uint64_t blocks[] = { 1 << 21, 1 << 30, (uint64_t)1 << 39, (uint64_t)1 << 63 };
	struct sql_query wider = *q;
	int status;

	if (!q->has_range)
		return sql_rows_read(t->s, t->of, t->kind, t->column, (size_t)t->n, q, ret);
	wider.first -= q->first < 4096 ? q->first : 4096;
	for (size_t i = 0;; i++) {
		wider.last = q->last | (blocks[i] - 1);
		status = sql_rows_read(t->s, t->of, t->kind, t->column, (size_t)t->n, &wider, ret);
		if (!*ret || i + 1 == ARRAY_SIZE(blocks) ||
		    !cursor_cut(t, *ret, q->last, wider.last))
			return status;
		sql_rows_free(*ret);
	}
}

/*
 * Reads rows of one process or of all. Of one that a join or a list names, it says what is wrong
 * with the rows, and if `aloud` why there are none.
 */
static int cursor_read_any(struct sql_table *t, const struct sql_query *q, bool aloud,
			   struct sql_rows **ret)
{
	int status = cursor_read(t, q, ret);
	struct sql_query again = *q;

	if (!q->any_pid || status == EXIT_COMPLETE || status == EXIT_NO || (!*ret && !aloud))
		return status;
	/* It says why. */
	again.any_pid = false;
	sql_rows_free(*ret);
	return cursor_read(t, &again, ret);
}

/*
 * Rows of several processes, one after the other. The first that cannot be read speaks for the
 * rest; only if none can, the query fails.
 */
static int cursor_read_list(struct sql_table *t, const struct sql_query *q, struct sql_rows **ret)
{
	struct sql_query one = *q;
	struct sql_rows *rows;
	int status = EXIT_COMPLETE, worst = EXIT_COMPLETE;
	bool denied = false, failed = false;

	one.npids = 0;
	one.any_pid = true;
	*ret = NULL;
	for (size_t i = 0; i < q->npids && !failed; i++) {
		one.pid = q->pids[i];
		status = cursor_read_any(t, &one, !denied, &rows);
		denied |= !rows;
		if (!rows)
			status = t->s->allow ? EXIT_COMPLETE : EXIT_PARTIAL;
		if (status > worst && status != EXIT_NO)
			worst = status;
		if (rows && *ret) {
			failed = !sql_rows_add(*ret, rows);
			sql_rows_free(rows);
		} else if (rows) {
			*ret = rows;
		}
	}
	if (!failed)
		return *ret ? worst : EXIT_SOURCE;
	sql_rows_free(*ret);
	*ret = NULL;
	return print_nomem();
}

/* Is it one process of a join, which may as well be found in the rows of all? */
static bool cursor_is_joined(const struct sql_table *t, const struct sql_query *q)
{
	return q->any_pid && !t->kind->target && !t->kind->alone;
}

/* Rows of that query: read, unless they were; NULL: that process of a join cannot be read. */
static int cursor_rows(struct sql_table *t, const struct sql_query *q, struct sql_read **ret)
{
	struct buf key = { 0 };
	int status;

	cursor_key(q, &key);
	*ret = key.failed ? NULL : cursor_read_of(t, key.data);
	buf_deinit(&key);
	if (!*ret)
		return SQLITE_NOMEM;
	if ((*ret)->rows)
		return SQLITE_OK;
	status = q->npids ? cursor_read_list(t, q, &(*ret)->rows)
			  : cursor_read_any(t, q, !cursor_is_joined(t, q), &(*ret)->rows);
	if (!(*ret)->rows && cursor_is_joined(t, q))
		return SQLITE_OK;
	/* That nothing is mapped, or that there is no such process, is no row. */
	if (status > t->s->status && status != EXIT_NO)
		t->s->status = status;
	return (*ret)->rows ? SQLITE_OK : sql_table_fail(t, _("its listing failed"));
}

/*
 * Only rows with that value in the column. A value of another type may still be equal to one
 * of the column's, by rules that are SQLite's: it compares all rows then.
 */
static int cursor_choose(struct sql_cursor *c, int column, sqlite3_value *value)
{
	const struct sql_table *t = (struct sql_table *)c->base.pVtab;
	const struct sql_library *l = t->s->lib;
	bool text = sql_is_text(t->column[column].type);
	union atw_value v = { 0 };

	if (l->value_type(value) == SQLITE_NULL) {
		c->end = 0;
		return SQLITE_OK;
	}
	if (l->value_type(value) != (text ? SQLITE_TEXT : SQLITE_INTEGER))
		return SQLITE_OK;
	if (text)
		v.s = (const char *)l->value_text(value);
	else
		v.u = (uint64_t)l->value_int64(value);
	c->index = text && !v.s ? NULL : sql_rows_index(c->rows, (size_t)column);
	if (!c->index)
		return SQLITE_NOMEM;
	c->at = sql_index_first(c->index, v);
	return SQLITE_OK;
}

/* What the listing does of it; the rest of the rows is left out by an index, or by SQLite. */
static void cursor_settle(const struct sql_table *t, struct sql_query *q)
{
	/* Without a process, those are addresses of the kernel. */
	q->has_range &= !q->has_address && (q->has_pid || !t->kind->alone);
	q->upper &= !t->kind->alone;
	if (q->has_range)
		q->used |= (uint64_t)1 << t->address | (uint64_t)1 << t->end;
}

static bool cursor_is_read(struct sql_table *t, const struct sql_query *q, struct buf *key)
{
	struct sql_query settled = *q;
	const struct sql_read *r;

	cursor_settle(t, &settled);
	cursor_key(&settled, key);
	r = key->failed ? NULL : cursor_find_read(t, key->data);
	return r && r->rows;
}

/*
 * A join asks for another process or address with each row. After a few pages that were read
 * one by one, all of the process is read at once, and after a few processes all of them. What
 * was read before is asked for again and does not count: a join of one process reads no other.
 */
static int cursor_choose_query(struct sql_table *t, int number, struct sql_query *q)
{
	struct sql_read *all = cursor_read_of(t, "all");
	struct buf key = { 0 };
	bool one, failed;

	if (!all)
		return SQLITE_NOMEM;
	if (!t->kind->target && !t->kind->alone) {
		if (q->npids > LIST_MOST) {
			q->has_pid = false;
			q->npids = 0;
		}
		if (number & ADDRESS_VARIES && !cursor_is_read(t, q, &key))
			q->has_address = all->addresses++ < ONE_BY_ONE;
		one = number & ADDRESS_VARIES && q->has_address;
		if (number & PID_VARIES && !one && !cursor_is_read(t, q, &key))
			q->has_pid = all->pids++ < ONE_BY_ONE;
	}
	cursor_settle(t, q);
	failed = key.failed;
	buf_deinit(&key);
	return failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* Is it the number of a process? Nothing equals n/a, and no process is a fraction. */
static bool cursor_is_pid(const struct sql_library *l, sqlite3_value *v, int64_t *ret)
{
	return sql_value_whole(l, v, ret) && *ret > 0 && *ret <= INT32_MAX;
}

/* Values that are not equal may be one number: 99 and '99'. */
static size_t cursor_sort_pids(int64_t *pids, size_t n)
{
	size_t kept = 0;

	SORT(pids, n, sorted_by_u64);
	for (size_t i = 0; i < n; i++)
		if (!kept || pids[i] != pids[kept - 1])
			pids[kept++] = pids[i];
	return kept;
}

/* The numbers in a list into the query; no number: has_pid stays false. */
static int cursor_take_list(const struct sql_library *l, sqlite3_value *list, struct sql_query *q)
{
	int64_t *pids = NULL, pid;
	size_t n = 0, cap = 0;
	sqlite3_value *v;

	for (int r = l->vtab_in_first(list, &v); r == SQLITE_OK && v; r = l->vtab_in_next(list, &v)) {
		if (!cursor_is_pid(l, v, &pid))
			continue;
		if (!ARRAY_ROOM(pids, n, cap)) {
			free(pids);
			return SQLITE_NOMEM;
		}
		pids[n++] = pid;
	}
	q->npids = cursor_sort_pids(pids, n);
	q->pids = pids;
	q->has_pid = q->npids > 0;
	return SQLITE_OK;
}

/* Where the values are that xFilter is given; -1: it is not. */
struct cursor_places {
	int pid, address, by;
	char target[24];                 /* of a number: as a listing takes it */
};

/* A text is as in the listing, where kernel addresses are no negative numbers. */
static const char *cursor_target(const struct sql_library *l, sqlite3_value *v, char number[24])
{
	if (l->value_type(v) != SQLITE_INTEGER)
		return (const char *)l->value_text(v);
	snprintf(number, 24, "%" PRIx64, (uint64_t)l->value_int64(v));
	return number;
}

/* The values into the query. false in *ret_any: no row is equal to them. */
static int cursor_take(struct sql_table *t, int number, sqlite3_value **argv, struct sql_query *q,
		       struct cursor_places *at, bool *ret_any)
{
	const struct sql_library *l = t->s->lib;
	int arg = 0, r = SQLITE_OK;

	*at = (struct cursor_places){ .pid = -1, .address = -1, .by = -1 };
	*ret_any = false;
	if (number & WITH_TARGET) {
		q->target = cursor_target(l, argv[arg++], at->target);
		if (!q->target)
			return SQLITE_OK;
	}
	if (number & WITH_PID) {
		at->pid = arg++;
		if (number & PID_LIST)
			r = cursor_take_list(l, argv[at->pid], q);
		else
			q->has_pid = cursor_is_pid(l, argv[at->pid], &q->pid);
		if (r != SQLITE_OK || !q->has_pid)
			return r;
		q->used |= (uint64_t)1 << t->pid;
	}
	if (number & WITH_ADDRESS) {
		at->address = arg++;
		if (!sql_value_whole(l, argv[at->address], &q->address))
			return SQLITE_OK;
		q->has_address = true;
		q->used |= (uint64_t)1 << t->address;
	}
	at->by = arg;
	*ret_any = true;
	return SQLITE_OK;
}

/* Reads the rows of the query, and chooses those with the values that it leaves open. */
static int cursor_seek(struct sql_cursor *c, int number, const char *plan, sqlite3_value **argv,
		       struct sql_query *q, const struct cursor_places *at)
{
	struct sql_table *t = (struct sql_table *)c->base.pVtab;
	int by = (number >> INDEX_SHIFT) - 1, r;
	struct sql_read *one;

	if (by >= 0)
		q->used |= (uint64_t)1 << by;
	r = cursor_choose_query(t, number, q);
	if (r != SQLITE_OK)
		return r;
	q->any_pid = q->has_pid && number & PID_VARIES;
	r = cursor_rows(t, q, &one);
	if (r != SQLITE_OK)
		return r;
	if (!one->rows) {
		/* The listing of all has those that can be read, and says how many cannot. */
		q->has_pid = q->any_pid = false;
		cursor_read_of(t, "all")->pids = ONE_BY_ONE;
		cursor_settle(t, q);
		r = cursor_rows(t, q, &one);
		if (r != SQLITE_OK)
			return r;
	}
	c->rows = one->rows;
	c->end = sql_rows_count(c->rows);
	if (!(number & (WITH_TARGET | WITH_PID | WITH_ADDRESS)))
		c->plan = plan;
	if (by >= 0)
		return cursor_choose(c, by, argv[at->by]);
	if (number & WITH_ADDRESS && !q->has_address)
		return cursor_choose(c, t->address, argv[at->address]);
	if (number & WITH_PID && !(number & PID_LIST) && !q->has_pid)
		return cursor_choose(c, t->pid, argv[at->pid]);
	return SQLITE_OK;
}

int sql_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		      sqlite3_value **argv)
{
	struct sql_cursor *c = (struct sql_cursor *)base;
	struct sql_table *t = (struct sql_table *)base->pVtab;
	struct sql_query q = { 0 };
	struct cursor_places at;
	bool any;
	int by = (number >> INDEX_SHIFT) - 1, r;

	c->index = NULL;
	c->at = c->end = 0;
	/* Thousands of times, of a join: only the value that is looked for is another one. */
	if (c->plan == plan) {
		c->end = sql_rows_count(c->rows);
		return by < 0 ? SQLITE_OK : cursor_choose(c, by, argv[0]);
	}
	c->rows = NULL;
	sql_plan_query(t, plan, &q);
	c->named = q.used;
	r = cursor_take(t, number, argv, &q, &at, &any);
	if (r == SQLITE_OK && any)
		r = cursor_seek(c, number, plan, argv, &q, &at);
	free((int64_t *)(uintptr_t)q.pids);
	return r;
}

/* ---- cursors ---- */

int sql_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct sql_table *t = (struct sql_table *)base;
	/* The statement is about the table, even if no row of it is needed. */
	struct sql_cursor *c = cursor_read_of(t, "all") ? calloc(1, sizeof(*c)) : NULL;

	*ret = c ? &c->base : NULL;
	return c ? SQLITE_OK : SQLITE_NOMEM;
}

int sql_cursor_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

int sql_cursor_next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *c = (struct sql_cursor *)base;

	c->at = c->index ? sql_index_next(c->index, c->at) : c->at + 1;
	return SQLITE_OK;
}

int sql_cursor_eof(sqlite3_vtab_cursor *base)
{
	const struct sql_cursor *c = (struct sql_cursor *)base;

	return c->at >= c->end;
}

int sql_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
{
	const struct sql_cursor *c = (struct sql_cursor *)base;
	const struct sql_table *t = (struct sql_table *)base->pVtab;
	const struct sql_library *l = t->s->lib;
	union atw_value v;

	if (column >= t->n || !sql_rows_value(c->rows, c->at, (size_t)column, &v))
		l->result_null(to);
	else if (sql_is_text(t->column[column].type))
		/* Borrowed: the rows outlive the statement. */
		l->result_text(to, v.s, -1, SQLITE_STATIC);
	else if (t->column[column].type == ATW_T_SECONDS)
		l->result_double(to, (double)v.u / 1000);
	else
		l->result_int64(to, (int64_t)v.u);
	return SQLITE_OK;
}

int sql_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	const struct sql_cursor *c = (struct sql_cursor *)base;
	uint64_t number;

	/* Of rows that either of two conditions chooses, SQLite leaves those out that it had. */
	if (!sql_rows_number(c->rows, c->at, c->named, &number))
		return SQLITE_NOMEM;
	*ret = (sqlite3_int64)number;
	return SQLITE_OK;
}

#endif
