/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_table.c - virtual tables of SQLite: which rows of a listing a query needs.
 *
 * Equal pid, address and what a table must be given select what the listing reads, and so do
 * addresses that are compared with numbers of the lower half; other comparisons with numbers
 * become its --filter. A join asks for the rows of each pid; after a few of them all rows are
 * read at once, and kept as long as the statement runs. Rows that are kept are found by an
 * index of the column that a join compares: SQLite makes none itself for virtual tables, and
 * would look at every pair of rows.
 */
#include "sql.h"
#include "base/message.h"

#ifdef HAVE_SQLITE3

enum {
	WITH_TARGET = 1, WITH_PID = 2, WITH_ADDRESS = 4,
	PID_VARIES = 8,                  /* it comes from another table */
	ADDRESS_VARIES = 16,
	INDEX_SHIFT = 8,                 /* above: 1 + the column of an index; 0: none */
	ONE_BY_ONE = 3,                  /* of a join, before all are read */
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

struct sql_cursor {
	sqlite3_vtab_cursor base;
	struct sql_rows *rows;           /* borrowed, by others as well */
	const struct sql_index *index;   /* NULL: all of them, as they came */
	size_t at, end;
	const char *plan;                /* that `rows` are of, whatever it is compared with */
};

struct sql_module {
	struct sql *s;
	const struct sql_source *of;
	const struct sql_kind *kind;
};

/* ---- columns ---- */

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

static int table_fail(struct sql_table *t, const char *text)
{
	struct sql *s = t->s;

	s->lib->free(t->base.zErrMsg);
	t->base.zErrMsg = s->lib->mprintf("%s", text);
	return SQLITE_ERROR;
}

static int sql_disconnect(sqlite3_vtab *base)
{
	struct sql_table *t = (struct sql_table *)base;

	for (int i = 0; i < t->n; i++)
		free((char *)(uintptr_t)t->column[i].name);
	free(t);
	return SQLITE_OK;
}

static int sql_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
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
		sql_disconnect(&t->base);
	else
		*ret = &t->base;
	return r;
}

/* ---- which rows ---- */

/* The value of the right side, if it is known before rows are read. */
static sqlite3_value *table_known(const struct sql_table *t, sqlite3_index_info *x, int i)
{
	const struct sql_library *l = t->s->lib;
	sqlite3_value *v;

	return l->vtab_rhs_value && l->vtab_rhs_value(x, i, &v) == SQLITE_OK ? v : NULL;
}

/* The same, of a number. */
static bool table_constant(const struct sql_table *t, sqlite3_index_info *x, int i, int64_t *ret)
{
	const struct sql_library *l = t->s->lib;
	sqlite3_value *v = table_known(t, x, i);

	if (!v || l->value_type(v) != SQLITE_INTEGER)
		return false;
	*ret = l->value_int64(v);
	return true;
}

/* A comparison that the listing can do: fewer rows are kept then. SQLite does it again. */
static void table_add_filter(const struct sql_table *t, sqlite3_index_info *x, int i, struct buf *b)
{
	const struct sqlite3_index_constraint *c = &x->aConstraint[i];
	static const struct { unsigned char op; const char *text; } ops[] = {
		{ SQLITE_INDEX_CONSTRAINT_EQ, "=" }, { SQLITE_INDEX_CONSTRAINT_GT, ">" },
		{ SQLITE_INDEX_CONSTRAINT_GE, ">=" }, { SQLITE_INDEX_CONSTRAINT_LT, "<" },
		{ SQLITE_INDEX_CONSTRAINT_LE, "<=" },
	};
	enum atw_type type;
	int64_t v;

	if (c->iColumn < 0 || c->iColumn >= t->n)
		return;
	type = t->column[c->iColumn].type;
	/* Numbers of 64 bits compare as SQLite does only below 2^63, and these are. */
	if ((type != ATW_T_COUNT && type != ATW_T_BYTES) || !table_constant(t, x, i, &v) || v < 0)
		return;
	for (size_t o = 0; o < ARRAY_SIZE(ops); o++)
		if (ops[o].op == c->op)
			buf_printf(b, "%s%s%s%" PRId64, b->len ? " and " : "",
				   t->column[c->iColumn].name, ops[o].text, v);
}

