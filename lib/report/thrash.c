/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thrash.c - thrashing: does the machine mostly fetch pages that it just reclaimed, and
 * for which processes? Faults of each process and the kernel's counters, from look to
 * look.
 */
#include "report/looks.h"
#include "report/report.h"
#include "base/message.h"

enum {
	C_LOOK, C_SECONDS, C_PID, C_TASK, C_MINOR, C_MAJOR, C_MAJOR_RATE, C_REFAULTS,
	C_REFAULT_RATE, C_SWAPIN, C_SWAPOUT, C_SOME, C_FULL, C_SOME10, C_FULL10, C_COUNT,
};

static const struct atw_column columns[C_COUNT] = {
	[C_LOOK] = COLUMN("look", COUNT, 4,
			"which look, from 1: what has changed since the one before"),
	[C_SECONDS] = COLUMN("seconds", SECONDS, 9, "since that"),
	[C_PID] = COLUMN("pid", COUNT, 7, "of the process; n/a: of the whole machine"),
	[C_TASK] = COLUMN("task", TEXT, 16, "its name"),
	[C_MINOR] = COLUMN("minor", COUNT, 9, "page faults that needed nothing read"),
	[C_MAJOR] = COLUMN("major", COUNT, 8,
			"page faults that waited for a file or for swap"),
	[C_MAJOR_RATE] = COLUMN("major_rate", SECONDS, 10,
			"of these, each second", .rate = true),
	[C_REFAULTS] = COLUMN("refaults", COUNT, 8,
			"pages that were read again soon after they were given up"),
	[C_REFAULT_RATE] = COLUMN("refault_rate", SECONDS, 12,
			"of these, each second", .rate = true),
	[C_SWAPIN] = COLUMN("swapin", PAGES, 7, "pages read from swap"),
	[C_SWAPOUT] = COLUMN("swapout", PAGES, 7, "pages written to swap"),
	[C_SOME] = COLUMN("some", SECONDS, 6,
			"part of the time that some task waited for memory"),
	[C_FULL] = COLUMN("full", SECONDS, 6,
			"part of the time that all did that had something to do"),
	[C_SOME10] = COLUMN("some10", SECONDS, 6,
			"the kernel's average of `some`, of ten seconds before",
			.hidden = true),
	[C_FULL10] = COLUMN("full10", SECONDS, 6, "likewise of `full`", .hidden = true),
};
static const struct atw_schema schema = { "thrash", columns, C_COUNT };

/*
 * Thresholds of thrashing. Users notice a task that waits for a tenth of its time;
 * refaults and major faults cost about 0.1 ms each on fast storage, so a thousand a
 * second have the same effect.
 */
enum { MUCH_FULL = 100, MUCH_SOME = 200 };       /* thousandths of the time */
#define MUCH_RATE 1000                           /* per second */

/* ---- records ---- */

enum counter {
	S_FAULTS, S_MAJOR, S_SWAPIN, S_SWAPOUT, S_SOME, S_FULL, S_SOME10, S_FULL10,
	S_REFAULTS, S_COUNT,
};
static const char *const keys[S_REFAULTS] = {
	"vmstat.pgfault", "vmstat.pgmajfault", "vmstat.pswpin", "vmstat.pswpout",
	"pressure.some.total", "pressure.full.total", "pressure.some.avg10",
	"pressure.full.avg10",
};
/* Of files, of anonymous memory; of both before 5.9. */
static const char refault[] = "vmstat.workingset_refault";

struct whole {
	uint64_t v[S_COUNT];
	uint32_t have;
	bool tasks;                      /* faults of some tasks are recorded */
};

/* Faults of a process in the last look that has it; look 0: none. */
struct seen {
	size_t look;
	uint64_t minor, major;
};

struct step {
	size_t process, look, from;      /* from 0: since the process began */
	uint64_t minor, major;
};

struct thrash_state {
	struct looks looks;
	struct whole *whole;             /* of each look */
	size_t wholes, wholes_cap;
	struct look_processes processes;
	struct seen *seen;
	size_t nseen, seen_cap;
	struct step *step;
	size_t nsteps, steps_cap;
	size_t emitted, emitted_steps;   /* looks with emitted rows, and their steps */
};

