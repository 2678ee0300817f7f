/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - whose address space: --pid, --task, or whoever maps an address. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atwalk.h"
#include "base/buf.h"

/* Processes that fit, as the sentence that asks which one is meant. */
struct candidates {
	struct atw_task first;
	struct buf list;
	unsigned n;
};

enum { LISTED = 12 };

static void add(struct candidates *c, const struct atw_task *t)
{
	if (!c->n++)
		c->first = *t;
	if (c->n <= LISTED)
		buf_printf(&c->list, "%s%" PRIu32 " (%s)", c->n > 1 ? ", " : "", t->pid,
			   t->name);
	else if (c->n == LISTED + 1)
		buf_str(&c->list, ", ...");
}

static int failed(const struct opened *o, struct atw_err *err)
{
	atw_err_wrap(err, "%s", o->name);
	return complain(err);
}

static int use(struct opened *o, const struct space_opts *space, const struct atw_task *t)
{
	struct atw_err err = { 0 };
	struct atw_mm mm;
	int r = t->mm ? atw_mm_open(o->kernel, t->mm, &mm, &err) :
		atw_err_set(&err, ATW_E_MISSING, t->kernel
			    ? "process %" PRIu32 " is a kernel thread: it has no address space of its own"
			    : "process %" PRIu32 " has ended: its address space is gone", t->pid);

	if (r < 0)
		return failed(o, &err);
	o->space = mm.space;
	if (space->pti) {
		bool user = *space->pti == 'u';

		o->space.low.pa = user ? mm.user_root : mm.root;
		/* User mode has one root, and so has an x86 kernel. */
		if (user || o->space.paging.halves != ATW_SPLIT)
			o->space.high.have = false;
	}
	snprintf(o->process, sizeof(o->process), "process %" PRIu32 " (%s)", t->pid, t->name);
	o->user_space = true;
	return EXIT_COMPLETE;
}

/* Every process once, threads not. */
static int each_process(const struct opened *o,
			bool (*fits)(const struct opened *o, const struct atw_task *t,
				     const void *arg),
			const void *arg, struct candidates *found, struct atw_err *err)
{
	struct atw_tasks *tasks;
	struct atw_task t;
	int r = atw_tasks_open(o->kernel, &tasks, err);

	if (r < 0)
		return r;
	while ((r = atw_tasks_next(tasks, &t, err)) == ATW_OK)
		if (t.leader && fits(o, &t, arg))
			add(found, &t);
	atw_tasks_close(tasks);
	return r == ATW_END ? ATW_OK : r;
}

static bool has_name(const struct opened *o, const struct atw_task *t, const void *arg)
{
	(void)o;
	return !strcmp(t->name, arg);
}

static int by_name(struct opened *o, const struct space_opts *space)
{
	struct candidates found = { 0 };
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = each_process(o, has_name, space->task, &found, &err);

	if (r < 0 && !found.n) {
		status = failed(o, &err);
	} else if (!found.n) {
		atw_err_set(&err, ATW_E_MISSING, "--task: no process is called '%s'",
			    space->task);
		status = failed(o, &err);
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE, "--task: %u processes are called '%s': %s",
			    found.n, space->task, found.list.data ? found.list.data : "");
		atw_err_hint(&err, "--pid N takes one of them");
		complain(&err);
	} else {
		status = use(o, space, &found.first);
	}
	buf_deinit(&found.list);
	return status;
}

int select_process(struct opened *o, const struct space_opts *space)
{
	struct atw_err err = { 0 };
	struct atw_task t;

	if (space->task)
		return by_name(o, space);
	if (space->pid.u > UINT32_MAX) {
		atw_err_set(&err, ATW_E_MISSING, "there is no process %" PRIu64, space->pid.u);
		return failed(o, &err);
	}
	if (atw_task_by_pid(o->kernel, (uint32_t)space->pid.u, &t, &err) < 0)
		return failed(o, &err);
	return use(o, space, &t);
}

/* ---- nobody said whose: who maps it? ---- */

struct wanted {
	uint64_t first, last;
};

/* Is anything of it mapped, or kept in words that the CPU ignores? */
static bool maps(const struct opened *o, const struct atw_task *t, const void *arg)
{
	const struct wanted *want = arg;
	const struct atw_walk_opts wo = {
		.size = sizeof(wo), .first = ATW_VA(want->first), .last = ATW_VA(want->last),
		.flags = ATW_WALK_SOFT | ATW_WALK_FOLD,
	};
	const struct atw_seen *s;
	struct atw_walk *w;
	struct atw_mm mm;
	bool yes = false;

	if (!t->mm || atw_mm_open(o->kernel, t->mm, &mm, NULL) < 0 ||
	    atw_walk_open(&mm.space, &wo, &w, NULL) < 0)
		return false;
	while (!yes && atw_walk_next(w, &s, NULL) == ATW_OK)
		yes = !s->loss && s->kind != ATW_BAD;
	atw_walk_close(w);
	return yes;
}

int select_owner(const struct common *c, struct opened *o, const struct space_opts *space,
		 const char *text, uint64_t first, uint64_t last)
{
	const struct wanted want = { first, last };
	struct candidates found = { 0 };
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = each_process(o, maps, &want, &found, &err);

	if (r < 0 && !found.n) {
		atw_err_wrap(&err, "%s: is a user address, and nothing says of which process", text);
		atw_err_hint(&err, "%s", whose_tables(o));
		complain(&err);
		status = EXIT_USAGE;
	} else if (!found.n) {
		atw_err_set(&err, ATW_E_MISSING, "%s: %s: no process maps it", o->name, text);
		complain(&err);
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE, "%s: %s: %u processes map it: %s", o->name, text,
			    found.n, found.list.data ? found.list.data : "");
		atw_err_hint(&err, "--pid N takes one of them");
		complain(&err);
	} else {
		status = use(o, space, &found.first);
		if (!status)
			remark(c, "%s: %s is mapped by %s alone", o->name, text, o->process);
	}
	buf_deinit(&found.list);
	return status;
}
