// SPDX-License-Identifier: GPL-2.0-or-later
/* moving.c - extract of a running machine. */
#include "extract/own.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "linux/task_info.h"
#include "linux/kernel.h"

enum { ROUNDS = 8 };

struct task_list {
	struct lnx_task *v;
	size_t n, cap;
};

/* A process that existed in the first snapshot. */
struct moving_known {
	struct lnx_task task;
	bool done;               /* everything of it has been read */
	bool gone;
};

struct moving_reader {
	struct moving *m;
	struct extract live;     /* reads the machine */
	struct task_list now;    /* in the last snapshot, threads after their leaders */
	struct moving_known *v;
	size_t n;
};

/* ---- the processes ---- */

static int moving_list(struct moving_reader *w, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct lnx_tasks *tasks;
	struct lnx_task t;
	int r = lnx_tasks_open(w->live.k, &tasks, &why);

	w->now.n = 0;
	w->m->bad_tasks = 0;
	w->m->first.status = 0;
	/* If there are no tasks, the reason is recorded for readers of the extract. */
	if (r < 0)
		return r == ATW_E_NOMEM ? atw_err_set(err, r, "%s", why.text) : ATW_OK;
	while ((r = lnx_tasks_next(tasks, &t, &why)) != ATW_END) {
		if (r == ATW_OK && !array_reserve((void **)&w->now.v, &w->now.cap, w->now.n + 1,
						  sizeof(t))) {
			lnx_tasks_close(tasks);
			return atw_err_nomem(err);
		}
		if (r == ATW_OK)
			w->now.v[w->now.n++] = t;
		else if (!w->m->bad_tasks++)
			w->m->first = why;
		if (r == ATW_E_LIMIT)
			break;
	}
	lnx_tasks_close(tasks);
	return ATW_OK;
}

static bool moving_same(const struct lnx_task *a, const struct lnx_task *b)
{
	return a->at == b->at && a->pid == b->pid && a->start == b->start;
}

static int moving_known_by_place(const void *a, const void *b)
{
	const struct moving_known *x = a, *y = b;

	return x->task.at < y->task.at ? -1 : x->task.at > y->task.at;
}

static struct moving_known *moving_find(struct moving_reader *w, const struct lnx_task *t)
{
	struct moving_known key = {.task = *t};
	struct moving_known *k =
		w->n ? bsearch(&key, w->v, w->n, sizeof(key), moving_known_by_place)
		     : NULL;

	return k && !k->gone && moving_same(&k->task, t) ? k : NULL;
}

static int moving_begin(struct moving_reader *w, struct atw_err *err)
{
	int r = moving_list(w, err);

	if (r != ATW_OK)
		return r;
	w->v = calloc(w->now.n + 1, sizeof(*w->v));
	if (!w->v)
		return atw_err_nomem(err);
	for (size_t i = 0; i < w->now.n; i++)
		if (w->now.v[i].leader)
			w->v[w->n++].task = w->now.v[i];
	qsort(w->v, w->n, sizeof(*w->v), moving_known_by_place);
	return ATW_OK;
}

/* ---- a process ---- */

static int moving_process(struct extract *x, const struct lnx_task *t, struct atw_err *err)
{
	struct owned_space o = { .at = t->mm, .pid = (uint32_t *)&t->tgid, .n = 1 };
	struct atw_err why = { 0 };
	int r;

	if (!t->mm)
		return ATW_OK;
	r = atw_mm_of(x->k, t, &o.mm, &why);
	if (r == ATW_E_NOMEM)
		return atw_err_set(err, r, "%s", why.text);
	o.have = r == ATW_OK;
	x->st.bad_spaces += r < 0;
	return extract_process(x, &o, err);
}

/* Reads all that a later user of the extract may query about the process. */
static int moving_once(struct moving_reader *w, const struct lnx_task *t,
		       struct atw_err *err)
{
	_auto_free struct task_about *a = malloc(sizeof(*a));

	if (!a)
		return atw_err_nomem(err);
	about_task(w->live.k, t, NULL, a);
	return moving_process(&w->live, t, err);
}

/*
 * Repeats the queries on the recorded bytes; a process is done when no bytes are missing.
 */
static int moving_try(struct moving_reader *w, struct atw_kernel *still,
		      struct atw_err *err)
{
	struct extract x = { .k = still };
	int r = kernel_kmem(still, &x.m, err);

	x.tables.marks = &x.marks;
	for (size_t i = 0; i < w->n && r == ATW_OK; i++) {
		struct moving_known *k = &w->v[i];

		if (k->gone || k->done)
			continue;
		x.st = (struct atw_extract_stats){ 0 };
		x.tables.lost = 0;
		r = moving_process(&x, &k->task, err);
		k->done = !x.st.bad_spaces && !x.st.bad_areas && !x.tables.lost;
	}
	extract_deinit(&x);
	return r;
}

/* ---- all processes ---- */

/* Find the processes that still exist. One with another address space is re-read. */
static int moving_look(struct moving_reader *w, struct atw_err *err)
{
	bool *met = calloc(w->n + 1, sizeof(*met));

	if (!met)
		return atw_err_nomem(err);
	for (size_t i = 0; i < w->now.n; i++) {
		struct moving_known *k =
			w->now.v[i].leader ? moving_find(w, &w->now.v[i]) : NULL;

		if (!k)
			continue;
		met[k - w->v] = true;
		k->done &= k->task.mm == w->now.v[i].mm;
		k->task = w->now.v[i];
	}
	for (size_t i = 0; i < w->n; i++)
		w->v[i].gone |= !met[i];
	free(met);
	return ATW_OK;
}

