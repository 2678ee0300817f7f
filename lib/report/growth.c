/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth.c - growth of each process's memory by class and its rate over several
 * snapshots. Memory that grows all the time and cannot be written back to a file may be a
 * leak.
 */
#include "report/looks.h"
#include "report/report.h"
#include "base/message.h"
#include "base/num.h"

enum {
	C_PID, C_TASK, C_CLASS, C_LOOKS, C_FIRST, C_LAST, C_CHANGE, C_RATE, C_SUSPECT, C_COUNT,
};

static const char *const suspicions[] = { "leak" };
static const struct atw_names suspicion_names = { 1, suspicions, NULL };

static const struct atw_column columns[C_COUNT] = {
	[C_PID] = COLUMN("pid", COUNT, 7, "the process"),
	[C_TASK] = COLUMN("task", TEXT, 16, "its name"),
	[C_CLASS] = COLUMN("class", ENUM, 8,
			"what the memory is for", .names = &census_class_names),
	[C_LOOKS] = COLUMN("looks", COUNT, 5, "how many looks have this process"),
	[C_FIRST] = COLUMN("first", BYTES, 10,
			"what it had in the first of them, in memory and on swap"),
	[C_LAST] = COLUMN("last", BYTES, 10, "what it had in the last of them"),
	[C_CHANGE] = COLUMN("change", CHANGE_BYTES, 10, "from the first to the last"),
	[C_RATE] = COLUMN("rate", CHANGE_BYTES, 10,
			"how fast, bytes a second: the line that fits all looks best",
			.rate = true),
	[C_SUSPECT] = COLUMN("suspect", FLAGS, 7,
			"leak: heap or anon that grew from each look to the next, by 32K or more",
			.names = &suspicion_names),
};
static const struct atw_schema schema = { "growth", columns, C_COUNT };

/*
 * A leak needs three snapshots to show, and more than the few pages that a program touches
 * as it goes on: stacks of calls, buffers, tables of an allocator.
 */
enum { LOOKS_MIN = 3, LEAK_MIN = 32 << 10 };
/*
 * Limits that keep sums from overflowing: 34 years, 4 PiB per class of a process, and the
 * number of snapshots per line. Sums of bytes have 64 bits, products with times 104.
 */
#define MS_MAX ((uint64_t)1 << 40)
#define BYTES_MAX ((uint64_t)1 << 52)
#define LOOKS_MAX 4095
#define RISES_MAX (((uint32_t)1 << 26) - 1)

/*
 * Points (time, bytes) of a process's memory of one class as sums; times in ms from the
 * first snapshot on. If the process exists without memory of the class, that is a point
 * of 0 bytes. Small, because a capture of very many tasks is a small file.
 */
struct growth_line {
	__int128 ty;
	uint64_t first, last, y;
	uint32_t next;                   /* 1 + index of the next one; 0: none */
	uint32_t rises : 26;             /* consecutive ones, from its first snapshot
					  * on */
	uint32_t class : 4;
	uint32_t fell : 1;
	uint32_t changed : 1;            /* between any two snapshots */
};

_Static_assert(CENSUS_CLASSES <= 16, "classes have four bits");

struct growth_process {
	__int128 tt;
	uint64_t t;
	uint32_t looks, look;            /* number of snapshots with it; the last one,
					  * from 1 */
	uint32_t lines;                  /* 1 + index of the first; 0: none */
	bool untimed;                    /* the time of one of them is not known */
};

struct growth_state {
	struct census_report_opts o;
	uint64_t collector;              /* pid of the collector of this snapshot; 0:
					  * not known */
	struct { uint64_t pid; char name[64]; } out;     /* the last one excluded; 0:
							  * none */
	struct looks looks;
	struct look_processes processes;
	struct growth_process *v; /* by their index */
	size_t n, cap;
	struct growth_line *line;
	size_t lines, lines_cap;
	size_t now;                      /* index + 1 of the current one; 0: none */
	bool incomplete;                 /* this look does not count for the process */
	uint64_t bytes[CENSUS_CLASSES];  /* its memory in this look */
};

/* ---- points ---- */

/*
 * The memory that collecting takes is excluded: it depends on the tool and not on the
 * machine.
 */
static bool growth_leave_out(struct growth_state *g, const struct census_process *p)
{
	if (!p->pid || (p->pid != g->o.self && p->pid != g->collector))
		return false;
	g->now = 0;
	g->out.pid = p->pid;
	snprintf(g->out.name, sizeof(g->out.name), "%s", p->name);
	return true;
}

static int growth_begin(struct growth_state *g, const struct census_process *p,
			struct atw_err *err)
{
	bool has_start = p->task_has & CAPTURE_T_START;
	size_t at;
	int r;

