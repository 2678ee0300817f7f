/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.c - whose address space: --pid, --task, or whoever maps an address. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atwalk.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "provider/captured.h"
#include "provider/proc.h"
#include "source/live_host.h"

/* Processes that fit, as the sentence that asks which one is meant. */
struct candidates {
	struct atw_task first;
	struct buf list;
	unsigned n;
	struct atw_err unread;   /* a task or its tables that could not be asked */
	bool damaged;            /* one of these not for lack of permission */
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

/* One that could not be asked; the first of them is named. */
static void candidates_unread(struct candidates *c, const struct atw_err *why)
{
	if (why->status && !c->unread.status)
		c->unread = *why;
	c->damaged |= why->status && why->status != ATW_E_PERM;
}

static int failed(const struct opened *o, struct atw_err *err)
{
	atw_err_wrap(err, "%s", o->name);
	return complain(err);
}

static int has_ended(uint64_t pid, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_NONE,
			   "process %" PRIu64 " has ended: its address space is gone", pid);
}

/* `t` is NULL where it is not known: then whoever gets its memory later may pass for it. */
static int use_mm(struct opened *o, const struct space_opts *space, uint64_t pid,
		  const struct atw_task *t, uint64_t at)
{
	const char *name = t ? t->name : "";
	struct atw_err err = { 0 };
	struct atw_mm mm;
	int r = t ? atw_mm_of(o->kernel, t, &mm, &err) : atw_mm_open(o->kernel, at, &mm, &err);

	if (r == ATW_END)
		r = has_ended(pid, &err);
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
	snprintf(o->process, sizeof(o->process), *name ? "process %" PRIu64 " (%s)"
		 : "process %" PRIu64, pid, name);
	o->user_space = true;
	o->pid = pid;
	o->mm = at;
	snprintf(o->task, sizeof(o->task), "%s", name);
	return EXIT_COMPLETE;
}

/* Without page tables a number is all that it takes. */
static int use_number(struct opened *o, uint32_t pid, const char *name)
{
	snprintf(o->process, sizeof(o->process), "process %" PRIu32 " (%s)", pid, name);
	o->user_space = true;
	o->pid = pid;
	snprintf(o->task, sizeof(o->task), "%s", name);
	return EXIT_COMPLETE;
}

static int use(struct opened *o, const struct space_opts *space, const struct atw_task *t)
{
	struct atw_err err = { 0 };

	if (o->pagemap || o->capture)
		return use_number(o, t->pid, t->name);
	if (t->mm)
		return use_mm(o, space, t->pid, t, t->mm);
	if (t->kernel)
		atw_err_set(&err, ATW_E_NONE, "process %" PRIu32
			    " is a kernel thread: it has no address space of its own", t->pid);
	else
		has_ended(t->pid, &err);
	return failed(o, &err);
}

/*
 * Of the running kernel, if the source knows processes by the numbers that we
 * see, or knows why not. False: it is asked like a dump.
 */
static bool use_live(struct opened *o, const struct space_opts *space, int *status)
{
	struct atw_err err = { 0 };
	struct atw_task t;
	struct atw_blob why;
	char key[48];
	uint64_t mm, none;

	snprintf(key, sizeof(key), "pid.%" PRIu64 ".mm", space->pid.u);
	if (atw_fact_u64(o->source, key, &mm) == ATW_OK) {
		/* In a PID namespace that number may be another process's there. */
		bool same = space->pid.u <= UINT32_MAX &&
			atw_task_by_pid(o->kernel, (uint32_t)space->pid.u, &t, NULL) == ATW_OK &&
			t.mm == mm;

		*status = use_mm(o, space, space->pid.u, same ? &t : NULL, mm);
		return true;
	}
	snprintf(key, sizeof(key), "pid.%" PRIu64 ".why", space->pid.u);
	if (atw_fact(o->source, key, &why) < 0)
		return false;
	snprintf(key, sizeof(key), "pid.%" PRIu64 ".none", space->pid.u);
	atw_err_set(&err, atw_fact_u64(o->source, key, &none) < 0 ? ATW_E_MISSING : ATW_E_NONE,
		    "--pid: %.*s", (int)why.len, (const char *)why.data);
	*status = complain(&err);
	return true;
}

/* Every process once, threads not. */
static int each_process(const struct opened *o,
			bool (*fits)(const struct opened *o, const struct atw_task *t,
				     const void *arg, struct atw_err *unread),
			const void *arg, struct candidates *found, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct atw_tasks *tasks;
	struct atw_task t;
	int r = atw_tasks_open(o->kernel, &tasks, err);

	if (r < 0)
		return r;
	while ((r = atw_tasks_next(tasks, &t, &why)) != ATW_END) {
		if (r == ATW_OK && t.leader && fits(o, &t, arg, &why))
			add(found, &t);
		candidates_unread(found, &why);
		why.status = 0;          /* there may be more behind it */
		if (r == ATW_E_LIMIT)
			break;
	}
	atw_tasks_close(tasks);
	return ATW_OK;
}