/* Is it equal to what another table has, and can an index say where? */
static bool table_indexed(const struct sql_table *t, sqlite3_index_info *x, int i)
{
	const struct sqlite3_index_constraint *c = &x->aConstraint[i];
	const struct sql_library *l = t->s->lib;
	enum atw_type type;

	if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn < 0 || c->iColumn >= t->n ||
	    table_known(t, x, i))
		return false;
	type = t->column[c->iColumn].type;
	/* Texts are equal byte by byte, and not as some other collation says. */
	return sql_is_text(type) ? l->vtab_collation && !strcmp(l->vtab_collation(x, i), "BINARY") :
				   type != ATW_T_SECONDS;
}

/* Addresses of the lower half, from `first` to `last`: all of it, unless a comparison narrows it. */
struct table_range {
	int64_t first, last;
	bool low, high;                  /* which of them the query has */
};

/*
 * Is the comparison one of addresses with a number? Then it narrows the range. Addresses of
 * the upper half are negative numbers to SQLite.
 */
static bool table_add_range(const struct sql_table *t, sqlite3_index_info *x, int i,
			    struct table_range *r)
{
	const struct sqlite3_index_constraint *c = &x->aConstraint[i];
	bool low = c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT;
	bool high = c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT;
	int64_t v;

	if (!t->kind->ranges || t->address < 0 || t->end < 0 || c->iColumn != t->address ||
	    (!low && !high) || !table_constant(t, x, i, &v) || v < 0)
		return false;
	if (low && v > r->first)
		r->first = v;
	if (high && v < r->last)
		r->last = v;
	r->low |= low;
	r->high |= high;
	return true;
}

/*
 * "pid,physical @400000-4fffff size>65536": columns, or "-"; addresses, "@-" if the upper half
 * is in it as well; and the filter. EXPLAIN shows it.
 */
static char *table_plan(const struct sql_table *t, uint64_t used, const struct table_range *range,
			const char *filter)
{
	struct buf b = { 0 };
	char *ret = NULL;

	for (int i = 0; i < t->n; i++)
		if (used >> i & 1)
			buf_printf(&b, "%s%s", b.len ? "," : "", t->column[i].name);
	if (!b.len)
		buf_str(&b, "-");
	if (range->low || range->high)
		buf_printf(&b, " @%.*" PRIx64 "-%" PRIx64, range->low ? 1 : 0,
			   (uint64_t)range->first, (uint64_t)range->last);
	if (*filter)
		buf_printf(&b, " %s", filter);
	if (!b.failed)
		ret = t->s->lib->mprintf("%s", b.data);
	buf_deinit(&b);
	return ret;
}

static uint64_t table_plan_columns(const struct sql_table *t, const char *plan)
{
	const char *word, *end = plan + strcspn(plan, " ");
	uint64_t used = 0;
	size_t len;

	for (word = plan; word < end; word += len + 1) {
		len = strcspn(word, ", ");
		for (int i = 0; i < t->n; i++)
			if (strlen(t->column[i].name) == len && !memcmp(t->column[i].name, word, len))
				used |= (uint64_t)1 << i;
	}
	return used;
}

/* What follows the columns: the range into the query. Returns the filter. */
static const char *table_plan_range(const char *plan, struct sql_query *q)
{
	const char *s = plan + strcspn(plan, " ");
	char *end;

	if (s[0] != ' ' || s[1] != '@')
		return *s ? s + 1 : s;
	s += 2;
	q->has_range = true;
	q->upper = *s == '-';
	q->first = strtoull(s, &end, 16);
	if (q->upper)
		q->first = 0;
	q->last = strtoull(q->upper ? s + 1 : end + 1, &end, 16);
	return *end ? end + 1 : end;
}