	if (growth_leave_out(g, p))
		return ATW_OK;
	r = look_processes_find(&g->processes, p->pid, has_start, p->task->start,
				(struct atw_blob){ p->name, strlen(p->name) }, &at, err);
	if (r != ATW_OK)
		return r;
	if (!ARRAY_ROOM(g->v, at, g->cap))
		return atw_err_nomem(err);
	while (g->n <= at)
		g->v[g->n++] = (struct growth_process){.looks = 0};
	/* A process that is recorded twice in one look counts once, the first time. */
	g->now = g->v[at].look == g->looks.n ? 0 : at + 1;
	g->incomplete = false;
	memset(g->bytes, 0, sizeof(g->bytes));
	return ATW_OK;
}

static void growth_add(struct growth_state *g, const struct census_pages *p,
		       uint64_t page)
{
	uint64_t *bytes = &g->bytes[p->area->class], room = (BYTES_MAX - *bytes) / page;

	if (g->now && (is_resident(p) || p->swapped))
		*bytes += (p->pages < room ? p->pages : room) * page;
}

/* A process starts to have memory of that class; it had none in previous looks. */
static int growth_new_line(struct growth_state *g, struct growth_process *p,
			   unsigned class, struct atw_err *err)
{
	if (g->lines >= UINT32_MAX - 1 || !ARRAY_ROOM(g->line, g->lines, g->lines_cap))
		return atw_err_nomem(err);
	g->line[g->lines] = (struct growth_line){
		.class = class, .next = p->lines, .fell = p->looks > 1,
		.first = p->looks ? 0 : g->bytes[class],
	};
	p->lines = (uint32_t)++g->lines;
	return ATW_OK;
}

static void growth_point(struct growth_line *l, const struct growth_process *p,
			 uint64_t bytes, uint64_t ms)
{
	l->changed |= p->looks && bytes != l->last;
	if (p->looks && (bytes <= l->last || l->rises == RISES_MAX))
		l->fell = true;
	else if (p->looks && !l->fell)
		l->rises++;
	l->last = bytes;
	l->y += bytes;
	l->ty += (__int128)ms * bytes;
}

static int growth_end(struct growth_state *g, bool incomplete, struct atw_err *err)
{
	struct growth_process *p = g->now ? &g->v[g->now - 1] : NULL;
	uint64_t at = g->looks.at[g->looks.n - 1], ms = 0;
	uint32_t met = 0;

	if (!p)
		return ATW_OK;
	g->now = 0;
	if (g->incomplete || incomplete)
		return ATW_OK;
	if (at == UINT64_MAX || g->looks.at[0] == UINT64_MAX || at < g->looks.at[0] ||
	    at - g->looks.at[0] > MS_MAX || p->looks == LOOKS_MAX)
		p->untimed = true;
	else
		ms = at - g->looks.at[0];
	p->t += ms;
	p->tt += (__int128)ms * ms;
	for (uint32_t i = p->lines; i; i = g->line[i - 1].next)
		met |= 1u << g->line[i - 1].class;
	for (unsigned c = 0; c < CENSUS_CLASSES; c++)
		if (g->bytes[c] && !(met >> c & 1)) {
			int r = growth_new_line(g, p, c, err);

			if (r != ATW_OK)
				return r;
		}
	for (uint32_t i = p->lines; i; i = g->line[i - 1].next)
		growth_point(&g->line[i - 1], p, g->bytes[g->line[i - 1].class], ms);
	p->looks++;
	p->look = (uint32_t)g->looks.n;
	return ATW_OK;
}

static int growth_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct growth_state *g = state;
	int r = looks_feed(&g->looks, ev, err);

	if (r != ATW_OK)
		return r;
	switch (ev->what) {
	case CENSUS_ON_HEADER:
		if (blob_is(ev->header->key, "collector") &&
		    !looks_number(ev->header->value, &g->collector))
			g->collector = 0;
		return ATW_OK;
	case CENSUS_ON_END:
		g->collector = 0;
		return ATW_OK;
	case CENSUS_ON_PROCESS:
		return growth_begin(g, ev->process, err);
	case CENSUS_ON_PAGES:
		growth_add(g, ev->pages, ev->page);
		return ATW_OK;
	case CENSUS_ON_AREA_END:
		g->incomplete |= ev->area->incomplete;
		return ATW_OK;
	case CENSUS_ON_PROCESS_END:
		return growth_end(g, ev->process->incomplete, err);
	default:
		return ATW_OK;
	}
}

/* ---- rows ---- */

/* A row of the report. */
struct grown {
	const struct look_process *process;
	const struct growth_process *p;
	const struct growth_line *line;
	int64_t rate;
	bool timed, leak;
};

/* Least squares in bytes a second, rounded. */
static bool growth_slope(const struct growth_process *p, const struct growth_line *l,
			 int64_t *ret)
{
	__int128 n = p->looks, t = (__int128)p->t, d = n * p->tt - t * t;
	__int128 s = (n * l->ty - t * (__int128)l->y) * 1000;

	if (p->untimed || d <= 0)
		return false;
	s = s >= 0 ? (s + d / 2) / d : -((-s + d / 2) / d);
	if (s > INT64_MAX || s < INT64_MIN)
		return false;
	*ret = (int64_t)s;
	return true;
}

