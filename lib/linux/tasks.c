// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tasks.c - iterator over the list of tasks.
 *
 * init_task.tasks links the leader of every process, signal->thread_head the threads of
 * each. The lists are doubly linked, and every step is verified by the back link: with
 * any content of memory, such a walk cannot enter a cycle that excludes its start. Where
 * the list of leaders is broken, the tasks behind the break are reached from the other
 * end.
 */
#include "linux/tasks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/message.h"

enum {
	PID_MAX = 4 * 1024 * 1024,       /* PID_MAX_LIMIT, include/linux/threads.h */
	COMM = 16,                       /* TASK_COMM_LEN */
	PF_KTHREAD = 0x00200000,
	NEXT = 0, PREV = 8,              /* in struct list_head */
};

enum tasks_phase { LEADERS, THREADS, DONE };

struct lnx_tasks {
	struct members v;
	enum tasks_phase phase;
	uint64_t head;           /* the link in init_task */
	uint64_t link;           /* of the last leader, or the head */
	uint64_t broken;         /* the last valid one before a break; 0: none */
	unsigned way;            /* NEXT, or PREV behind a break */
	uint64_t leader;         /* task of the leader, and its PID */
	uint32_t tgid;
	uint64_t thread_head, thread;
	uint32_t count;          /* number of links followed */
	bool live;               /* the lists change */
	bool leaders_only;
	struct links leaders, threads;
	uint32_t first, len;     /* the part of a task_struct that is read */
	struct kmem_list *list;  /* of leaders that are read ahead, or NULL */
	struct {                 /* the last parent, as long as one reading lasts */
		uint64_t at, tgid, reading;
	} parent;
};

/* What is read of each task, at once if the kernel runs. */
static const enum need_member tasks_members[] = {
	N_task_pid, N_task_tgid, N_task_comm, N_task_start, N_task_state, N_task_exit_state,
	N_task_flags, N_task_real_parent, N_task_mm, N_task_tasks, N_task_signal,
};

/* The part of a task_struct that has them. The name and the links are longer than 8 bytes. */
static void tasks_find_part(struct lnx_tasks *t)
{
	const struct members *v = &t->v;
	uint32_t len = members_span(v, tasks_members, ARRAY_SIZE(tasks_members), &t->first);
	uint32_t name = v->n->member[N_task_comm] - t->first + COMM;
	uint32_t links = v->n->member[N_task_tasks] - t->first + 2 * 8;

	len = len < name ? name : len;
	t->len = len < links ? links : len;
}

static void tasks_read_ahead(struct lnx_tasks *t)
{
	const enum need_member mm[] = { N_mm_pgd };
	const struct members *v = &t->v;
	struct kmem_list_shape s = {
		.len = t->len, .next = v->n->member[N_task_tasks] - t->first,
	};

	if (member_have(v, N_task_mm) && member_have(v, N_mm_pgd)) {
		s.pointer = v->n->member[N_task_mm] - t->first;
		s.behind_len = members_span(v, mm, 1, &s.behind);
	}
	t->list = kmem_list_create(v->m, &s);
	t->leaders.list = t->list;
	t->leaders.first = t->first;
}

int tasks_open_at(struct members v, uint64_t init_task, struct lnx_tasks **ret,
		  struct atw_err *err)
{
	struct lnx_tasks *t;
	int r = needs_check(v.n, FOR_TASKS, err);

	if (r < 0)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return atw_err_nomem(err);
	t->v = v;
	t->head = t->link = init_task + v.n->member[N_task_tasks];
	t->live = kmem_is_live(v.m);
	t->leaders = (struct links){ .v = v, .offset = v.n->member[N_task_tasks] };
	t->threads = (struct links){ .v = v, .offset = v.n->member[N_task_thread_node] };
	links_begin(&t->leaders, t->head);
	tasks_find_part(t);
	tasks_read_ahead(t);
	*ret = t;
	return ATW_OK;
}

int lnx_tasks_open(struct atw_kernel *k, struct lnx_tasks **ret, struct atw_err *err)
{
	struct members v = { 0 };
	uint64_t init_task = 0;
	int r = kernel_access_types(k, FOR_TASKS, &v, err) ?:
		kernel_init_task(k, &init_task, err);

	return r < 0 ? r : tasks_open_at(v, init_task, ret, err);
}

void tasks_leaders(struct lnx_tasks *t)
{
	t->leaders_only = true;
}

void lnx_tasks_close(struct lnx_tasks *t)
{
	if (!t)
		return;
	links_deinit(&t->leaders);
	links_deinit(&t->threads);
	kmem_list_destroy(t->list);
	free(t);
}