/* The same, of those that /proc has; processes that end meanwhile are none. */
static int each_in_proc(const struct opened *o,
			bool (*fits)(const struct opened *o, const struct atw_task *t,
				     const void *arg, struct atw_err *unread),
			const void *arg, struct candidates *found, struct atw_err *err)
{
	_auto_free uint32_t *pid = NULL;
	struct atw_err why = { 0 };
	struct proc_stat st;
	size_t n = 0, asked = 0, denied = 0;
	char how[32];
	int r = proc_pids(&pid, &n, err);

	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		struct atw_task t = { .pid = pid[i], .tgid = pid[i], .leader = true };

		if (proc_stat(pid[i], &st, NULL) < 0 || st.kernel)
			continue;
		memcpy(t.name, st.name, sizeof(t.name));
		if (fits(o, &t, arg, &why))
			add(found, &t);
		asked++;
		denied += why.status == ATW_E_PERM;
		candidates_unread(found, &why);
		why.status = 0;
	}
	if (denied) {
		atw_err_set(&found->unread, ATW_E_PERM,
			    "%zu of %zu processes: this process may not read them", denied, asked);
		proc_hint(&found->unread);
	} else if (live_hides_processes(how, sizeof(how))) {
		atw_err_set(&found->unread, ATW_E_PERM,
			    "/proc is mounted with %s, which hides processes of others", how);
		proc_hint(&found->unread);
	}
	return r;
}

/* The same, of those that a capture tells of. */
static int each_captured(const struct opened *o,
			 bool (*fits)(const struct opened *o, const struct atw_task *t,
				      const void *arg, struct atw_err *unread),
			 const void *arg, struct candidates *found, struct atw_err *err)
{
	struct atw_err why = { 0 };

	(void)err;
	for (size_t i = 0; i < o->capture->ntasks; i++) {
		const struct captured_task *k = &o->capture->task[i];
		struct atw_task t = { .pid = captured_process(k), .tgid = captured_process(k) };

		if (!captured_has_memory(k) || t.pid != k->pid)
			continue;
		memcpy(t.name, k->name, sizeof(t.name));
		if (fits(o, &t, arg, &why))
			add(found, &t);
	}
	return ATW_OK;
}

/* --allow-unreadable: processes that may not be read make the answer no worse. */
static bool excused(struct opened *o, const struct space_opts *space,
		    const struct candidates *found)
{
	if (!space->allow || found->unread.status != ATW_E_PERM || found->damaged)
		return false;
	snprintf(o->unasked, sizeof(o->unasked), "%.*s", (int)sizeof(o->unasked) - 1,
		 found->unread.text);
	return true;
}

/* The one that was found may not be the only one. */
static void doubt(struct opened *o, const struct space_opts *space,
		  const struct candidates *found)
{
	struct atw_err err = found->unread;

	if (!err.status || excused(o, space, found))
		return;
	atw_err_wrap(&err, "%s: not every process could be asked, and so %s is perhaps not the only one",
		     o->name, o->process);
	complain(&err);
	o->doubtful = true;
}

static const char *among(const struct candidates *found)
{
	return found->unread.status ? " of those that could be asked: " : "";
}

/* Of a capture that is damaged in places nobody knows whom these told of. */
static int not_found(const struct opened *o, const struct candidates *found)
{
	return (found && found->unread.status) || (o->capture && o->defective) ? ATW_E_MISSING
									       : ATW_E_NONE;
}

static bool has_name(const struct opened *o, const struct atw_task *t, const void *arg,
		     struct atw_err *unread)
{
	(void)o;
	(void)unread;
	return !strcmp(t->name, arg);
}

static int by_name(struct opened *o, const struct space_opts *space)
{
	struct candidates found = { 0 };
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = (o->capture ? each_captured : o->pagemap ? each_in_proc : each_process)(o, has_name, space->task, &found, &err);

	if (r < 0 && !found.n) {
		status = failed(o, &err);
	} else if (!found.n) {
		atw_err_set(&err, not_found(o, &found),
			    "--task: no process is called '%.64s'%s%.300s", space->task, among(&found),
			    found.unread.text);
		if (*space->task && !space->task[strspn(space->task, "0123456789")])
			atw_err_hint(&err, "--pid takes the number of a process");
		status = failed(o, &err);
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE, "--task: %u processes are called '%.64s': %s",
			    found.n, space->task, found.list.data ? found.list.data : "");
		atw_err_hint(&err, "--pid N takes one of them");
		complain(&err);
	} else {
		status = use(o, space, &found.first);
		if (!status)
			doubt(o, space, &found);
	}
	buf_deinit(&found.list);
	return status;
}

