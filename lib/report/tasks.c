/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.c - all T: lines, including threads: page faults and times that the collector of
 * Movall et al. recorded for each task, and the process it shares memory with.
 */
#include "base/num.h"
#include "report/report.h"

enum {
	C_PID, C_TGID, C_PPID, C_TASK, C_KIND, C_MM, C_CPU, C_THREADS, C_MINOR, C_MAJOR,
	C_CHILD_MINOR, C_CHILD_MAJOR, C_USER, C_SYSTEM, C_UID, C_START, C_COUNT,
};

enum report_tasks_kind { KERNEL, PROCESS, THREAD };

static const char *const kinds[] = { "kernel", "process", "thread" };
static const struct atw_names kind_names = { 3, kinds, NULL };

static const struct atw_column columns[C_COUNT] = {
	[C_PID] = COLUMN("pid", COUNT, 7, "number of the task"),
	[C_TGID] = COLUMN("tgid", COUNT, 7, "of its process"),
	[C_PPID] = COLUMN("ppid", COUNT, 7, "of its parent", .hidden = true),
	[C_TASK] = COLUMN("task", TEXT, 16, "its name"),
	[C_KIND] = COLUMN("kind", ENUM, 7,
			"process, thread of one, or thread of the kernel",
			.names = &kind_names),
	[C_MM] = COLUMN("mm", HEX, 0,
			"address space: tasks with the same share their memory",
			.hidden = true),
	[C_CPU] = COLUMN("cpu", COUNT, 4, "where it runs, or ran last"),
	[C_THREADS] = COLUMN("threads", COUNT, 7, "how many tasks its process has"),
	[C_MINOR] = COLUMN("minor", COUNT, 9, "page faults that needed nothing read"),
	[C_MAJOR] = COLUMN("major", COUNT, 8,
			"page faults that waited for a file or for swap"),
	[C_CHILD_MINOR] = COLUMN("child_minor", COUNT, 11,
			"minor faults of its children that are gone"),
	[C_CHILD_MAJOR] = COLUMN("child_major", COUNT, 11, "likewise major faults"),
	[C_USER] = COLUMN("user", SECONDS, 9, "CPU time of its program, seconds"),
	[C_SYSTEM] = COLUMN("system", SECONDS, 9, "CPU time of the kernel for it"),
	[C_UID] = COLUMN("uid", COUNT, 6, "number of the user", .hidden = true),
	[C_START] = COLUMN("start", SECONDS, 9,
			"when it began: seconds from boot", .hidden = true),
};
static const struct atw_schema schema = { "tasks", columns, C_COUNT };

struct report_tasks_task {
	struct capture_task t;           /* its texts belong to the producer and are no
					  * longer valid */
	const char *name;
	uint32_t has;
	bool again;                      /* its address space occurred before */
};

struct tasks {
	struct report_tasks_task *v;
	size_t n, cap;
	struct intern names;
	uint64_t hz;                     /* ticks per second; 0: not known */
};

static void tasks_on_header(struct tasks *s, const struct capture_header *h)
{
	uint64_t hz;

	if (blob_is(h->key, "hz") && num_dec(h->value.data, h->value.len, &hz) && hz)
		s->hz = hz;
}

static int tasks_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	const struct capture_task *t = ev->task;
	struct tasks *s = state;
	const char *name;

	if (ev->what == CENSUS_ON_HEADER) {
		tasks_on_header(s, ev->header);
		return ATW_OK;
	}
	if (capture_task_idle(t->pid, ev->task_has))
		return ATW_OK;
	name = report_text(&s->names, t->name);
	if (!name || !ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = (struct report_tasks_task){*t, name, ev->task_has, ev->again};
	return ATW_OK;
}

/* ---- output ---- */

static int tasks_row(const struct report_tasks_task *k, uint64_t hz,
		     const struct census_out *out, struct atw_err *err)
{
	static const struct { uint8_t column; uint16_t at; uint32_t has; } numbers[] = {
#define AT(m) offsetof(struct capture_task, m)
		{ C_TGID, AT(tgid), CAPTURE_T_TGID }, { C_PPID, AT(ppid), CAPTURE_T_PPID },
		{ C_CPU, AT(cpu), CAPTURE_T_CPU }, { C_THREADS, AT(threads), CAPTURE_T_THREADS },
		{ C_MINOR, AT(minor), CAPTURE_T_FAULTS }, { C_MAJOR, AT(major), CAPTURE_T_FAULTS },
		{ C_CHILD_MINOR, AT(child_minor), CAPTURE_T_FAULTS },
		{ C_CHILD_MAJOR, AT(child_major), CAPTURE_T_FAULTS },
		{ C_UID, AT(uid), CAPTURE_T_UID },
#undef AT
	};
	static const uint8_t kind_words[] = {
		[CAPTURE_TASK_KTHREAD] = KERNEL, [CAPTURE_TASK_PROCESS] = PROCESS,
		[CAPTURE_TASK_THREAD] = THREAD,
	};
	enum capture_task_kind kind = capture_task_kind(&k->t, k->has, k->again);
	struct report_row row = { .have = 0 };

	row_u(&row, C_PID, k->t.pid);
	row_s(&row, C_TASK, k->name);
	row_if(&row, kind != CAPTURE_TASK_UNKNOWN, C_KIND, kind_words[kind]);
	row_if(&row, k->t.mm, C_MM, k->t.mm);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (k->has & numbers[i].has)
			row_u(&row, numbers[i].column,
			      *(const uint64_t *)((const char *)&k->t + numbers[i].at));
	if (k->has & CAPTURE_T_TIMES) {
		row_ticks(&row, C_USER, k->t.user, hz);
		row_ticks(&row, C_SYSTEM, k->t.system, hz);
	}
	if (k->has & CAPTURE_T_START)
		row_ticks(&row, C_START, k->t.start, hz);
	return row_out(&row, out, err);
}

static int tasks_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct tasks *s = state;
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		r = tasks_row(&s->v[i], s->hz, out, err);
	return r;
}

static void tasks_deinit(void *state)
{
	struct tasks *s = state;

	free(s->v);
	intern_deinit(&s->names);
}

const struct census_report report_tasks = {
	.name = "tasks",
	.title = "Tasks",
	.help = "every task, threads too: page faults and CPU times",
	.threads = true,
	.on = CENSUS_ON(HEADER) | CENSUS_ON(TASK),
	.schema = &schema,
	.state = sizeof(struct tasks),
	.feed = tasks_feed,
	.finish = tasks_finish,
	.deinit = tasks_deinit,
};
