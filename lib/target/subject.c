/* SPDX-License-Identifier: GPL-2.0-or-later */
/* subject.c - processes by number, by name and by what they map. */
#include "target/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SUBJECT_LISTED = 12 };

void subject_default(const struct target *t, struct subject *ret)
{
	*ret = (struct subject){.space = t->space, .given = t->space_given};
	memcpy(ret->label, t->label, sizeof(ret->label));
}

void subject_set_process(struct subject *s, uint64_t pid, const char *name)
{
	snprintf(s->label, sizeof(s->label),
		 *name ? "process %" PRIu64 " (%s)" : "process %" PRIu64, pid, name);
	snprintf(s->task, sizeof(s->task), "%s", name);
	s->pid = pid;
	s->given = true;
}

int subject_by_pid(struct target *t, uint64_t pid, unsigned half, struct subject *ret,
		   struct atw_err *err)
{
	struct subject s;
	int r;

	subject_default(t, &s);
	r = t->backend->by_pid(t, pid, half, &s, err);
	if (r == ATW_OK)
		*ret = s;
	return r;
}

int subject_by_task(struct target *t, const struct lnx_task *task, unsigned half,
		    struct subject *ret, struct atw_err *err)
{
	struct subject s;
	int r = ATW_OK;

	subject_default(t, &s);
	if (t->backend->by_task)
		r = t->backend->by_task(t, task, half, &s, err);
	else
		subject_set_process(&s, task->pid, task->name);
	if (r == ATW_OK)
		*ret = s;
	return r;
}

/* ---- those that fit ---- */

struct subject_search {
	struct subject_matches *found;
	const char *name; /* NULL: by what it maps */
	uint64_t first, last;
};

static void subject_add(struct subject_matches *m, const struct lnx_task *t)
{
	if (!m->n++)
		m->first = *t;
	if (m->n <= SUBJECT_LISTED)
		buf_printf(&m->list, "%s%" PRIu32 " (%s)", m->n > 1 ? ", " : "", t->pid,
			   t->name);
	else if (m->n == SUBJECT_LISTED + 1)
		buf_str(&m->list, ", ...");
}

/* The first of them is kept. */
static void subject_unread(void *arg, const struct atw_err *why)
{
	struct subject_matches *m = ((struct subject_search *)arg)->found;

	if (!m->unread.status)
		m->unread = *why;
	m->damaged |= why->status != ATW_E_PERM;
}

static void subject_fits(struct target *t, const struct lnx_task *task, void *arg,
			 struct atw_err *why)
{
	const struct subject_search *s = arg;
	int r;

	if (s->name)
		r = strcmp(task->name, s->name) ? ATW_END : ATW_OK;
	else
		r = t->backend->maps(t, task, s->first, s->last, why);
	if (r == ATW_OK)
		subject_add(s->found, task);
}

void subject_matches_deinit(struct subject_matches *m)
{
	buf_deinit(&m->list);
}

int subject_named(struct target *t, const char *name, struct subject_matches *ret,
		  struct atw_err *err)
{
	struct subject_search s = {.found = ret, .name = name};

	*ret = (struct subject_matches){0};
	return t->backend->each(t, subject_fits, subject_unread, &s, err);
}

int subject_owners(struct target *t, uint64_t first, uint64_t last,
		   struct subject_matches *ret, struct atw_err *err)
{
	struct subject_search s = {.found = ret, .first = first, .last = last};

	int r = target_need(t, TARGET_OWNER, "this", err);

	*ret = (struct subject_matches){ 0 };
	return r < 0 ? r : t->backend->each(t, subject_fits, subject_unread, &s, err);
}