static int moving_round(struct moving_reader *w, struct atw_kernel *still, bool *ret_all,
			struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < w->n && r == ATW_OK; i++)
		if (!w->v[i].gone && !w->v[i].done)
			r = moving_once(w, &w->v[i].task, err);
	if (r == ATW_OK)
		r = moving_list(w, err) ?:
		    moving_look(w, err) ?:
		    moving_try(w, still, err);
	*ret_all = true;
	for (size_t i = 0; i < w->n; i++)
		*ret_all &= w->v[i].gone || w->v[i].done;
	return r;
}

/* ---- links of the list of tasks, among those in the extract ---- */

struct chain {
	struct moving_reader *w;
	uint64_t head, last;
};

static void moving_chain_word(struct moving_reader *w, uint64_t va, uint64_t word)
{
	atw_pa pa;

	/* A link is aligned, so it does not cross a page. */
	if (kmem_physical(w->live.m, va, &pa, NULL) == ATW_OK)
		record_put(w->m->record, pa.u, &word, sizeof(word));
}

static void moving_chain_add(struct chain *c, uint64_t link)
{
	moving_chain_word(c->w, c->last, link);
	moving_chain_word(c->w, link + 8, c->last);
	c->last = link;
}

/*
 * Did its memory become another task's, later in the same snapshot? Then it has ended,
 * and the recorded bytes are the other one's.
 */
static bool moving_kept(const struct members *v, const struct lnx_task *t)
{
	uint64_t pid, tgid, start;

	return member_get(v, t->at, N_task_pid, &pid, NULL) == ATW_OK && pid == t->pid &&
	       member_get(v, t->at, N_task_tgid, &tgid, NULL) == ATW_OK && tgid == t->tgid &&
	       (!member_have(v, N_task_start) ||
		(member_get(v, t->at, N_task_start, &start, NULL) == ATW_OK &&
		 start == t->start));
}

static void moving_threads(struct moving_reader *w, const struct members *v,
			   size_t leader)
{
	struct chain c = { .w = w };
	uint64_t signal;

	if (!member_have(v, N_task_signal) || !member_have(v, N_signal_thread_head) ||
	    !member_have(v, N_task_thread_node) ||
	    member_get(v, w->now.v[leader].at, N_task_signal, &signal, NULL) < 0 || !signal)
		return;
	c.head = c.last = signal + v->n->member[N_signal_thread_head];
	for (size_t i = leader; i < w->now.n && (i == leader || !w->now.v[i].leader); i++)
		if (moving_kept(v, &w->now.v[i]))
			moving_chain_add(&c, w->now.v[i].at +
						     v->n->member[N_task_thread_node]);
	moving_chain_add(&c, c.head);
}

static void moving_links(struct moving_reader *w, struct atw_kernel *still)
{
	struct members v = { .n = kernel_needs(still) };
	struct chain c = { .w = w };
	uint64_t init_task;

	if (!w->now.n || kernel_kmem(still, &v.m, NULL) < 0 ||
	    kernel_init_task(still, &init_task, NULL) < 0)
		return;
	c.head = c.last = init_task + v.n->member[N_task_tasks];
	for (size_t i = 0; i < w->now.n; i++)
		if (w->now.v[i].leader && moving_find(w, &w->now.v[i]) &&
		    moving_kept(&v, &w->now.v[i])) {
			moving_chain_add(&c, w->now.v[i].at + v.n->member[N_task_tasks]);
			moving_threads(w, &v, i);
		}
	moving_chain_add(&c, c.head);
}

/* ---- the whole extract ---- */

static int moving_all(struct moving_reader *w, struct atw_kernel *still,
		      struct atw_err *err)
{
	bool all = false;
	int r = moving_begin(w, err);

	for (unsigned i = 0; i < ROUNDS && !all && r == ATW_OK; i++)
		r = moving_round(w, still, &all, err);
	if (r == ATW_OK)
		moving_links(w, still);
	free(w->now.v);
	free(w->v);
	return r;
}

int moving_read(struct atw_kernel *k, struct moving *ret, struct atw_err *err)
{
	struct moving_reader w = {.m = ret};
	struct atw_kernel *still = NULL;
	int r = record_open(k->mem, &ret->record, err) ?:
		record_replay(ret->record, &ret->replay, err) ?:
		kernel_over(k, ret->record, &w.live.k, err) ?:
		kernel_kmem(w.live.k, &w.live.m, err);

	if (r == ATW_OK) {
		w.live.tables.marks = &w.live.marks;
		w.live.tables.reading = w.live.tables.shared = true;
		extract_facts(&w.live);
		r = extract_space(&w.live, &w.live.k->own, "the kernel", err);
		w.live.tables.shared = false;
	}
	if (r == ATW_OK)
		r = kernel_over(k, ret->replay, &still, err) ?:
		    moving_all(&w, still, err);
	atw_kernel_close(still);
	extract_deinit(&w.live);
	atw_kernel_close(w.live.k);
	if (r == ATW_OK && record_failed(ret->record))
		r = atw_err_nomem(err);
	return r;
}

void moving_deinit(struct moving *m)
{
	atw_source_close(m->replay);
	record_close(m->record);
}