/* ---- one task ---- */

char task_state_letter(uint64_t state, uint32_t exit_state)
{
	enum {
		UNINTERRUPTIBLE = 0x2, REPORT = 0x7f, NOLOAD = 0x400,
		RTLOCK_WAIT = 0x1000,    /* 5f220be21418 (5.16) */
		FROZEN = 0x8000,         /* f5d39b020809 (6.1) */
		IDLE = UNINTERRUPTIBLE | NOLOAD,
	};
	uint64_t report = (state | exit_state) & REPORT;
	unsigned letter = 0;

	if ((state & IDLE) == IDLE)
		return 'I';
	/* __task_state_index() reports these as uninterruptible waits. */
	if (state & (RTLOCK_WAIT | FROZEN))
		report = UNINTERRUPTIBLE;
	for (; report; report >>= 1)
		letter++;
	return "RSDTtXZP"[letter];
}

static char tasks_state(const struct members *v, uint64_t task)
{
	uint64_t s, exit_state;

	if (member_get(v, task, N_task_state, &s, NULL) < 0 ||
	    member_get(v, task, N_task_exit_state, &exit_state, NULL) < 0)
		return '?';
	return task_state_letter(s, (uint32_t)exit_state);
}

/* Of one moment, a parent is the same for all of its children. */
static bool tasks_parent(struct lnx_tasks *t, uint64_t task, uint64_t *ret)
{
	uint64_t at, tgid, reading = kmem_list_reading(t->list);

	if (member_get(&t->v, task, N_task_real_parent, &at, NULL) < 0 || !at)
		return false;
	if (!reading || at != t->parent.at || reading != t->parent.reading) {
		if (member_get(&t->v, at, N_task_tgid, &tgid, NULL) < 0)
			return false;
		t->parent.at = at;
		t->parent.tgid = tgid;
		t->parent.reading = reading;
	}
	*ret = t->parent.tgid;
	return true;
}

/* Missing members remain zero; without a TID there is no task. */
static int tasks_fill_held(struct lnx_tasks *t, uint64_t task, struct lnx_task *ret,
			   struct atw_err *err)
{
	const struct members *v = &t->v;
	struct lnx_task n = { .at = task };
	uint64_t pid = 0, tgid = 0, flags = 0, ppid;
	int r = member_get(v, task, N_task_pid, &pid, err) ?:
		member_get(v, task, N_task_tgid, &tgid, err) ?:
		kmem_read(v->m, task + v->n->member[N_task_comm], n.name, COMM, err);

	if (r < 0)
		return atw_err_wrap(err, "task at 0x%" PRIx64, task);
	if (!pid || pid > PID_MAX || tgid != (t->phase == THREADS ? t->tgid : pid))
		return atw_err_set(err, ATW_E_DAMAGED,
				   "task at 0x%" PRIx64 ": has number %" PRIu64 " of process %" PRIu64
				   ", which cannot be", task, pid, tgid);
	n.pid = (uint32_t)pid;
	n.tgid = (uint32_t)tgid;
	n.leader = pid == tgid;
	if (member_have(v, N_task_start))
		member_get(v, task, N_task_start, &n.start, NULL);
	n.state = tasks_state(v, task);
	if (member_get(v, task, N_task_flags, &flags, NULL) == ATW_OK)
		n.kernel = flags & PF_KTHREAD;
	n.has_ppid = tasks_parent(t, task, &ppid);
	n.ppid = n.has_ppid ? (uint32_t)ppid : 0;
	if (member_have(v, N_task_mm)) {
		r = member_get(v, task, N_task_mm, &n.mm, err);
		if (r < 0)
			return atw_err_wrap(err, "task %" PRIu32 " at 0x%" PRIx64, n.pid, task);
		if (n.mm && kmem_list_reading(t->list))
			member_get(v, n.mm, N_mm_pgd, &n.pgd, NULL);
	}
	*ret = n;
	return ATW_OK;
}

int tasks_idle(struct atw_kernel *k, struct lnx_task *ret, struct atw_err *err)
{
	struct members v = { 0 };
	struct lnx_task n = { .kernel = true, .leader = true };
	uint64_t pid = 0, tgid = 0;
	int r = kernel_access_types(k, FOR_TASKS, &v, err) ?:
		kernel_init_task(k, &n.at, err) ?:
		member_get(&v, n.at, N_task_pid, &pid, err) ?:
		member_get(&v, n.at, N_task_tgid, &tgid, err) ?:
		kmem_read(v.m, n.at + v.n->member[N_task_comm], n.name, COMM, err);

	if (r == ATW_OK && (pid || tgid))
		r = atw_err_set(err, ATW_E_DAMAGED, "init_task has number %" PRIu64, pid);
	if (r < 0)
		return r;
	n.state = tasks_state(&v, n.at);
	*ret = n;
	return ATW_OK;
}

