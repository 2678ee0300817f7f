/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links.h - a list of tasks that moves while it is followed.
 *
 * The kernel adds at the end and takes out anywhere, and what was taken out soon
 * is another task, somewhere else in the list. So a task is known by its place
 * and the moment it began; and when the one we stand on is gone, we go back to
 * the last that is still there. What follows it was not returned yet.
 */
#ifndef LINUX_LINKS_H
#define LINUX_LINKS_H

#include "linux/members.h"

struct task_link_mark {
	uint64_t link;
	uint64_t start;          /* of the task, as task_start() has it */
};

struct links {
	struct members v;
	uint64_t head;           /* not in a task */
	uint32_t offset;         /* of the link in a task_struct */
	/* What was met: the first n as far as they are the way to here. */
	struct task_link_mark *mark;
	size_t n, met, cap;
	unsigned tries;          /* since the last one */
};

/* Set head and offset before; again for another list. */
static inline void links_begin(struct links *l, uint64_t head)
{
	l->head = head;
	l->n = l->met = 0;
	l->tries = 0;
}

/* The next task, ATW_END, or why not: then it never held still, or is broken. */
int links_next(struct links *l, uint64_t *ret_task, struct atw_err *err);
/* Is the one returned last still the same? If not, nothing of it is true. */
bool links_hold(struct links *l);
void links_deinit(struct links *l);

/* When it began, in ns; where the kernel does not say, something less good. */
int task_start(const struct members *v, uint64_t task, uint64_t *ret);

#endif