static void thrash_on_header(struct whole *w, const struct capture_header *h)
{
	size_t n = sizeof(refault) - 1;
	uint64_t u;

	for (unsigned i = 0; i < S_REFAULTS; i++) {
		if (!blob_is(h->key, keys[i]))
			continue;
		/*
		 * Averages have hundredths of a percent: their thousandths are divided by
		 * 100.
		 */
		if (i == S_SOME10 || i == S_FULL10 ? looks_thousandths(h->value, &u)
						   : looks_number(h->value, &u)) {
			w->v[i] = i == S_SOME10 || i == S_FULL10 ? u / 100 : u;
			w->have |= 1u << i;
		}
	}
	if (h->key.len >= n && !memcmp(h->key.data, refault, n) && looks_number(h->value, &u)) {
		w->v[S_REFAULTS] += u;
		w->have |= 1u << S_REFAULTS;
	}
}

static struct step *thrash_add_step(struct thrash_state *t, struct step s)
{
	if (!ARRAY_ROOM(t->step, t->nsteps, t->steps_cap))
		return NULL;
	t->step[t->nsteps] = s;
	return &t->step[t->nsteps++];
}

/* Faults of a process are the sums of its threads. */
static int thrash_on_task(struct thrash_state *t, const struct census_event *ev,
			  struct atw_err *err)
{
	const struct capture_task *k = ev->task;
	bool has_start = ev->task_has & CAPTURE_T_START;
	struct step s = { .look = t->looks.n };
	struct seen *was;
	int r;

	if (!(ev->task_has & CAPTURE_T_FAULTS) ||
	    (ev->task_has & CAPTURE_T_TGID && k->tgid != k->pid))
		return ATW_OK;
	t->whole[t->wholes - 1].tasks = true;
	r = look_processes_find(&t->processes, k->pid, has_start, k->start, k->name, &s.process,
				err);
	if (r != ATW_OK)
		return r;
	if (!ARRAY_ROOM(t->seen, s.process, t->seen_cap))
		return atw_err_nomem(err);
	for (; t->nseen <= s.process; t->nseen++)
		t->seen[t->nseen] = (struct seen){ 0 };
	was = &t->seen[s.process];
	if (was->look == s.look)         /* recorded twice */
		return ATW_OK;
	/* Decreasing counters belong to another process with the same PID. */
	if (was->look && k->minor >= was->minor && k->major >= was->major) {
		s.from = was->look;
		s.minor = k->minor - was->minor;
		s.major = k->major - was->major;
	} else if (s.look == 1 || (has_start && !was->look)) {
		s.minor = k->minor;
		s.major = k->major;
	}
	*was = (struct seen){ s.look, k->minor, k->major };
	return (s.minor || s.major) && !thrash_add_step(t, s) ? atw_err_nomem(err)
							      : ATW_OK;
}

static int thrash_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct thrash_state *t = state;
	int r = looks_feed(&t->looks, ev, err);

	if (r != ATW_OK)
		return r;
	if (t->wholes < t->looks.n) {
		if (!array_reserve((void **)&t->whole, &t->wholes_cap, t->looks.n,
				   sizeof(*t->whole)))
			return atw_err_nomem(err);
		t->whole[t->wholes++] = (struct whole){ .have = 0 };
	}
	if (ev->what == CENSUS_ON_HEADER)
		thrash_on_header(&t->whole[t->wholes - 1], ev->header);
	return ev->what == CENSUS_ON_TASK ? thrash_on_task(t, ev, err) : ATW_OK;
}

/* ---- rows ---- */

/* `n` in `ms`: thousandths per second; n/a if that overflows. */
static bool thrash_rate_of(uint64_t n, uint64_t ms, uint64_t *ret)
{
	if (n > UINT64_MAX / 1000000 || !ms)
		return false;
	*ret = (n * 1000000 + ms / 2) / ms;
	return true;
}