static int by_number_in_proc(struct opened *o, uint64_t pid)
{
	struct atw_err err = { 0 };
	struct proc_stat st;
	uint32_t tgid = 0;
	int r = pid && pid <= UINT32_MAX ? proc_tgid((uint32_t)pid, &tgid, &err) :
		atw_err_set(&err, ATW_E_NONE, "there is no process %" PRIu64, pid);

	if (r == ATW_OK)
		r = proc_stat(tgid, &st, &err);
	return r < 0 ? failed(o, &err) : use_number(o, tgid, st.name);
}

static int by_number_captured(struct opened *o, uint64_t pid)
{
	const struct captured *c = o->capture;
	size_t i = captured_find(c, pid);
	struct atw_err err = { 0 };

	if (i == CAPTURED_NONE)
		atw_err_set(&err, not_found(o, NULL), "there is no process %" PRIu64, pid);
	else if (!captured_has_memory(&c->task[i]))
		atw_err_set(&err, ATW_E_NONE,
			    "process %" PRIu64 " is a kernel thread or has ended: it has no address space of its own",
			    pid);
	else
		return use_number(o, captured_process(&c->task[i]), c->task[i].name);
	return failed(o, &err);
}

int select_process(struct opened *o, const struct space_opts *space)
{
	struct atw_err err = { 0 };
	struct atw_task t;
	int status;

	if (space->task)
		return by_name(o, space);
	if (o->pagemap)
		return by_number_in_proc(o, space->pid.u);
	if (o->capture)
		return by_number_captured(o, space->pid.u);
	if (atw_source_is_live(o->source) && use_live(o, space, &status))
		return status;
	if (space->pid.u > UINT32_MAX) {
		atw_err_set(&err, ATW_E_NONE, "there is no process %" PRIu64, space->pid.u);
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
static bool maps(const struct opened *o, const struct atw_task *t, const void *arg,
		 struct atw_err *unread)
{
	const struct wanted *want = arg;
	const struct atw_walk_opts wo = {
		.size = sizeof(wo), .first = ATW_VA(want->first), .last = ATW_VA(want->last),
		.flags = ATW_WALK_SOFT | ATW_WALK_FOLD,
	};
	const struct atw_seen *s;
	struct atw_walk *w;
	struct atw_mm mm;
	bool yes = false, lost = false;

	if (!t->mm || atw_mm_of(o->kernel, t, &mm, unread) != ATW_OK ||
	    atw_walk_open(&mm.space, &wo, &w, unread) < 0)
		return false;
	while (!yes && atw_walk_next(w, &s, NULL) == ATW_OK) {
		yes = !s->loss && s->kind != ATW_BAD;
		lost |= s->loss != ATW_HAVE;
	}
	atw_walk_close(w);
	if (lost && !yes)
		atw_err_set(unread, ATW_E_MISSING, "process %" PRIu32 " (%s): a page table cannot be read",
			    t->pid, t->name);
	return yes;
}

/* The same as /proc has it: is an area there? */
static bool maps_area(const struct opened *o, const struct atw_task *t, const void *arg,
		      struct atw_err *unread)
{
	const struct wanted *want = arg;
	struct atw_err err = { 0 };
	int r = proc_maps(t->pid, want->first, want->last, &err);

	(void)o;
	if (r < 0 && r != ATW_E_MISSING)
		*unread = err;
	return r == ATW_OK;
}

int select_owner(const struct common *c, struct opened *o, const struct space_opts *space,
		 const char *text, uint64_t first, uint64_t last, bool *nobody)
{
	const struct wanted want = { first, last };
	struct candidates found = { 0 };
	struct atw_err err = { 0 };
	int status = EXIT_NO;
	int r = o->pagemap ? each_in_proc(o, maps_area, &want, &found, &err)
			   : each_process(o, maps, &want, &found, &err);

	if (r < 0 && !found.n) {
		atw_err_wrap(&err, "%s: is a user address, and nothing says of which process", text);
		atw_err_hint(&err, "%s", whose_tables(o));
		complain(&err);
		status = EXIT_USAGE;
	} else if (!found.n) {
		atw_err_set(&err, ATW_E_MISSING, "%s: %s: no process maps it%s%.300s", o->name,
			    text, among(&found), found.unread.text);
		if (found.unread.hint[0])
			atw_err_hint(&err, "%s", found.unread.hint);
		complain(&err);
		*nobody = true;
		o->doubtful |= found.unread.status && !excused(o, space, &found);
		status = EXIT_COMPLETE;
	} else if (found.n > 1) {
		atw_err_set(&err, ATW_E_USAGE, "%s: %s: %u processes map it: %s%s%.200s", o->name, text,
			    found.n, found.list.data ? found.list.data : "",
			    found.unread.status ? "; not every process could be asked: " : "",
			    found.unread.text);
		atw_err_hint(&err, "--pid N takes one of them");
		complain(&err);
	} else {
		status = use(o, space, &found.first);
		if (!status)
			doubt(o, space, &found);
		if (!status && !o->doubtful && !found.unread.status)
			remark(c, "%s: %s is mapped by %s alone", o->name, text, o->process);
	}
	buf_deinit(&found.list);
	return status;
}
