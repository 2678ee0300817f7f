/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_tasks.c - which processes there are, and how often they map each page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "pages.h"

/* ---- which processes ---- */

static int add_task(struct pages *p, const struct atw_task *t, struct atw_err *err)
{
	struct page_task *k;

	if (!array_reserve((void **)&p->task, &p->tasks_cap, p->ntasks + 1, sizeof(*p->task)))
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	k = &p->task[p->ntasks];
	*k = (struct page_task){ .pid = t->tgid, .mm_at = t->mm };
	memcpy(k->name, t->name, sizeof(k->name));
	p->ntasks++;
	return ATW_OK;
}

/*
 * A process without an address space may have a thread with one. Threads follow
 * their process in the list.
 */
static bool is_known(const struct pages *p, const struct atw_task *t)
{
	return p->ntasks && p->task[p->ntasks - 1].pid == t->tgid;
}

static int by_address(const void *a, const void *b)
{
	const struct page_task *x = *(struct page_task *const *)a,
			       *y = *(struct page_task *const *)b;

	if (x->mm_at != y->mm_at)
		return x->mm_at < y->mm_at ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int mark_shared(struct pages *p, struct atw_err *err)
{
	struct page_task **v = calloc(p->ntasks + 1, sizeof(struct page_task *));

	if (!v)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	for (size_t i = 0; i < p->ntasks; i++)
		v[i] = &p->task[i];
	qsort(v, p->ntasks, sizeof(struct page_task *), by_address);
	for (size_t i = 1; i < p->ntasks; i++)
		v[i]->shared = v[i]->mm_at == v[i - 1]->mm_at;
	free(v);
	return ATW_OK;
}

/* Damage may be found at every turn: the first few speak for the rest. */
enum { FAULTS = 8 };

void pages_cannot(struct pages *p, const char *what, const struct atw_err *err)
{
	struct atw_err e = *err;

	if (p->unread++ < FAULTS) {
		atw_err_wrap(&e, "%s: %s", p->src->name, what);
		complain(&e);
	}
}

int pages_tasks(struct pages *p, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct atw_tasks *tasks;
	struct atw_task t, leader = { 0 };
	uint64_t before = p->unread;
	size_t kept = 0;
	int r = atw_tasks_open(p->src->kernel, &tasks, err);

	if (r < 0)
		return atw_err_wrap(err, "%s", p->src->name);
	while ((r = atw_tasks_next(tasks, &t, &why)) != ATW_END && r != ATW_E_LIMIT) {
		if (r < 0) {             /* there may be more behind it */
			pages_cannot(p, "not every task could be read", &why);
			continue;
		}
		if (t.leader)
			leader = t;
		if (!t.mm || t.kernel || (!t.leader && is_known(p, &t)))
			continue;
		if (leader.tgid == t.tgid)
			memcpy(t.name, leader.name, sizeof(t.name));
		r = add_task(p, &t, err);
		if (r < 0)
			break;
	}
	atw_tasks_close(tasks);
	if (r == ATW_E_NOMEM)
		return r;
	if (r == ATW_E_LIMIT)
		pages_cannot(p, "not every task could be read", &why);
	if (!p->ntasks && p->unread > before)
		return atw_err_set(err, ATW_E_DAMAGED, "%s: no process with an address space was found",
				   p->src->name);
	for (size_t i = 0; i < p->ntasks; i++) {
		struct page_task *k = &p->task[kept];

		*k = p->task[i];
		if (atw_mm_open(p->src->kernel, k->mm_at, &k->mm, &why) == ATW_OK)
			kept++;
		else
			pages_cannot(p, k->name, &why);
	}
	p->ntasks = kept;
	return mark_shared(p, err);
}

/* That there is but one is known. */
int pages_chosen(const struct pages *p, const struct space_opts *o, uint32_t *ret,
		  struct atw_err *err)
{
	struct atw_task t;
	int r;

	for (size_t i = 0; o->task && i < p->ntasks; i++)
		if (!strcmp(p->task[i].name, o->task)) {
			*ret = p->task[i].pid;
			return ATW_OK;
		}
	r = atw_task_by_pid(p->src->kernel, (uint32_t)o->pid.u, &t, err);
	if (r < 0)
		return atw_err_wrap(err, "%s", p->src->name);
	*ret = t.tgid;
	return ATW_OK;
}

/* ---- how often each page is mapped ---- */

uint64_t pages_user_last(const struct atw_paging *pg)
{
	unsigned bits = pg->va_bits - (pg->halves == ATW_SIGNED ? 1u : 0);

	return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

static bool count_piece(struct pages *p, const struct atw_space *sp,
			const struct atw_seen *s)
{
	unsigned shift = sp->paging.page_shift;
	uint64_t pages = s->size / s->count >> shift;
	struct atw_soft_word w;

	if (s->loss || s->kind == ATW_BAD)
		return true;
	for (uint32_t i = 0; s->kind == ATW_LEAF && i < s->count; i++)
		if (!counts_add(&p->counts, atw_seen_pa(sp, s, i).u >> shift, pages))
			return false;
	if (s->kind == ATW_LEAF)
		return true;
	w = atw_soft_decode(soft_of(p->src), &sp->paging, s->level,
			    s->path[s->depth - 1].word);
	for (uint32_t i = 0; w.what == ATW_SOFT_PROTNONE && i < s->count; i++)
		if (!counts_add(&p->counts, w.pa.u >> shift, pages))
			return false;
	return true;
}

int pages_count(struct pages *p, struct atw_err *err)
{
	for (size_t i = 0; i < p->ntasks; i++) {
		const struct atw_space *sp = &p->task[i].mm.space;
		const struct atw_walk_opts wo = {
			.size = sizeof(wo), .last = ATW_VA(pages_user_last(&sp->paging)),
			.flags = ATW_WALK_SOFT,
		};
		const struct atw_seen *s;
		struct atw_walk *w;
		int r;

		if (p->task[i].shared)
			continue;
		r = atw_walk_open(sp, &wo, &w, err);
		if (r < 0)
			return r;
		while ((r = atw_walk_next(w, &s, err)) == ATW_OK)
			if (!count_piece(p, sp, s)) {
				r = atw_err_set(err, ATW_E_NOMEM, "out of memory");
				break;
			}
		atw_walk_close(w);
		/* A listing says so where it gets there. */
		if (r < 0 && r != ATW_E_LIMIT)
			return r;
	}
	p->counted = true;
	return ATW_OK;
}
