/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_pages.c - rows of `pages --watch`, one for each process that changed. */
#include "base/sorted.h"
#include "watch.h"

enum { RSS, MAPPED, SWAPPED, PRIVATE, SHARED, HUGE, PSS, USS, SUMS };

static const enum page_col from[SUMS] = {
	P_RSS, P_MAPPED, P_SWAPPED, P_PRIVATE, P_SHARED, P_HUGE, P_PSS, P_USS,
};

enum what { FIRST, CHANGED, BEGAN, ENDED, SAME };
static const char *const what_names[] = { "first", "changed", "began", "ended", "same" };
static const struct atw_names whats = { 5, what_names, NULL };

enum { W_TIME, W_WHAT, W_PROCESSES, W_PID, W_SUMS, W_TASK = W_SUMS + 2 * SUMS, W_COLS };

static const struct atw_column columns[W_COLS] = {
	[W_TIME] = COLUMN("time", SECONDS, 0, "since the first look"),
	[W_WHAT] = { .key = "what", .type = ATW_T_ENUM, .names = &whats,
		     .help = "what became of the process since the look before" },
	[W_PROCESSES] = COLUMN("processes", COUNT, 0,
			       "that the row is of: 1, or all that are the same"),
	[W_PID] = COLUMN("pid", COUNT, 0, "process"),
	[W_TASK] = COLUMN("task", TEXT, 0, "its name"),
#define PAIR(i, name, hide, text) \
	[W_SUMS + 2 * (i)] = { .key = name, .type = ATW_T_BYTES, .width = 6, \
			       .hidden = (i) == MAPPED || (i) == PRIVATE, .help = text }, \
	[W_SUMS + 2 * (i) + 1] = { .key = "d_" name, .type = ATW_T_CHANGE_BYTES, .width = 6, \
				   .hidden = hide, .help = "its change since the look before" }
	PAIR(RSS, "rss", false, "memory it has, as smaps_rollup counts"),
	PAIR(MAPPED, "mapped", true, "bytes that page tables map, whatever it is"),
	PAIR(SWAPPED, "swapped", true, "bytes on swap"),
	PAIR(PRIVATE, "private", true, "the same as uss"),
	PAIR(SHARED, "shared", true, "of rss, what is mapped more than once"),
	PAIR(HUGE, "huge", true, "of rss, what is mapped by large pages"),
	PAIR(PSS, "pss", false, "of rss, each page divided by how often it is mapped"),
	PAIR(USS, "uss", false, "of rss, what is mapped once"),
};
static const struct atw_schema schema = { "watch", columns, W_COLS };

struct watch_pages_process {
	uint32_t pid;
	char name[17];
	unsigned have;           /* bits of sum[] */
	uint64_t sum[SUMS];
};

struct watch_pages_list {
	struct watch_pages_process *v;
	size_t n, cap;
};

struct pages_watch {
	struct watch_pages_list was, is;
	bool again;              /* `was` is a look */
	int (*look)(void *arg, struct atw_err *err);
	void *arg;
};

/* ---- a look ---- */

static int watch_pages_take(void *arg, const struct row *r, struct atw_err *err)
{
	struct watch_pages_list *l = &((struct pages_watch *)arg)->is;
	struct watch_pages_process *p;

	if (!array_reserve((void **)&l->v, &l->cap, l->n + 1, sizeof(*l->v)))
		return atw_err_nomem(err);
	p = &l->v[l->n++];
	*p = (struct watch_pages_process){.pid = (uint32_t)r->v[P_PID].u};
	strncpy(p->name, r->v[P_TASK].s, sizeof(p->name) - 1);
	for (unsigned i = 0; i < SUMS; i++)
		if (r->have & COL(from[i])) {
			p->have |= 1u << i;
			p->sum[i] = r->v[from[i]].u;
		}
	return ATW_OK;
}

static int watch_pages_look(void *arg, struct atw_err *err)
{
	struct pages_watch *w = arg;
	int r;

	w->is.n = 0;
	r = w->look(w->arg, err);
	if (r == ATW_OK && w->is.n)
		qsort(w->is.v, w->is.n, sizeof(*w->is.v), sorted_by_u32);
	return r;
}

/* ---- rows ---- */