static int sql_best(sqlite3_vtab *base, sqlite3_index_info *x)
{
	struct sql_table *t = (struct sql_table *)base;
	int target = -1, pid = -1, address = -1, by = -1, arg = 0;
	struct table_range range = { .last = INT64_MAX };
	struct buf b = { 0 };
	int64_t v;

	for (int i = 0; i < x->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &x->aConstraint[i];
		bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;

		if (t->kind->target && c->iColumn == t->n && equal && !c->usable)
			return SQLITE_CONSTRAINT;
		if (!c->usable)
			continue;
		if (t->kind->target && c->iColumn == t->n && equal)
			target = i;
		else if (t->kind->pid && c->iColumn == t->pid && t->pid >= 0 && equal)
			pid = i;
		else if (t->kind->address && c->iColumn == t->address && t->address >= 0 && equal)
			address = i;
		else if (table_indexed(t, x, i))
			by = i;
		else if (!table_add_range(t, x, i, &range))
			table_add_filter(t, x, i, &b);
	}
	if (t->kind->target && target < 0) {
		char text[128];

		snprintf(text, sizeof(text), _("%s needs %s: SELECT * FROM %s('...')"), t->kind->name,
			 message(t->kind->target), t->kind->name);
		buf_deinit(&b);
		return table_fail(t, text);
	}
	x->estimatedCost = 1e6;
	x->estimatedRows = 100000;
	if (target >= 0) {
		x->idxNum |= WITH_TARGET;
		x->aConstraintUsage[target].argvIndex = ++arg;
		x->aConstraintUsage[target].omit = 1;
		x->estimatedCost = 1e3;
	}
	if (pid >= 0) {
		x->idxNum |= WITH_PID | (table_constant(t, x, pid, &v) ? 0 : PID_VARIES);
		x->aConstraintUsage[pid].argvIndex = ++arg;
		x->estimatedCost /= 1e3;
		x->estimatedRows = 1000;
	}
	if (address >= 0) {
		x->idxNum |= WITH_ADDRESS | (table_constant(t, x, address, &v) ? 0 : ADDRESS_VARIES);
		x->aConstraintUsage[address].argvIndex = ++arg;
		x->estimatedCost /= 10;
		x->estimatedRows = 10;
	}
	if (range.low || range.high)
		x->estimatedCost /= 2;
	if (by >= 0) {
		x->idxNum |= (x->aConstraint[by].iColumn + 1) << INDEX_SHIFT;
		x->aConstraintUsage[by].argvIndex = ++arg;
		/* Reading comes once, and not for each row of the other table. */
		x->estimatedCost = 20;
		x->estimatedRows = 10;
	}
	/* Rows that are cut off at the end of a range are smaller than they should be. */
	x->idxStr = table_plan(t, x->colUsed, &range,
			       b.data && !range.low && !range.high ? b.data : "");
	x->needToFreeIdxStr = 1;
	buf_deinit(&b);
	return x->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- reading ---- */

static struct sql_read *table_find_read(const struct sql_table *t, const char *key)
{
	struct sql_read *r = t->s->read;

	while (r && (r->of != t->of || r->kind != t->kind || strcmp(r->key, key) != 0))
		r = r->next;
	return r;
}

static struct sql_read *table_read_of(struct sql_table *t, const char *key)
{
	struct sql_read *r = table_find_read(t, key);

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
static void table_key(const struct sql_query *q, struct buf *b)
{
	b->len = 0;
	buf_printf(b, "%" PRIx64 "|%s|%s|", q->used, q->filter, q->target ? q->target : "");
	if (q->has_pid)
		buf_printf(b, "%" PRId64, q->pid);
	if (q->has_address)
		buf_printf(b, "@%" PRIx64, (uint64_t)q->address);
	if (q->has_range)
		buf_printf(b, "@%d,%" PRIx64 "-%" PRIx64, q->upper, q->first, q->last);
}

/* Does a row begin in front of `last`, and is it cut off by the end of what was read? */
static bool table_cut(const struct sql_table *t, const struct sql_rows *rows, uint64_t last,
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
static int table_read(struct sql_table *t, const struct sql_query *q, struct sql_rows **ret)
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
		    !table_cut(t, *ret, q->last, wider.last))
			return status;
		sql_rows_free(*ret);
	}
}