static bool growth_may_leak(const struct growth_process *p, const struct growth_line *l)
{
	return (l->class == CENSUS_HEAP || l->class == CENSUS_ANON) && p->looks >= LOOKS_MIN &&
	       l->rises == p->looks - 1 && l->last - l->first >= LEAK_MIN;
}

static int64_t growth_change_of(const struct grown *g)
{
	return (int64_t)(g->line->last - g->line->first);
}

/* By rate; without known times by total growth. */
static int growth_by(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;

	return ORDER(y->timed, x->timed) ?: ORDER(y->rate, x->rate) ?:
	       ORDER(growth_change_of(y), growth_change_of(x)) ?:
	       ORDER(x->process, y->process) ?: ORDER(x->line->class, y->line->class);
}

static size_t growth_collect(const struct growth_state *g, struct grown *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		for (uint32_t k = g->v[i].lines; k; k = g->line[k - 1].next) {
			const struct growth_process *p = &g->v[i];
			const struct growth_line *l = &g->line[k - 1];
			struct grown w = {
				.process = &g->processes.v[i], .p = p, .line = l,
			};

			if (p->looks < 2 || !l->changed)
				continue;
			w.timed = growth_slope(p, l, &w.rate);
			w.leak = growth_may_leak(p, l);
			if (ret)
				ret[n] = w;
			n++;
		}
	return n;
}

static int growth_put(const struct grown *w, const struct census_out *out,
		      struct atw_err *err)
{
	struct report_row row = { .have = 0 };

	row_u(&row, C_PID, w->process->pid);
	row_s(&row, C_TASK, w->process->name);
	row_u(&row, C_CLASS, w->line->class);
	row_u(&row, C_LOOKS, w->p->looks);
	row_u(&row, C_FIRST, w->line->first);
	row_u(&row, C_LAST, w->line->last);
	row_u(&row, C_CHANGE, (uint64_t)growth_change_of(w));
	row_if(&row, w->timed, C_RATE, (uint64_t)w->rate);
	row_u(&row, C_SUSPECT, w->leak);
	return row_out(&row, out, err);
}

static void growth_suspect(const struct grown *w, const struct census_out *out)
{
	char rate[48] = "", size[16];

	/* It grew: neither is less than 0. */
	if (w->timed)
		snprintf(rate, sizeof(rate), _(", %s a second"), num_human((uint64_t)w->rate, size));
	out->note(out->arg,
		  "suspected leak: process %" PRIu64
		  " (%s): %s grew from each of %" PRIu32 " looks to the next, by %s%s",
		  w->process->pid, w->process->name,
		  census_class_names.name[w->line->class], w->p->looks,
		  num_human((uint64_t)growth_change_of(w), size), rate);
}

/* All are rows; only the largest have a note. */
enum { SUSPECTS = 8 };

static int growth_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct growth_state *g = state;
	size_t n = growth_collect(g, NULL), leaks = 0;
	struct grown *v = calloc(n + 1, sizeof(*v));
	int r = ATW_OK;

	if (!v)
		return atw_err_nomem(err);
	growth_collect(g, v);
	qsort(v, n, sizeof(*v), growth_by);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = growth_put(&v[i], out, err);
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		if (v[i].leak && leaks++ < SUSPECTS)
			growth_suspect(&v[i], out);
	free(v);
	if (r != ATW_OK)
		return r;
	if (leaks > SUSPECTS)
		out->note(out->arg, "and %zu more that may leak", leaks - SUSPECTS);
	if (g->out.pid)
		out->note(out->arg, "process %" PRIu64 " (%s) is left out: it is the collector",
			  g->out.pid, g->out.name);
	if (g->looks.n < 2)
		out->lacks(out->arg, "growth needs two looks: give two or more captures, in order");
	else if (g->looks.n < LOOKS_MIN)
		out->note(out->arg, "a leak is suspected after three looks or more");
	else if (!leaks)
		out->note(out->arg, "no leak is suspected");
	return ATW_OK;
}

static void growth_deinit(void *state)
{
	struct growth_state *g = state;

	looks_deinit(&g->looks);
	look_processes_deinit(&g->processes);
	free(g->v);
	free(g->line);
}

const struct census_report report_growth = {
	.name = "growth",
	.title = "What grows",
	.help = "processes with growing memory, how fast it grows, and suspected leaks",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(PROCESS) | CENSUS_ON(PAGES) |
	      CENSUS_ON(AREA_END) | CENSUS_ON(PROCESS_END) | CENSUS_ON(END),
	.looks = true,
	.schema = &schema,
	.state = sizeof(struct growth_state),
	.opts = true,
	.feed = growth_feed,
	.finish = growth_finish,
	.deinit = growth_deinit,
};