struct rows {
	struct atw_output *out;
	uint64_t ms;
	struct watch_pages_process same; /* the sums of all that did not change */
	uint64_t nsame;
};

/* `was` and `is`: NULL if the process did not exist then, or does not now. */
static int watch_pages_put(const struct rows *s, enum what what, uint64_t processes,
			   const struct watch_pages_process *was,
			   const struct watch_pages_process *is, struct atw_err *err)
{
	static const struct watch_pages_process none = {.have = (1u << SUMS) - 1};
	const struct watch_pages_process *shown = is ? is : was ? was : &none;
	union atw_value v[W_COLS] = {
		[W_TIME] = { .u = s->ms }, [W_WHAT] = { .u = what },
		[W_PROCESSES] = { .u = processes }, [W_PID] = { .u = shown->pid },
		[W_TASK] = { .s = shown->name },
	};
	struct atw_row row = { v, COL(W_TIME) | COL(W_WHAT) | COL(W_PROCESSES) };

	if (processes == 1)
		row.have |= COL(W_PID) | COL(W_TASK);
	if (!is)
		is = &none;
	if (!was)
		was = &none;
	for (unsigned i = 0; i < SUMS; i++) {
		unsigned at = W_SUMS + 2 * i;

		if (!(shown->have & is->have & 1u << i))
			continue;
		v[at].u = is->sum[i];
		row.have |= COL(at);
		if (what == FIRST || !(was->have & 1u << i))
			continue;
		v[at + 1].u = is->sum[i] - was->sum[i];
		row.have |= COL(at + 1);
	}
	return atw_output_row(s->out, &row, err);
}

static bool watch_pages_equal(const struct watch_pages_process *a,
			      const struct watch_pages_process *b)
{
	return a->have == b->have && !strcmp(a->name, b->name) &&
	       !memcmp(a->sum, b->sum, sizeof(a->sum));
}

static int watch_pages_compare(struct rows *s, const struct watch_pages_process *was,
			       const struct watch_pages_process *is, struct atw_err *err)
{
	if (was && is && watch_pages_equal(was, is)) {
		if (!s->nsame++)
			s->same = *is;
		else
			for (unsigned i = 0; i < SUMS; i++)
				s->same.sum[i] += is->sum[i];
		s->same.have &= is->have;
		return ATW_OK;
	}
	return watch_pages_put(s, !was ? BEGAN : !is ? ENDED : CHANGED, 1, was, is, err);
}

static int watch_pages_show(void *arg, struct atw_output *out, uint64_t ms,
			    struct atw_err *err)
{
	struct pages_watch *w = arg;
	struct rows s = { .out = out, .ms = ms };
	struct watch_pages_list old = w->was;
	int r = ATW_OK;

	for (size_t i = 0, k = 0; r == ATW_OK && (i < old.n || k < w->is.n);) {
		const struct watch_pages_process *was = i < old.n ? &old.v[i] : NULL;
		const struct watch_pages_process *is = k < w->is.n ? &w->is.v[k] : NULL;

		if (was && is && was->pid != is->pid)
			*(was->pid < is->pid ? &is : &was) = NULL;
		i += was != NULL;
		k += is != NULL;
		r = w->again ? watch_pages_compare(&s, was, is, err)
			     : watch_pages_put(&s, FIRST, 1, NULL, is, err);
	}
	if (r == ATW_OK && s.nsame)
		r = watch_pages_put(&s, SAME, s.nsame, &s.same, &s.same, err);
	w->was = w->is;
	w->is = old;
	w->again = true;
	return r;
}

int watch_pages(struct pages *p, struct session *o, const struct space_opts *space,
		const char *text, int (*fn)(void *arg, struct atw_err *err), void *arg)
{
	struct pages_watch *w = calloc(1, sizeof(*w));
	const struct watched watched = {&schema, watch_pages_look, watch_pages_show, w};
	int status;

	if (!w)
		return print_nomem();
	w->look = fn;
	w->arg = arg;
	p->taken = watch_pages_take;
	p->taker = w;
	status = watch(p->c, o, space, text, &watched);
	p->taken = NULL;
	free(w->was.v);
	free(w->is.v);
	free(w);
	return status;
}
