/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links.h - iterator over a list of tasks of a running kernel.
 *
 * The kernel appends to the list and removes anywhere, and a removed task may soon be
 * another one, elsewhere in the list. So a task is identified by its address and start
 * time; if the current one has ended, the iterator steps back to the last that is still
 * in the list. The tasks behind that one have not been returned yet.
 */
#ifndef LINUX_LINKS_H
#define LINUX_LINKS_H

#include "linux/members.h"

struct task_link_mark {
	uint64_t link;
	uint64_t start;          /* of the task, from task_start() */
};

struct links {
	struct members v;
	uint64_t head;           /* not part of a task */
	uint32_t offset;         /* of the link in a task_struct */
	/* Tasks that were returned: the first n are the path to the current one. */
	struct task_link_mark *mark;
	size_t n, met, cap;
	unsigned tries;          /* attempts since the last one */
};

/* Set head and offset before; again for another list. */
static inline void links_begin(struct links *l, uint64_t head)
{
	l->head = head;
	l->n = l->met = 0;
	l->tries = 0;
}

/*
 * The next task, ATW_END, or an error: the list changed on every attempt, or is broken.
 */
int links_next(struct links *l, uint64_t *ret_task, struct atw_err *err);
/*
 * Is the task that was returned last unchanged? If not, what was read of it is invalid.
 */
bool links_hold(struct links *l);
void links_deinit(struct links *l);

/* Start time in ns; a less precise value if the kernel lacks the member. */
int task_start(const struct members *v, uint64_t task, uint64_t *ret);

#endif
