/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tasks.c - tasks of the public API. */
#include "api/api.h"
#include "base/buf.h"
#include "target/target.h"

struct atw_tasks {
	struct target_tasks tasks; /* all of them */
	bool processes;            /* or these: */
	struct lnx_task *process;
	size_t n, cap, at;
	bool limit, no_memory;
	struct api_lost lost;
	struct target_task now;
	struct atw_task row;
};

/* ---- processes with memory ---- */

static void tasks_keep(struct target *t, const struct lnx_task *task, void *arg,
		       struct atw_err *why)
{
	struct atw_tasks *c = arg;

	(void)why;
	/* Of targets with all tasks, those without memory are among them. */
	if (target_has(t, TARGET_TABLES) && !task->mm)
		return;
	if (ARRAY_ROOM(c->process, c->n, c->cap))
		c->process[c->n++] = *task;
	else
		c->no_memory = true;
}

static void tasks_unread(void *arg, const struct atw_err *why)
{
	api_lost_add(&((struct atw_tasks *)arg)->lost, NULL, why);
}

static int tasks_collect(struct atw_target *t, struct atw_tasks *c, struct atw_err *err)
{
	int r = t->t->backend->each(t->t, tasks_keep, tasks_unread, c, err);

	return r == ATW_OK && c->no_memory ? atw_err_nomem(err) : r;
}

/* ---- the cursor ---- */

int atw_tasks_open(struct atw_target *target, const struct atw_tasks_opts *opts,
		   struct atw_tasks **ret, struct atw_err *err)
{
	struct atw_tasks_opts o;
	struct atw_tasks *c;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		api_given(ret, "ret", err) ?:
		api_reserved(o.reserved, err) ?:
		atw_target_need(target, o.processes ? ATW_CAP_PROCESSES : ATW_CAP_TASKS,
				err) ?:
		API_NEW(&c, err);

	if (r != ATW_OK)
		return r;
	c->processes = o.processes;
	r = c->processes ? tasks_collect(target, c, err)
			 : target_tasks_open(target->t, &c->tasks, err);
	if (r < 0)
		atw_tasks_close(c);
	else
		*ret = c;
	return r;
}

/* The next one to `c->now`; what cannot be read is noted and passed over. */
static int tasks_step(struct atw_tasks *c)
{
	struct atw_err why = {0};
	int r;

	if (c->processes) {
		if (c->at == c->n)
			return ATW_END;
		c->now = (struct target_task){
			.task = c->process[c->at++],
			.have = TASK_TGID | TASK_KIND,
		};
		c->now.have |= c->now.task.at ? TASK_AT | TASK_STATE : 0;
		c->now.have |= c->now.task.has_ppid ? TASK_PPID : 0;
		return ATW_OK;
	}
	while (!c->limit) {
		r = target_tasks_next(&c->tasks, &c->now, &why);
		if (r == ATW_OK || r == ATW_END)
			return r;
		api_lost_add(&c->lost, NULL, &why);
		c->limit = r == ATW_E_LIMIT;
	}
	return ATW_END;
}

int atw_tasks_next(struct atw_tasks *tasks, const struct atw_task **ret,
		   struct atw_err *err)
{
	const struct target_task *now;
	int r = api_both(tasks, "the list of tasks", ret, err);

	if (r < 0)
		return r;
	if (tasks_step(tasks) == ATW_END)
		return api_lost_end(&tasks->lost, err);
	now = &tasks->now;
	tasks->row = (struct atw_task){
		.comm = now->task.name,
		.at = ATW_VA(now->task.at),
		.mm = ATW_VA(now->task.mm),
		.start = now->task.start,
		.known = (now->have & TASK_TGID ? ATW_TASK_TGID : 0) |
			 (now->have & TASK_PPID ? ATW_TASK_PPID : 0) |
			 (now->have & TASK_STATE ? ATW_TASK_STATE : 0) |
			 (now->have & TASK_AT ? ATW_TASK_AT : 0) |
			 (now->have & TASK_KIND ? ATW_TASK_KERNEL : 0) |
			 (now->task.start ? ATW_TASK_START : 0),
		.pid = now->task.pid,
		.tgid = now->have & TASK_TGID ? now->task.tgid : now->task.pid,
		.ppid = now->task.ppid,
		.state = (unsigned char)now->task.state,
		.kernel = now->task.kernel,
	};
	*ret = &tasks->row;
	return ATW_OK;
}

void atw_tasks_close(struct atw_tasks *tasks)
{
	if (!tasks)
		return;
	if (!tasks->processes)
		target_tasks_close(&tasks->tasks);
	free(tasks->process);
	free(tasks);
}
