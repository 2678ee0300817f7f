/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ps_pages.c - memory use of address spaces by the pages of their processes, for targets
 * without page tables.
 */
#include "target/smaps.h"
#include "ps.h"
#include "base/message.h"

struct ps_pages {
	struct ps *p;
	struct provider *prov;
	struct vma_cursor *vmas;
	struct page_cursor *pages;
	size_t near;                 /* of its tasks, the one met last */
	bool listing;                /* its tasks are */
	struct atw_err denied;       /* why some of them, of which others are wanted, are not */
};

static void ps_pages_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct ps_pages *l = arg;
	struct atw_err e = *why;

	/* Which of those that were named are among them is known when they are met. */
	if (l->listing && l->p->npids && why->status == ATW_E_PERM) {
		l->denied = *why;
		return;
	}
	if (why->status == ATW_E_PERM &&
	    unreadable_take(&l->p->unreadable, l->p->c, l->p->src.name, what, why->text))
		return;
	/* The tasks themselves come from another list. */
	*(why->status == ATW_E_PERM ? &l->p->denied : &l->p->unread) += 1;
	atw_err_wrap(&e, "%s", what);
	ps_fault(l->p, &e);
}

/* Areas of a task beside its pages, which never go past the end of one. */
struct ps_pages_areas {
	struct atw_area now;
	bool more;
};

static void ps_pages_to_area(struct ps_pages *l, struct ps_pages_areas *a,
			     struct smaps_look *look, uint64_t va)
{
	while (a->more && a->now.end.u <= va) {
		struct atw_err why = { 0 };
		int r = vma_cursor_next(l->vmas, &a->now, &why);

		a->more = r != ATW_END && r != ATW_E_LIMIT && r != ATW_E_NOMEM;
	}
	smaps_look_area(look, a->more && a->now.start.u <= va ? &a->now : NULL);
}

/* What of a run is in which sum. */
static void ps_pages_add_run(const struct ps_pages *l, struct smaps_look *look,
			     const struct page_run *run, struct usage *u)
{
	unsigned size = run->slot ? 63 - (unsigned)__builtin_clzll(run->slot) : 0;
	struct smaps sum = { .rss = 0 };

	u->lost += run->state == PAGE_LOST;
	u->sizeless |= run->have & RUN_SIZE_HIDDEN;
	if (run->state != PAGE_PRESENT && run->state != PAGE_PROTNONE)
		return;
	u->kindless |= run->have & RUN_SIZE_HIDDEN && l->prov->no_kinds;
	smaps_add_run(look, run, run->va, run->va + (run->size - 1), &sum);
	u->nothing |= sum.stateless != 0;
	u->bytes[size] += sum.rss;
	u->hugetlb[size] += sum.hugetlb;
}

/* What is present, as page tables have it, of the half that is the process's own. */
static int ps_pages_add_up(struct ps_pages *l, size_t task, struct usage *u)
{
	_auto_free struct ps_pages_areas *areas = calloc(1, sizeof(*areas));
	struct smaps_look look = { .p = l->prov };
	const struct page_query q = {.task = task, .last = INT64_MAX, .whole = true};
	const struct page_run *run;
	struct atw_err why = { 0 };
	int r;

	if (!areas)
		return ATW_E_NOMEM;
	areas->more = vma_cursor_open(l->prov, task, &l->vmas, &why) == ATW_OK;
	r = page_cursor_open(l->prov, &q, &l->pages, &why);
	look.pages = l->pages;
	while (r == ATW_OK && (r = page_cursor_next(l->pages, &run, &why)) == ATW_OK) {
		ps_pages_to_area(l, areas, &look, run->va);
		ps_pages_add_run(l, &look, run, u);
	}
	u->known = r == ATW_END;
	l->p->lost += u->lost != 0;
	if (r < 0)
		ps_pages_cannot(l, l->prov->task[task].name, &why);
	return r == ATW_E_NOMEM ? r : ATW_OK;
}

int ps_pages_open(struct ps *p, struct atw_err *err)
{
	/* By their flags, pages of zeroes are none of RSS. */
	const struct target_query q = { .frames = true, .flags = true };
	struct ps_pages *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return atw_err_nomem(err);
	p->pages = l;
	l->p = p;
	r = target_provider(p->src.target, &q, ps_pages_cannot, l, &l->prov, err);
	if (r == ATW_OK) {
		l->prov->every = !p->npids;
		l->listing = true;
		r = l->prov->ops->tasks(l->prov, err);
		l->listing = false;
	}
	if (r < 0)
		ps_pages_close(p);
	return r;
}

void ps_pages_close(struct ps *p)
{
	if (p->pages) {
		vma_cursor_close(p->pages->vmas);
		page_cursor_close(p->pages->pages);
		provider_close(p->pages->prov);
	}
	free(p->pages);
	p->pages = NULL;
}

uint64_t ps_pages_space(struct ps *p, const struct lnx_task *t)
{
	struct ps_pages *l = p->pages;
	struct atw_err why = { 0 };
	char what[32];

	if (!l || t->kernel || t->state == 'Z' || t->state == 'X')
		return 0;
	for (size_t i = 0; i < l->prov->ntasks; i++)
		if (l->prov->task[i].pid == t->tgid)
			return l->prov->task[i].mm;
	snprintf(what, sizeof(what), _("process %" PRIu32), t->tgid);
	if (l->denied.status) {
		atw_err_set(&why, ATW_E_PERM, "this process may not read it");
		atw_err_hint(&why, "%s", l->denied.hint);
		ps_pages_cannot(l, what, &why);
	}
	return 0;
}

/* Tasks come in the order of the file, and so do address spaces. */
int ps_pages_sum(struct ps *p, uint64_t mm, struct usage *u, struct atw_err *err)
{
	struct ps_pages *l = p->pages;
	size_t n = l->prov->ntasks;

	for (size_t i = 0; i < n; i++, l->near++) {
		l->near %= n;
		if (l->prov->task[l->near].mm == mm)
			return ps_pages_add_up(l, l->near, u) == ATW_OK
				       ? ATW_OK
				       : atw_err_nomem(err);
	}
	return ATW_OK;
}
