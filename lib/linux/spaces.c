// SPDX-License-Identifier: GPL-2.0-or-later
/* spaces.c - collection of the address spaces of all tasks. */
#include "linux/spaces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static void spaces_fault(struct spaces *s, const struct atw_err *why)
{
	if (!s->first.status)
		s->first = *why;
}

/* Threads share the address space of their process, and only the process is listed. */
static bool spaces_add_owner(struct owned_space *o, uint32_t tgid)
{
	/* Threads of a process are adjacent in the list. */
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): by_mm has what v[] has */
	if (o->n && o->pid[o->n - 1] == tgid)
		return true;
	if (!ARRAY_ROOM(o->pid, o->n, o->cap))
		return false;
	o->pid[o->n++] = tgid;
	return true;
}

static bool spaces_add_task(struct spaces *s, struct atw_kernel *k,
			    const struct lnx_task *t)
{
	struct atw_err why = { 0 };
	struct owned_space *o;
	uint64_t i = table_find(&s->by_mm, t->mm);
	int r;

	if (i)
		return spaces_add_owner(&s->v[i - 1], t->tgid);
	if (!table_add(&s->by_mm, t->mm, s->n + 1) || !ARRAY_ROOM(s->v, s->n, s->cap))
		return false;
	o = &s->v[s->n++];
	*o = (struct owned_space){ .at = t->mm };
	memcpy(o->name, t->name, sizeof(o->name));
	r = atw_mm_of(k, t, &o->mm, &why);
	o->have = r == ATW_OK;
	if (r < 0) {
		s->bad_spaces++;
		atw_err_wrap(&why, "process %" PRIu32, t->tgid);
		spaces_fault(s, &why);
	}
	return spaces_add_owner(o, t->tgid);
}

int spaces_collect(struct atw_kernel *k, struct spaces *ret, struct atw_err *err)
{
	struct spaces s = { 0 };
	struct atw_err why = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task t;
	bool room = true;
	int r = lnx_tasks_open(k, &tasks, err);

	if (r < 0)
		return r;
	while (room && (r = lnx_tasks_next(tasks, &t, &why)) != ATW_END) {
		if (r < 0) {
			s.bad_tasks++;
			spaces_fault(&s, &why);
			if (r == ATW_E_LIMIT)
				break;
			continue;
		}
		s.tasks++;
		if (t.mm)
			room = spaces_add_task(&s, k, &t);
	}
	lnx_tasks_close(tasks);
	if (!room) {
		spaces_deinit(&s);
		return atw_err_nomem(err);
	}
	*ret = s;
	return ATW_OK;
}

void spaces_deinit(struct spaces *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].pid);
	free(s->v);
	table_deinit(&s->by_mm);
	*s = (struct spaces){ 0 };
}
