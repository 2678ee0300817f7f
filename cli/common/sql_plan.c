/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_plan.c - the plan of a virtual table: which constraints of a query its listing is given.
 *
 * Equal pid, address and what a table must be given select what the listing reads, and so do
 * addresses that are compared with numbers of the lower half; other comparisons with numbers
 * become its --filter. A column that is compared with one of another table gets an index.
 */
#include "sql_table.h"
#include "base/message.h"

#ifdef HAVE_SQLITE3

/* The value of the right side, if it is known before rows are read. */
static sqlite3_value *plan_known(const struct sql_table *t, sqlite3_index_info *x, int i)
{
	const struct sql_library *l = t->s->lib;
	sqlite3_value *v;

	return l->vtab_rhs_value && l->vtab_rhs_value(x, i, &v) == SQLITE_OK ? v : NULL;
}

/* The same, of a number. */
static bool plan_constant(const struct sql_table *t, sqlite3_index_info *x, int i, int64_t *ret)
{
	sqlite3_value *v = plan_known(t, x, i);

	return v && sql_value_whole(t->s->lib, v, ret);
}

/* A comparison that the listing can do: fewer rows are kept then. SQLite does it again. */
static void plan_add_filter(const struct sql_table *t, sqlite3_index_info *x, int i, struct buf *b)
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
	if ((type != ATW_T_COUNT && type != ATW_T_BYTES) || !plan_constant(t, x, i, &v) || v < 0)
		return;
	for (size_t o = 0; o < ARRAY_SIZE(ops); o++)
		if (ops[o].op == c->op)
			buf_printf(b, "%s%s%s%" PRId64, b->len ? " and " : "",
				   t->column[c->iColumn].name, ops[o].text, v);
}

/* Is it equal to what another table has, and can an index say where? */
static bool plan_indexed(const struct sql_table *t, sqlite3_index_info *x, int i)
{
	const struct sqlite3_index_constraint *c = &x->aConstraint[i];
	const struct sql_library *l = t->s->lib;
	enum atw_type type;

	if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn < 0 || c->iColumn >= t->n ||
	    plan_known(t, x, i))
		return false;
	type = t->column[c->iColumn].type;
	/* Texts are equal byte by byte, and not as some other collation says. */
	return sql_is_text(type) ? l->vtab_collation && !strcmp(l->vtab_collation(x, i), "BINARY") :
				   type != ATW_T_SECONDS;
}

/* Addresses of the lower half, from `first` to `last`: all of it, unless a comparison narrows it. */
struct plan_range {
	int64_t first, last;
	bool low, high;                  /* which of them the query has */
};

/*
 * Is the comparison one of addresses with a number? Then it narrows the range. Addresses of
 * the upper half are negative numbers to SQLite.
 */
static bool plan_add_range(const struct sql_table *t, sqlite3_index_info *x, int i,
			    struct plan_range *r)
{
	const struct sqlite3_index_constraint *c = &x->aConstraint[i];
	bool low = c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT;
	bool high = c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT;
	int64_t v;

	if (!t->kind->ranges || t->address < 0 || t->end < 0 || c->iColumn != t->address ||
	    (!low && !high) || !plan_constant(t, x, i, &v) || v < 0)
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
static char *plan_text(const struct sql_table *t, uint64_t used, const struct plan_range *range,
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

static uint64_t plan_columns(const struct sql_table *t, const char *plan)
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
static const char *plan_query_range(const char *plan, struct sql_query *q)
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

void sql_plan_query(const struct sql_table *t, const char *plan, struct sql_query *q)
{
	q->used = plan_columns(t, plan);
	q->filter = plan_query_range(plan, q);
}

/* pid = N before pid IN (...), and that before a pid that comes from another table. */
static int plan_rank_pid(const struct sql_table *t, sqlite3_index_info *x, int i)
{
	const struct sql_library *l = t->s->lib;
	int64_t v;

	if (i < 0)
		return 0;
	if (plan_constant(t, x, i, &v))
		return 3;
	return l->vtab_in && l->vtab_in(x, i, -1) ? 2 : 1;
}

/* Of pid IN (...), all values are asked for at once: no other process is read then. */
static int plan_use_pid(const struct sql_table *t, sqlite3_index_info *x, int pid)
{
	int64_t v;

	if (plan_constant(t, x, pid, &v))
		return WITH_PID;
	return WITH_PID | (t->s->lib->vtab_in && t->s->lib->vtab_in(x, pid, 1) ? PID_LIST : PID_VARIES);
}

int sql_plan_best(sqlite3_vtab *base, sqlite3_index_info *x)
{
	struct sql_table *t = (struct sql_table *)base;
	int target = -1, pid = -1, address = -1, by = -1, arg = 0;
	struct plan_range range = { .last = INT64_MAX };
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
			pid = plan_rank_pid(t, x, i) > plan_rank_pid(t, x, pid) ? i : pid;
		else if (t->kind->address && c->iColumn == t->address && t->address >= 0 && equal)
			address = i;
		else if (plan_indexed(t, x, i))
			by = i;
		else if (!plan_add_range(t, x, i, &range))
			plan_add_filter(t, x, i, &b);
	}
	if (t->kind->target && target < 0) {
		char text[128];

		snprintf(text, sizeof(text), _("%s needs %s: SELECT * FROM %s('...')"), t->kind->name,
			 message(t->kind->target), t->kind->name);
		buf_deinit(&b);
		return sql_table_fail(t, text);
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
		x->idxNum |= plan_use_pid(t, x, pid);
		x->aConstraintUsage[pid].argvIndex = ++arg;
		x->estimatedCost /= 1e3;
		x->estimatedRows = 1000;
	}
	if (address >= 0) {
		x->idxNum |= WITH_ADDRESS | (plan_constant(t, x, address, &v) ? 0 : ADDRESS_VARIES);
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
	x->idxStr = plan_text(t, x->colUsed, &range,
			       b.data && !range.low && !range.high ? b.data : "");
	x->needToFreeIdxStr = 1;
	buf_deinit(&b);
	return x->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

#endif
