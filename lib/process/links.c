// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/links.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum {
	NEXT = 0, PREV = 8,      /* in struct list_head */
	HERE = 4,                /* tries at one place */
	TRIES = 4096,            /* without a single new task */
};

int task_start(const struct members *v, uint64_t task, uint64_t *ret)
{
	return member_get(v, task, member_have(v, N_task_start) ? N_task_start : N_task_pid,
			  ret, NULL);
}

static bool is_same(struct links *l, const struct mark *m)
{
	uint64_t start;

	return task_start(&l->v, m->link - l->offset, &start) == ATW_OK && start == m->start;
}

bool links_hold(struct links *l)
{
	if (l->n && is_same(l, &l->mark[l->n - 1]))
		return true;
	if (l->n)
		l->n--;
	return false;
}

/*
 * One link on, if both ends say so and we still stand in the list. Who is there
 * is asked first: if it is another one by now, the link back is of no use to it.
 */
static bool step(struct links *l, uint64_t from, struct mark *ret)
{
	uint64_t back;

	if (kmem_u64(l->v.m, from + NEXT, &ret->link, NULL) < 0 ||
	    (ret->link != l->head &&
	     task_start(&l->v, ret->link - l->offset, &ret->start) < 0) ||
	    kmem_u64(l->v.m, ret->link + PREV, &back, NULL) < 0 || back != from)
		return false;
	return !l->n || is_same(l, &l->mark[l->n - 1]);
}

/* We went back, and come across one of those again: they were not gone. */
static bool met_before(struct links *l, const struct mark *m)
{
	for (size_t i = l->n; i < l->met; i++)
		if (l->mark[i].link == m->link && l->mark[i].start == m->start) {
			memmove(&l->mark[l->n], &l->mark[i],
				(l->met - i) * sizeof(l->mark[0]));
			l->met -= i - l->n;
			l->n++;
			return true;
		}
	return false;
}

int links_next(struct links *l, uint64_t *ret_task, struct atw_err *err)
{
	struct mark m = { 0 };
	unsigned here = 0;

	for (; l->tries < TRIES; l->tries++) {
		uint64_t from;

		/* Those whose memory is another's by now. */
		while (l->n && !is_same(l, &l->mark[l->n - 1]))
			l->n--;
		from = l->n ? l->mark[l->n - 1].link : l->head;
		if (!step(l, from, &m)) {
			/* The next may be on its way out; else it is this one. */
			if (++here == HERE && l->n) {
				l->n--;
				here = 0;
			}
			continue;
		}
		here = 0;
		if (m.link == l->head)
			return ATW_END;
		if (met_before(l, &m))
			continue;
		if (!array_reserve((void **)&l->mark, &l->cap, l->n + 1, sizeof(m)))
			return atw_err_set(err, ATW_E_NOMEM, "out of memory");
		l->mark[l->n++] = m;
		l->met = l->n;
		l->tries = 0;
		*ret_task = m.link - l->offset;
		return ATW_OK;
	}
	return atw_err_set(err, ATW_E_DAMAGED,
			   "the list of tasks at 0x%" PRIx64 " does not hold still, or is broken",
			   l->head);
}

void links_deinit(struct links *l)
{
	free(l->mark);
	*l = (struct links){ .mark = NULL };
}