static bool thrash_change(const struct thrash_state *t, size_t look, enum counter c,
			  uint64_t *ret)
{
	const struct whole *a, *b;

	if (look < 2)
		return false;
	a = &t->whole[look - 2];
	b = &t->whole[look - 1];
	if (!(a->have & b->have & 1u << c) || b->v[c] < a->v[c])
		return false;
	*ret = b->v[c] - a->v[c];
	return true;
}

/* Microseconds of waiting in thousandths of the time. */
static bool thrash_part_of(const struct thrash_state *t, size_t look, enum counter c,
			   uint64_t *ret)
{
	uint64_t us, ms;

	if (!thrash_change(t, look, c, &us) ||
	    !looks_between(&t->looks, look - 2, look - 1, &ms))
		return false;
	*ret = us / ms < 1000 ? us / ms : 1000;
	return true;
}

/*
 * Sums of the current processes, if the machine's counters are not recorded, as in 2005.
 */
static bool thrash_of_processes(const struct thrash_state *t, size_t look,
				uint64_t *minor, uint64_t *major)
{
	*minor = *major = 0;
	for (size_t i = 0; i < t->nsteps; i++) {
		if (t->step[i].look != look)
			continue;
		if (__builtin_add_overflow(*minor, t->step[i].minor, minor) ||
		    __builtin_add_overflow(*major, t->step[i].major, major))
			return false;
	}
	return look > 1 && t->whole[look - 2].tasks && t->whole[look - 1].tasks;
}

/* Minor and major faults up to a look, preferably from the machine's own counters. */
static void thrash_faults(const struct thrash_state *t, size_t look, uint64_t ms,
			  struct report_row *row)
{
	uint64_t all, minor, major, rate;
	bool known = thrash_change(t, look, S_MAJOR, &major), of_tasks = false;

	if (known && thrash_change(t, look, S_FAULTS, &all) && all >= major)
		row_u(row, C_MINOR, all - major);
	if (!known)
		of_tasks = thrash_of_processes(t, look, &minor, &major);
	if (of_tasks)
		row_u(row, C_MINOR, minor);
	if (!known && !of_tasks)
		return;
	row_u(row, C_MAJOR, major);
	if (thrash_rate_of(major, ms, &rate))
		row_u(row, C_MAJOR_RATE, rate);
}

static int thrash_whole_row(const struct thrash_state *t, size_t look,
			    const struct census_out *out, struct atw_err *err)
{
	static const struct { uint8_t c, from; } counts[] = {
		{ C_REFAULTS, S_REFAULTS }, { C_SWAPIN, S_SWAPIN }, { C_SWAPOUT, S_SWAPOUT },
	};
	const struct whole *w = &t->whole[look - 1];
	struct report_row row = { .have = 0 };
	uint64_t u, v, ms = 0;

	row_u(&row, C_LOOK, look);
	row_s(&row, C_TASK, "(all)");
	if (look > 1 && looks_between(&t->looks, look - 2, look - 1, &ms))
		row_u(&row, C_SECONDS, ms);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (thrash_change(t, look, counts[i].from, &u))
			row_u(&row, counts[i].c, u);
	thrash_faults(t, look, ms, &row);
	if (thrash_change(t, look, S_REFAULTS, &u) && thrash_rate_of(u, ms, &v))
		row_u(&row, C_REFAULT_RATE, v);
	if (thrash_part_of(t, look, S_SOME, &u))
		row_u(&row, C_SOME, u);
	if (thrash_part_of(t, look, S_FULL, &u))
		row_u(&row, C_FULL, u);
	row_if(&row, w->have >> S_SOME10 & 1, C_SOME10, w->v[S_SOME10]);
	row_if(&row, w->have >> S_FULL10 & 1, C_FULL10, w->v[S_FULL10]);
	return row_out(&row, out, err);
}

static int thrash_step_row(const struct thrash_state *t, const struct step *s,
			   const struct census_out *out, struct atw_err *err)
{
	const struct look_process *p = &t->processes.v[s->process];
	struct report_row row = { .have = 0 };
	uint64_t ms = 0, v;

	row_u(&row, C_LOOK, s->look);
	row_u(&row, C_PID, p->pid);
	row_s(&row, C_TASK, p->name);
	row_u(&row, C_MINOR, s->minor);
	row_u(&row, C_MAJOR, s->major);
	if (s->from && looks_between(&t->looks, s->from - 1, s->look - 1, &ms)) {
		row_u(&row, C_SECONDS, ms);
		if (thrash_rate_of(s->major, ms, &v))
			row_u(&row, C_MAJOR_RATE, v);
	}
	return row_out(&row, out, err);
}

