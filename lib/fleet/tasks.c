/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.c - every task. Memory stands at the task that has an address space first, so
 * that sums count it once: threads and kernel threads have none.
 */
#include "base/num.h"
#include "fleet/table.h"

enum {
	T_PID = FLEET_OWN, T_TGID, T_PPID, T_NAME, T_EXE, T_UID, T_CGROUP, T_START, T_RSS, T_PSS,
	T_USS, T_SWAP, T_HUGE, T_MINOR, T_MAJOR, T_HUGETLB, T_COUNT,
};

static const struct atw_column columns[T_COUNT] = {
	FLEET_COLUMNS,
	[T_PID] = COLUMN("pid", COUNT, 0, "number of the task"),
	[T_TGID] = COLUMN("tgid", COUNT, 0, "of its process"),
	[T_PPID] = COLUMN("ppid", COUNT, 0, "of its parent"),
	[T_NAME] = COLUMN("name", TEXT, 0, "its name"),
	[T_EXE] = COLUMN("exe", TEXT, 0, "its executable"),
	[T_UID] = COLUMN("uid", COUNT, 0, "user ID"),
	[T_CGROUP] = COLUMN("cgroup", TEXT, 0, "its control group"),
	[T_START] = COLUMN("start", SECONDS, 0, "when it began: seconds from boot"),
	[T_RSS] = COLUMN("rss", BYTES, 0, "in memory, as smaps_rollup counts"),
	[T_PSS] = COLUMN("pss", BYTES, 0, "of rss, each page divided by how often it is mapped"),
	[T_USS] = COLUMN("uss", BYTES, 0, "of rss, pages that are mapped only here"),
	[T_SWAP] = COLUMN("swap", BYTES, 0, "on swap"),
	[T_HUGE] = COLUMN("huge", BYTES, 0, "of rss, what large pages map"),
	[T_MINOR] = COLUMN("minor", COUNT, 0, "page faults that needed nothing read"),
	[T_MAJOR] = COLUMN("major", COUNT, 0, "page faults that waited for a file or for swap"),
	[T_HUGETLB] = COLUMN("hugetlb", BYTES, 0, "in pages of hugetlbfs, which no other sum has"),
};
static const struct atw_schema schema = { "tasks", columns, T_COUNT };

struct fleet_task {
	struct capture_task t;           /* its texts are no longer valid */
	uint32_t has;
	const char *name, *exe, *cgroup; /* NULL: not known */
	size_t sums;                     /* 1 + index; 0: it has none of its own */
	bool paper, incomplete;
};

struct fleet_tasks {
	struct fleet_task *v;
	size_t n, cap;
	struct smaps *sums;              /* of address spaces */
	size_t nsums, sums_cap;
	struct intern texts;
	struct smaps_pages pages;        /* the last ones */
	bool unsized;
	uint64_t hz;                     /* ticks per second; 0: not known */
};

static int fleet_tasks_on_task(struct fleet_tasks *s, const struct census_event *ev,
			       struct atw_err *err)
{
	const struct capture_task *t = ev->task;
	struct fleet_task k = { .t = *t, .has = ev->task_has };

	k.name = report_text(&s->texts, t->name);
	k.exe = report_text(&s->texts, t->exe);
	k.cgroup = report_text(&s->texts, t->cgroup);
	if (!k.name || !k.exe || !k.cgroup || !ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = k;
	return ATW_OK;
}

/* Follows its task. */
static int fleet_tasks_on_process(struct fleet_tasks *s, const struct census_process *p,
				  struct atw_err *err)
{
	if (!ARRAY_ROOM(s->sums, s->nsums, s->sums_cap))
		return atw_err_nomem(err);
	s->sums[s->nsums++] = (struct smaps){ 0 };
	s->v[s->n - 1].sums = s->nsums;
	s->v[s->n - 1].paper = p->paper;
	return ATW_OK;
}

static int fleet_tasks_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_tasks *s = state;
	const struct capture_header *h = ev->header;
	uint64_t hz;

	switch (ev->what) {
	case CENSUS_ON_HEADER:
		s->unsized |= blob_is(h->key, "unsized");
		if (blob_is(h->key, "hz") && num_dec(h->value.data, h->value.len, &hz))
			s->hz = hz;
		return ATW_OK;
	case CENSUS_ON_TASK:
		if (capture_task_idle(ev->task->pid, ev->task_has))
			return ATW_OK;
		return fleet_tasks_on_task(s, ev, err);
	case CENSUS_ON_PROCESS:
		return fleet_tasks_on_process(s, ev->process, err);
	case CENSUS_ON_PAGES:
		pages_smaps(ev->pages, ev->page, &s->pages);
		smaps_add(&s->sums[s->nsums - 1], &s->pages);
		return ATW_OK;
	case CENSUS_ON_AREA_END:
		s->v[s->n - 1].incomplete |= ev->area->incomplete;
		return ATW_OK;
	default:
		s->v[s->n - 1].incomplete |= ev->process->incomplete;
		return ATW_OK;
	}
}

static int fleet_tasks_row(const struct fleet_tasks *s, const struct fleet_task *k,
			   const struct census_out *out, struct atw_err *err)
{
	static const uint8_t sums[ROW_SMAPS] = { T_RSS, T_PSS, T_USS, T_SWAP, T_HUGE, T_HUGETLB };
	struct report_row row = { .have = 0 };

	row_u(&row, T_PID, k->t.pid);
	row_if(&row, k->has & CAPTURE_T_TGID, T_TGID, k->t.tgid);
	row_if(&row, k->has & CAPTURE_T_PPID, T_PPID, k->t.ppid);
	row_s(&row, T_NAME, k->name);
	row_s(&row, T_EXE, k->has & CAPTURE_T_EXE ? k->exe : NULL);
	row_if(&row, k->has & CAPTURE_T_UID, T_UID, k->t.uid);
	row_s(&row, T_CGROUP, k->has & CAPTURE_T_CGROUP ? k->cgroup : NULL);
	if (k->has & CAPTURE_T_START)
		row_ticks(&row, T_START, k->t.start, s->hz);
	row_if(&row, k->has & CAPTURE_T_FAULTS, T_MINOR, k->t.minor);
	row_if(&row, k->has & CAPTURE_T_FAULTS, T_MAJOR, k->t.major);
	if (k->sums && !k->incomplete)
		row_smaps(&row, sums, &s->sums[k->sums - 1], k->paper, s->unsized);
	return row_out(&row, out, err);
}

static int fleet_tasks_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct fleet_tasks *s = state;
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		r = fleet_tasks_row(s, &s->v[i], out, err);
	return r;
}

static void fleet_tasks_deinit(void *state)
{
	struct fleet_tasks *s = state;

	free(s->v);
	free(s->sums);
	intern_deinit(&s->texts);
}

const struct census_report fleet_tasks = {
	.name = "tasks",
	.title = "Tasks",
	.help = "every task, with the memory of its address space",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(TASK) | CENSUS_ON(PROCESS) | CENSUS_ON(PAGES) |
	      CENSUS_ON(AREA_END) | CENSUS_ON(PROCESS_END),
	.schema = &schema,
	.state = sizeof(struct fleet_tasks),
	.feed = fleet_tasks_feed,
	.finish = fleet_tasks_finish,
	.deinit = fleet_tasks_deinit,
};