/* Members that belong together, read at once if the kernel runs. */
static int tasks_fill(struct lnx_tasks *t, uint64_t task, struct lnx_task *ret,
		      struct atw_err *err)
{
	int r;

	kmem_hold(t->v.m, task + t->first, t->len);
	r = tasks_fill_held(t, task, ret, err);
	members_release(&t->v);
	return r;
}

/* ---- the lists ---- */

/* One step forward, if the link there points back. */
static int tasks_step_once(const struct lnx_tasks *t, uint64_t link, unsigned way,
			   uint64_t *ret, struct atw_err *err)
{
	uint64_t to = 0, back = 0;
	int r = kmem_u64(t->v.m, link + way, &to, err);

	if (r == ATW_OK && way == PREV && to == t->broken) {
		*ret = to;               /* the next link is known to be broken */
		return ATW_OK;
	}
	if (r == ATW_OK)
		r = kmem_u64(t->v.m, to + (way ^ PREV), &back, err);
	if (r < 0)
		return r;
	if (back != link)
		return atw_err_set(err, ATW_E_DAMAGED,
				   "the link at 0x%" PRIx64 " leads to 0x%" PRIx64
				   ", and that one's back to 0x%" PRIx64, link, to, back);
	*ret = to;
	return ATW_OK;
}

static uint64_t tasks_of(const struct lnx_tasks *t, uint64_t link, enum need_member id)
{
	return link - t->v.n->member[id];
}

/* The list is broken behind t->link: continue from its other end. */
static int tasks_turn(struct lnx_tasks *t, struct atw_err *err)
{
	atw_err_wrap(err, "the list of tasks is broken at %s0x%" PRIx64,
		     t->link == t->head ? _("init_task, ") : _("the task at "),
		     tasks_of(t, t->link, N_task_tasks));
	if (t->way == PREV) {
		t->phase = DONE;
	} else {
		t->way = PREV;
		t->broken = t->link;
		t->link = t->head;
	}
	return err->status;
}

/* On a running kernel, members are valid if the task is still the same after the read. */
static int tasks_next_moving(struct lnx_tasks *t, struct links *l, struct lnx_task *ret,
			     struct atw_err *err)
{
	for (;;) {
		struct atw_err why = { 0 };
		uint64_t task;
		int r = links_next(l, &task, err);

		if (r != ATW_OK)
			return r;
		r = tasks_fill(t, task, ret, &why);
		if (!links_hold(l))
			continue;
		return atw_err_give(err, r, &why);
	}
}

/* The leader's task in t->leader. */
static int tasks_next_process(struct lnx_tasks *t, struct lnx_task *ret,
			      struct atw_err *err)
{
	uint64_t to = 0;
	int r;

	if (t->live) {
		r = tasks_next_moving(t, &t->leaders, ret, err);
		if (r == ATW_OK)
			t->leader = ret->at;
		else if (r == ATW_END || t->leaders.tries)
			t->phase = DONE;
		return r;
	}
	r = tasks_step_once(t, t->link, t->way, &to, err);
	if (r < 0)
		return tasks_turn(t, err);
	if (to == t->head || to == t->broken) {
		t->phase = DONE;
		return ATW_END;
	}
	t->link = to;
	t->leader = tasks_of(t, to, N_task_tasks);
	return tasks_fill(t, t->leader, ret, err); /* even on failure, because its
						    * links are valid */
}

/* ATW_END: nothing to return; t->phase determines whether there may be more. */
static int tasks_next_thread(struct lnx_tasks *t, struct lnx_task *ret,
			     struct atw_err *err)
{
	uint64_t task;

	if (t->live) {
		/* Failures in a process that has ended meanwhile are ignored. */
		int r = tasks_next_moving(t, &t->threads, ret, NULL);

		if (r != ATW_OK)
			t->phase = LEADERS;
		return r != ATW_OK || ret->at == t->leader ? ATW_END : ATW_OK;
	}
	if (tasks_step_once(t, t->thread, NEXT, &t->thread, err) < 0) {
		t->phase = LEADERS;
		return atw_err_wrap(err, "the threads of process %" PRIu32, t->tgid);
	}
	if (t->thread == t->thread_head) {
		t->phase = LEADERS;
		return ATW_END;
	}
	task = tasks_of(t, t->thread, N_task_thread_node);
	return task == t->leader ? ATW_END : tasks_fill(t, task, ret, err);
}

