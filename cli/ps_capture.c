/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ps_capture.c - atwalk ps of a capture: its tasks, and what they had mapped. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "provider/captured.h"
#include "provider/smaps.h"
#include "ps.h"

struct list {
	struct ps *p;
	struct provider *prov;
	size_t near;                 /* of its tasks, the one met last */
};

static void cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct list *l = arg;
	struct atw_err e = *why;

	if (why->status == ATW_E_PERM &&
	    unreadable_take(&l->p->unreadable, l->p->c, l->p->src.name, what, why->text))
		return;
	atw_err_wrap(&e, "%s", what);
	ps_fault(l->p, &e);
}

/* Areas of a task beside its pages, which never go past the end of one. */
struct areas {
	struct atw_area now;
	bool more;
};

static void to_area(struct list *l, struct areas *a, struct smaps_look *look, uint64_t va)
{
	while (a->more && a->now.end.u <= va) {
		struct atw_err why = { 0 };
		int r = l->prov->ops->areas_next(l->prov, &a->now, &why);

		a->more = r != ATW_END && r != ATW_E_LIMIT && r != ATW_E_NOMEM;
	}
	smaps_look_area(look, a->more && a->now.start.u <= va ? &a->now : NULL);
}

/* What of a run is in which sum. */
static void add_run(struct smaps_look *look, const struct page_run *run, struct usage *u)
{
	unsigned size = run->slot ? 63 - (unsigned)__builtin_clzll(run->slot) : 0;
	struct smaps sum = { .rss = 0 };

	u->lost += run->state == PAGE_LOST;
	if (run->state != PAGE_PRESENT && run->state != PAGE_PROTNONE)
		return;
	smaps_add_run(look, run, run->va, run->va + (run->size - 1), &sum);
	u->bytes[size] += sum.rss;
	u->hugetlb[size] += sum.hugetlb;
}

/* What is present, as page tables have it, of the half that is the process's own. */
static int add_up(struct list *l, size_t task, struct usage *u)
{
	_auto_free struct areas *areas = calloc(1, sizeof(*areas));
	struct smaps_look look = { .p = l->prov };
	const struct provider_ops *ops = l->prov->ops;
	const struct page_run *run;
	struct atw_err why = { 0 };
	int r;

	if (!areas)
		return ATW_E_NOMEM;
	areas->more = ops->areas_open(l->prov, task, &why) == ATW_OK;
	r = ops->pages_open(l->prov, task, 0, INT64_MAX, &why);
	while (r == ATW_OK && (r = ops->pages_next(l->prov, &run, &why)) == ATW_OK) {
		to_area(l, areas, &look, run->va);
		add_run(&look, run, u);
	}
	ops->pages_close(l->prov);
	u->known = r == ATW_END;
	l->p->unread += r < 0;
	l->p->lost += u->lost != 0;
	if (r < 0)
		cannot(l, l->prov->task[task].name, &why);
	return r == ATW_E_NOMEM ? r : ATW_OK;
}

/* Tasks come in the order of the file, and so do address spaces. */
static int find_usage(struct list *l, uint64_t mm, const struct usage **ret, bool *fresh,
		      struct atw_err *err)
{
	struct usage *u = ps_usage(l->p, mm, fresh);
	size_t n = l->prov->ntasks;

	*ret = u;
	if (!u)
		return atw_err_set(err, ATW_E_NOMEM, "out of memory");
	for (size_t i = 0; *fresh && i < n; i++, l->near++) {
		l->near %= n;
		if (l->prov->task[l->near].mm == mm)
			return add_up(l, l->near, u);
	}
	return ATW_OK;
}

static int put(struct list *l, const struct captured_task *t, struct atw_err *err)
{
	uint32_t tgid = captured_process(t);
	const struct usage *u = NULL;
	bool fresh = false, told = t->has & CAPTURE_T_TGID;
	union atw_value v[P_COUNT] = {
		[P_PID].u = t->pid, [P_TGID].u = tgid, [P_PPID].u = t->ppid,
		[P_TASK].s = t->name, [P_MM].u = t->mm,
		[P_KIND].u = !captured_has_memory(t) ? KIND_KERNEL :
			     tgid == t->pid ? KIND_PROCESS : KIND_THREAD,
	};
	uint64_t have = 1 << P_PID | 1 << P_TASK | (told ? 1 << P_TGID : 0) |
			(t->has & CAPTURE_T_PPID ? 1 << P_PPID : 0) |
			(t->mm ? 1 << P_MM : 0) | (t->mm && told ? 1 << P_KIND : 0);
	int r = t->mm ? find_usage(l, t->mm, &u, &fresh, err) : ATW_OK;

	return r < 0 ? r : ps_put(l->p, v, have, u, fresh, err);
}

int ps_list_captured(struct ps *p, bool *seen, struct atw_err *err)
{
	const struct captured *c = p->src.capture;
	struct list l = { .p = p };
	int r = capture_provider_open(c, cannot, &l, &l.prov, err);

	if (r < 0)
		return r;
	l.prov->every = !p->npids;
	l.prov->whole = true;
	r = l.prov->ops->tasks(l.prov, err);
	for (size_t i = 0; i < c->ntasks && r == ATW_OK; i++) {
		const struct captured_task *t = &c->task[i];
		uint32_t tgid = captured_process(t);

		/* As other sources: they do not list the idle task, and the paper's form does. */
		if (!t->pid && t->has & CAPTURE_T_TGID && !p->npids)
			continue;
		for (int k = 0; k < p->npids; k++)
			seen[k] |= p->pid[k] == t->pid;
		if (ps_wanted(p, t->pid, tgid, tgid == t->pid))
			r = put(&l, t, err);
	}
	provider_close(l.prov);
	return r;
}
