// SPDX-License-Identifier: GPL-2.0-or-later
/* links.c - verified steps along a list of tasks that changes. */
#include "linux/tasks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum {
	NEXT = 0, PREV = 8,      /* in struct list_head */
	HERE = 4,                /* attempts at one place */
	TRIES = 4096,            /* attempts without a single new task */
};

static enum need_member links_start_member(const struct members *v)
{
	return member_have(v, N_task_start) ? N_task_start : N_task_pid;
}

int task_start(const struct members *v, uint64_t task, uint64_t *ret)
{
	return member_get(v, task, links_start_member(v), ret, NULL);
}

/* The read that task_start() makes, of the task with that link. */
static struct kmem_word links_start_word(const struct links *l, uint64_t link)
{
	enum need_member id = links_start_member(&l->v);
	uint8_t width = l->v.n->width[id];

	return (struct kmem_word){ .va = link - l->offset + l->v.n->member[id],
				   .len = width ? width : 8 };
}

static bool links_is_same(struct links *l, const struct task_link_mark *m)
{
	uint64_t start;

	return task_start(&l->v, m->link - l->offset, &start) == ATW_OK && start == m->start;
}

bool links_hold(struct links *l)
{
	if (l->n && links_is_same(l, &l->mark[l->n - 1]))
		return true;
	if (l->n)
		l->n--;
	return false;
}

/*
 * The current position and its next link; tasks that have been freed are popped. The task
 * is verified to be the same in the call that reads its link.
 */
static uint64_t links_stand(struct links *l, struct kmem_word *ret_next)
{
	for (;; l->n--) {
		uint64_t from = l->n ? l->mark[l->n - 1].link : l->head;
		struct kmem_word w[2] = { { .va = from + NEXT, .len = 8 } };

		kmem_list_from(l->list, from - l->offset + l->first);
		if (l->n) {
			w[1] = w[0];
			w[0] = links_start_word(l, from);
		}
		kmem_words(l->v.m, w, l->n ? 2 : 1);
		if (l->n && (!w[0].read || w[0].value != l->mark[l->n - 1].start))
			continue;
		*ret_next = w[l->n ? 1 : 0];
		return from;
	}
}

/*
 * One step forward, if both links agree and the current task is still in the list. The
 * next task's identity is read first: if it has been replaced, the back link of the new
 * task is irrelevant.
 */
static bool links_step(struct links *l, uint64_t from, const struct kmem_word *next,
		       struct task_link_mark *ret)
{
	bool task = next->value != l->head;
	struct kmem_word w[3];
	unsigned n = 0;

	if (!next->read)
		return false;
	if (task)
		w[n++] = links_start_word(l, next->value);
	w[n++] = (struct kmem_word){ .va = next->value + PREV, .len = 8 };
	if (l->n)
		w[n++] = links_start_word(l, from);
	kmem_words(l->v.m, w, n);
	for (unsigned i = 0; i < n; i++)
		if (!w[i].read)
			return false;
	ret->link = next->value;
	ret->start = task ? w[0].value : 0;
	return w[task].value == from && (!l->n || w[n - 1].value == l->mark[l->n - 1].start);
}

/* After a step back, a task is found again: it had not ended. */
static bool links_met_before(struct links *l, const struct task_link_mark *m)
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
	struct task_link_mark m = {0};
	unsigned here = 0;

	for (; l->tries < TRIES; l->tries++) {
		struct kmem_word next;
		uint64_t from = links_stand(l, &next);

		if (!links_step(l, from, &next, &m)) {
			/* What was read ahead may be from before a change. */
			kmem_list_forget(l->list);
			/* The next task may be ending; otherwise the current one is. */
			if (++here == HERE && l->n) {
				l->n--;
				here = 0;
			}
			continue;
		}
		here = 0;
		if (m.link == l->head)
			return ATW_END;
		if (links_met_before(l, &m))
			continue;
		if (!array_reserve((void **)&l->mark, &l->cap, l->n + 1, sizeof(m)))
			return atw_err_nomem(err);
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