static void tasks_to_threads(struct lnx_tasks *t)
{
	t->thread = t->thread_head;
	links_begin(&t->threads, t->thread_head);
	t->phase = THREADS;
}

/* If the main thread has ended, the memory of other threads is used for the process. */
static void tasks_query_threads(struct lnx_tasks *t, struct lnx_task *leader)
{
	while (!leader->mm && t->phase == THREADS && t->count++ < 2 * PID_MAX) {
		struct atw_err why = { 0 };
		struct lnx_task k = { 0 };

		if (tasks_next_thread(t, &k, &why) != ATW_OK || k.kernel)
			continue;
		leader->mm = k.mm;
		leader->by_thread = k.mm != 0;
	}
	tasks_to_threads(t);
}

static int tasks_next_leader(struct lnx_tasks *t, struct lnx_task *ret,
			     struct atw_err *err)
{
	int r = tasks_next_process(t, ret, err);

	if (r != ATW_OK)
		return r;
	t->tgid = ret->tgid;
	if (t->leaders_only && (ret->mm || ret->kernel))
		return ATW_OK;
	r = member_get(&t->v, t->leader, N_task_signal, &t->thread_head, NULL);
	if (r == ATW_OK && t->thread_head) {
		t->thread_head += t->v.n->member[N_signal_thread_head];
		tasks_to_threads(t);
		if (!ret->mm && !ret->kernel)
			tasks_query_threads(t, ret);
		if (t->leaders_only)
			t->phase = LEADERS;
	}
	return ATW_OK;
}

static int tasks_next(struct lnx_tasks *t, struct lnx_task *ret, struct atw_err *err)
{
	struct atw_err why = { 0 };
	int r = ATW_END;

	while (r == ATW_END && t->phase != DONE) {
		if (t->count++ >= 2 * PID_MAX) {
			t->phase = DONE;
			return atw_err_set(err, ATW_E_LIMIT,
					   "the list of tasks has more than there can be");
		}
		r = t->phase == THREADS ? tasks_next_thread(t, ret, &why)
					: tasks_next_leader(t, ret, &why);
	}
	return atw_err_give(err, r, &why);
}

int lnx_tasks_next(struct lnx_tasks *t, struct lnx_task *ret, struct atw_err *err)
{
	int r;

	kmem_serve(t->v.m, t->list);
	r = tasks_next(t, ret, err);
	kmem_serve(t->v.m, NULL);
	return r;
}

/* One pass over the list; `first`: why an entry of it could not be read. */
static int tasks_find(struct atw_kernel *k, uint32_t pid, bool leaders, struct lnx_task *ret,
		      uint32_t *ret_n, struct atw_err *first, struct atw_err *err)
{
	struct lnx_tasks *tasks = NULL;
	struct lnx_task t = { 0 };
	struct atw_err why = { 0 };
	int r = lnx_tasks_open(k, &tasks, err);

	if (r < 0)
		return r;
	if (leaders)
		tasks_leaders(tasks);
	*ret_n = 0;
	first->status = ATW_OK;
	while ((r = lnx_tasks_next(tasks, &t, &why)) != ATW_END) {
		*ret_n += r == ATW_OK;
		if (r == ATW_OK && t.pid == pid)
			break;
		if (r < 0 && !first->status)
			*first = why;
	}
	lnx_tasks_close(tasks);
	if (r == ATW_OK)
		*ret = t;
	return r;
}

int lnx_task_by_pid(struct atw_kernel *k, uint32_t pid, struct lnx_task *ret,
		    struct atw_err *err)
{
	struct atw_err first = { 0 };
	uint32_t n = 0;
	int r = tasks_find(k, pid, true, ret, &n, &first, err);

	/* Few ask for a thread, and there are many. */
	if (r == ATW_END)
		r = tasks_find(k, pid, false, ret, &n, &first, err);
	if (r == ATW_END && first.status)
		r = atw_err_set(err, first.status,
				"task %" PRIu32 " is not among the %" PRIu32 " that were found: %.400s",
				pid, n, first.text);
	else if (r == ATW_END)
		r = atw_err_set(err, ATW_E_NONE,
				"there is no process or thread %" PRIu32 " among %" PRIu32 " tasks",
				pid, n);
	return r;
}