/* Rows of that query: read, unless they were. */
static int table_rows(struct sql_table *t, const struct sql_query *q, struct sql_read **ret)
{
	struct buf key = { 0 };
	int status;

	table_key(q, &key);
	*ret = key.failed ? NULL : table_read_of(t, key.data);
	buf_deinit(&key);
	if (!*ret)
		return SQLITE_NOMEM;
	if ((*ret)->rows)
		return SQLITE_OK;
	status = table_read(t, q, &(*ret)->rows);
	if (q->any_pid && status != EXIT_COMPLETE && status != EXIT_NO) {
		struct sql_query again = *q;

		/* It says why. */
		again.any_pid = false;
		sql_rows_free((*ret)->rows);
		status = table_read(t, &again, &(*ret)->rows);
	}
	/* That nothing is mapped, or that there is no such process, is no row. */
	if (status > t->s->status && status != EXIT_NO)
		t->s->status = status;
	return (*ret)->rows ? SQLITE_OK : table_fail(t, _("its listing failed"));
}

/*
 * Only rows with that value in the column. A value of another type may still be equal to one
 * of the column's, by rules that are SQLite's: it compares all rows then.
 */
static int table_choose(struct sql_cursor *c, int column, sqlite3_value *value)
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
static void table_settle(const struct sql_table *t, struct sql_query *q)
{
	/* Without a process, those are addresses of the kernel. */
	q->has_range &= !q->has_address && (q->has_pid || !t->kind->alone);
	q->upper &= !t->kind->alone;
	if (q->has_range)
		q->used |= (uint64_t)1 << t->address | (uint64_t)1 << t->end;
}

static bool table_is_read(struct sql_table *t, const struct sql_query *q, struct buf *key)
{
	struct sql_query settled = *q;
	const struct sql_read *r;

	table_settle(t, &settled);
	table_key(&settled, key);
	r = key->failed ? NULL : table_find_read(t, key->data);
	return r && r->rows;
}

/*
 * A join asks for another process or address with each row. After a few pages that were read
 * one by one, all of the process is read at once, and after a few processes all of them. What
 * was read before is asked for again and does not count: a join of one process reads no other.
 */
static int table_choose_query(struct sql_table *t, int number, struct sql_query *q)
{
	struct sql_read *all = table_read_of(t, "all");
	struct buf key = { 0 };
	bool one, failed;

	if (!all)
		return SQLITE_NOMEM;
	if (!t->kind->target && !t->kind->alone) {
		if (number & ADDRESS_VARIES && !table_is_read(t, q, &key))
			q->has_address = all->addresses++ < ONE_BY_ONE;
		one = number & ADDRESS_VARIES && q->has_address;
		if (number & PID_VARIES && !one && !table_is_read(t, q, &key))
			q->has_pid = all->pids++ < ONE_BY_ONE;
	}
	table_settle(t, q);
	failed = key.failed;
	buf_deinit(&key);
	return failed ? SQLITE_NOMEM : SQLITE_OK;
}