static int thrash_by_faults(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return ORDER(x->look, y->look) ?: ORDER(y->major, x->major) ?:
	       ORDER(y->minor, x->minor) ?: ORDER(x->process, y->process);
}

/* ---- the verdict ---- */

/* The result for one step: its ratio to the threshold in thousandths, and the text. */
struct verdict {
	size_t look;                     /* 0: no look had the required values */
	uint64_t times;
	char how[200];
};

static void thrash_judge(struct verdict *v, size_t look, uint64_t value, uint64_t much,
			 const char *how)
{
	uint64_t times = value > UINT64_MAX / 1000 ? UINT64_MAX : value * 1000 / much;

	if (v->look && times <= v->times)
		return;
	v->look = look;
	v->times = times;
	snprintf(v->how, sizeof(v->how), "%s", how);
}

static void thrash_judge_pressure(const struct thrash_state *t, size_t look,
				  struct verdict *v)
{
	uint64_t some, full, part, much;
	char how[200];
	bool all;

	if (!thrash_part_of(t, look, S_FULL, &full) ||
	    !thrash_part_of(t, look, S_SOME, &some))
		return;
	all = full * MUCH_SOME >= some * MUCH_FULL;
	part = all ? full : some;
	much = all ? MUCH_FULL : MUCH_SOME;
	snprintf(how, sizeof(how), _("for %" PRIu64 ".%" PRIu64 "%% of the time %s waited for memory (%d%% is thrashing)"),
		 part / 10, part % 10, all ? _("all tasks") : _("some task"), (int)much / 10);
	thrash_judge(v, look, part, much, how);
}

/*
 * Pressure counts waits for pages that had been active, so it misses pages of files that
 * are reclaimed before they become active. Refaults without major faults are caused by
 * programs that read files; major faults without refaults, by programs that start.
 */
static void thrash_judge_faults(const struct thrash_state *t, size_t look,
				struct verdict *v)
{
	bool refaults, known;
	uint64_t n, major, minor, rate, ms;
	char how[200];

	if (!looks_between(&t->looks, look - 2, look - 1, &ms))
		return;
	refaults = thrash_change(t, look, S_REFAULTS, &n);
	known = thrash_change(t, look, S_MAJOR, &major) ||
	       thrash_of_processes(t, look, &minor, &major);
	if (!refaults && !known)
		return;
	if (!refaults || (known && major < n))
		n = major;
	if (!thrash_rate_of(n, ms, &rate))
		return;
	rate /= 1000;
	if (refaults)
		snprintf(how, sizeof(how), _("%" PRIu64 " times a second a task waited for a page that had been reclaimed shortly before (%d is thrashing)"),
			 rate, MUCH_RATE);
	else
		snprintf(how, sizeof(how), _("%" PRIu64 " major faults a second (%d is thrashing; refaults are not recorded)"),
			 rate, MUCH_RATE);
	thrash_judge(v, look, rate, MUCH_RATE, how);
}

/* The process with most major faults up to this look; steps are in order. */
static void thrash_culprit(const struct thrash_state *t, size_t look,
			   const struct census_out *out)
{
	const struct step *s = NULL;
	const struct look_process *p;
	uint64_t all = 0, counted;

	for (size_t i = 0; i < t->nsteps; i++) {
		if (t->step[i].look != look)
			continue;
		s = s ? s : &t->step[i];
		all += t->step[i].major;
	}
	if (!s || !s->major) {
		out->note(out->arg, t->nseen ? "no process that is there had a major fault"
					     : "faults of processes are not recorded");
		return;
	}
	p = &t->processes.v[s->process];
	if (thrash_change(t, look, S_MAJOR, &counted) && counted > all)
		out->note(out->arg, "most major faults: process %" PRIu64 " (%s), %" PRIu64 " of %" PRIu64
			  " of the processes that are there at the end; the kernel counted %" PRIu64
			  " more, such as those of processes that ended",
			  p->pid, p->name, s->major, all, counted - all);
	else
		out->note(out->arg, "most major faults: process %" PRIu64 " (%s), %" PRIu64 " of %" PRIu64
			  " that processes had%s", p->pid, p->name, s->major, all,
			  look == 1 ? _(" since they began") : "");
}