static int sql_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
		      sqlite3_value **argv)
{
	struct sql_cursor *c = (struct sql_cursor *)base;
	struct sql_table *t = (struct sql_table *)base->pVtab;
	const struct sql_library *l = t->s->lib;
	struct sql_query q = { 0 };
	int by = (number >> INDEX_SHIFT) - 1, pid_at = -1, address_at = -1, arg = 0, r = SQLITE_OK;
	struct sql_read *one;

	c->index = NULL;
	c->at = c->end = 0;
	/* Thousands of times, of a join: only the value that is looked for is another one. */
	if (c->plan == plan) {
		c->end = sql_rows_count(c->rows);
		return by < 0 ? SQLITE_OK : table_choose(c, by, argv[0]);
	}
	c->rows = NULL;
	q.used = table_plan_columns(t, plan);
	q.filter = table_plan_range(plan, &q);
	if (number & WITH_TARGET)
		q.target = (const char *)l->value_text(argv[arg++]);
	if (number & WITH_PID) {
		pid_at = arg++;
		/* Nothing equals n/a, and no process is a fraction. */
		q.pid = l->value_int64(argv[pid_at]);
		if (l->value_type(argv[pid_at]) != SQLITE_INTEGER || q.pid <= 0 || q.pid > INT32_MAX)
			return SQLITE_OK;
		q.has_pid = true;
		q.used |= (uint64_t)1 << t->pid;
	}
	if (number & WITH_ADDRESS) {
		address_at = arg++;
		if (l->value_type(argv[address_at]) != SQLITE_INTEGER)
			return SQLITE_OK;
		q.has_address = true;
		q.address = l->value_int64(argv[address_at]);
		q.used |= (uint64_t)1 << t->address;
	}
	if (by >= 0)
		q.used |= (uint64_t)1 << by;
	if (t->kind->target && !q.target)
		return SQLITE_OK;
	r = table_choose_query(t, number, &q);
	if (r != SQLITE_OK)
		return r;
	q.any_pid = q.has_pid && number & PID_VARIES;
	r = table_rows(t, &q, &one);
	if (r != SQLITE_OK)
		return r;
	c->rows = one->rows;
	c->end = sql_rows_count(c->rows);
	if (!(number & (WITH_TARGET | WITH_PID | WITH_ADDRESS)))
		c->plan = plan;
	if (by >= 0)
		return table_choose(c, by, argv[arg]);
	if (number & WITH_ADDRESS && !q.has_address)
		return table_choose(c, t->address, argv[address_at]);
	if (number & WITH_PID && !q.has_pid)
		return table_choose(c, t->pid, argv[pid_at]);
	return SQLITE_OK;
}

/* ---- cursors ---- */

static int sql_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **ret)
{
	struct sql_cursor *c = calloc(1, sizeof(*c));

	*ret = c ? &c->base : NULL;
	return c ? SQLITE_OK : SQLITE_NOMEM;
}

static int sql_cursor_close(sqlite3_vtab_cursor *base)
{
	free(base);
	return SQLITE_OK;
}

static int sql_next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *c = (struct sql_cursor *)base;

	c->at = c->index ? sql_index_next(c->index, c->at) : c->at + 1;
	return SQLITE_OK;
}

static int sql_eof(sqlite3_vtab_cursor *base)
{
	const struct sql_cursor *c = (struct sql_cursor *)base;

	return c->at >= c->end;
}

static int sql_column(sqlite3_vtab_cursor *base, sqlite3_context *to, int column)
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

static int sql_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)((struct sql_cursor *)base)->at;
	return SQLITE_OK;
}

static int table_declare(struct sql *s, const struct sql_source *of, const struct sql_kind *kind)
{
	/* Without xCreate: each is there without being created. */
	static const sqlite3_module module = {
		.xConnect = sql_connect, .xBestIndex = sql_best, .xDisconnect = sql_disconnect,
		.xOpen = sql_cursor_open, .xClose = sql_cursor_close, .xFilter = sql_filter,
		.xNext = sql_next, .xEof = sql_eof, .xColumn = sql_column, .xRowid = sql_rowid,
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
	for (const struct sql_source *of = s->source; of < s->source + s->sources; of++)
		for (size_t i = 0; of->kind(i); i++)
			if (table_declare(s, of, of->kind(i)) != SQLITE_OK)
				return SQLITE_ERROR;
	return SQLITE_OK;
}

#endif