static void thrash_verdict(const struct thrash_state *t, const struct census_out *out)
{
	struct verdict v = { .look = 0 };
	uint64_t minor, major;

	for (size_t look = 2; look <= t->looks.n; look++) {
		thrash_judge_pressure(t, look, &v);
		thrash_judge_faults(t, look, &v);
	}
	/* Of a dump, for example: then there is no row, either. */
	if (t->looks.n < 2 && !t->nseen) {
		out->lacks(out->arg, "cannot report faults: this look has none of any process, and rates need two looks");
		return;
	}
	if (t->looks.n < 2)
		out->note(out->arg, "rates need two looks: these are all faults since each process began");
	else if (!v.look && !thrash_change(t, t->looks.n, S_MAJOR, &major) &&
		 thrash_of_processes(t, t->looks.n, &minor, &major))
		out->note(out->arg, "cannot detect thrashing: the times of the looks are not known; from look %zu to look %zu processes had %" PRIu64
			  " major faults and %" PRIu64 " others", t->looks.n - 1, t->looks.n, major, minor);
	else if (!v.look)
		out->note(out->arg, "cannot detect thrashing: vmstat counters or the times of the looks are missing");
	else
		out->note(out->arg, "%s: from look %zu to look %zu %s%s",
			  v.times >= 1000 ? _("thrashing") : _("not thrashing"), v.look - 1, v.look,
			  v.how, t->looks.n > 2 && v.times ? _(", which is the worst") : "");
	if (t->looks.n)
		thrash_culprit(t, v.look ? v.look : t->looks.n, out);
}

/* Emits the rows of looks up to `last` that are not emitted yet. */
static int thrash_emit(struct thrash_state *t, size_t last, const struct census_out *out,
		       struct atw_err *err)
{
	int r = ATW_OK;

	while (t->emitted < last && r == ATW_OK) {
		size_t look = ++t->emitted, from = t->emitted_steps, to = from;

		while (to < t->nsteps && t->step[to].look == look)
			to++;
		t->emitted_steps = to;
		if (to > from)
			qsort(t->step + from, to - from, sizeof(*t->step),
			      thrash_by_faults);
		/* The machine's own counters have no change in the first look. */
		if (look > 1)
			r = thrash_whole_row(t, look, out, err);
		for (size_t i = from; i < to && r == ATW_OK; i++)
			if (look > 1 || t->looks.n == 1)
				r = thrash_step_row(t, &t->step[i], out, err);
	}
	return r;
}

/* A look is known to be the only one at the end; thrash_finish() emits it then. */
static int thrash_step(void *state, const struct census_out *out, struct atw_err *err)
{
	struct thrash_state *t = state;

	return t->looks.n > 1 ? thrash_emit(t, t->looks.n, out, err) : ATW_OK;
}

static int thrash_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct thrash_state *t = state;
	int r = thrash_emit(t, t->looks.n, out, err);

	if (r == ATW_OK)
		thrash_verdict(t, out);
	return r;
}

static void thrash_deinit(void *state)
{
	struct thrash_state *t = state;

	looks_deinit(&t->looks);
	look_processes_deinit(&t->processes);
	free(t->whole);
	free(t->seen);
	free(t->step);
}

const struct census_report report_thrash = {
	.name = "thrash",
	.title = "Page faults by process",
	.help = "page faults, refaults and memory pressure, from look to look: thrashing "
		"or not",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(TASK) | CENSUS_ON(END),
	.looks = true,
	.schema = &schema,
	.state = sizeof(struct thrash_state),
	.feed = thrash_feed,
	.step = thrash_step,
	.finish = thrash_finish,
	.deinit = thrash_deinit,
};
