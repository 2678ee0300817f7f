/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_pages.c - mappings of physical memory, from the pages of all processes: for
 * targets without page tables.
 */
#include "find.h"
#include "base/message.h"

struct find_pages_search {
	struct find *f;
	struct provider *prov;
	struct vma_cursor *vmas;
	struct page_cursor *pages;
	uint64_t faults, lost, hidden;   /* hidden: pages with unknown frames */
};

static void find_pages_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct find_pages_search *s = arg;

	print_fault(&s->f->src, &s->faults, what, why);
}

static void find_pages_close(struct find_pages_search *s)
{
	vma_cursor_close(s->vmas);
	page_cursor_close(s->pages);
	provider_close(s->prov);
}

/* ---- one address space ---- */

static bool find_pages_is_wanted(void *arg, uint64_t pa, uint64_t len)
{
	return rmap_wants(&((struct find_pages_search *)arg)->f->finder, pa, len);
}

static int find_pages_look(struct find_pages_search *s, const struct page_run *r,
			   struct atw_err *err)
{
	bool present = r->state == PAGE_PRESENT;
	int rc = ATW_OK;

	s->lost += r->state == PAGE_LOST;
	if (!present && r->state != PAGE_PROTNONE)
		return ATW_OK;
	s->hidden += r->pa || r->have & RUN_ELSEWHERE ? 0 : r->size >> s->prov->page_shift;
	for (uint32_t i = 0; r->pa && i < r->count && rc == ATW_OK; i++) {
		unsigned properties = 0;
		const bool known = run_properties(s->prov, r, &properties);
		const struct rmap_entry like = {
			.va = r->va + i * r->slot, .pa = r->pa[i], .rights = r->rights,
			.kind = present ? ATW_LEAF : ATW_ABSENT,
			.span = (uint8_t)(63 - __builtin_clzll(r->slot)),
			.flags = r->flags, .flagless = !(r->have & RUN_FLAGS),
			.properties = (uint8_t)properties, .opaque = !known,
		};

		rc = rmap_add(&s->f->finder, &like, r->slot, err);
	}
	return rc;
}

/* Areas and hits are both in ascending order. */
static int find_pages_put_hits(struct find_pages_search *s, const struct find_owner *w,
			       size_t task, struct atw_err *err)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	struct rmap *k = &s->f->finder;
	struct atw_err why = { 0 };
	int more, r = ATW_OK;

	if (!a)
		return atw_err_nomem(err);
	rmap_merge(k);
	s->f->pids_of = NULL;
	s->f->shared_by += k->n && w->space->n > 1;
	more = k->n ? vma_cursor_open(s->prov, task, &s->vmas, &why) : ATW_END;
	if (more == ATW_OK)
		more = vma_cursor_next(s->vmas, a, &why);
	for (size_t i = 0; i < k->n && r == ATW_OK; i++) {
		const struct rmap_entry *h = &k->hit[i];
		bool in;

		while (more == ATW_OK && a->end.u - 1 < h->va)
			more = vma_cursor_next(s->vmas, a, &why);
		in = more == ATW_OK && a->start.u <= h->va && h->end - 1 <= a->end.u - 1;
		r = find_put_hit(s->f, w, in ? a->name : NULL, h, err);
	}
	if (more < 0)
		find_pages_cannot(s, w->task, &why);
	k->n = 0;
	return r;
}

/* All processes that share the address space, in order of tasks. */
static int find_pages_sharers(const struct find_pages_search *s, size_t task,
			      struct owned_space *ret, struct atw_err *err)
{
	const struct page_task *t = s->prov->task;

	ret->pid = calloc(s->prov->ntasks, sizeof(*ret->pid));
	if (!ret->pid)
		return atw_err_nomem(err);
	ret->pid[ret->n++] = t[task].pid;
	for (size_t i = 0; t[task].mm && i < s->prov->ntasks; i++)
		if (i != task && t[i].mm == t[task].mm && t[i].shared)
			ret->pid[ret->n++] = t[i].pid;
	return ATW_OK;
}

static int find_pages_search_task(struct find_pages_search *s, size_t task,
				  struct atw_err *err)
{
	const struct page_query q = {
		.task = task, .last = UINT64_MAX, .wanted = find_pages_is_wanted, .arg = s,
	};
	const struct page_task *t = &s->prov->task[task];
	struct owned_space space = { 0 };
	const struct find_owner w = {
		.task = t->name, .have_pid = true, .pid = t->pid, .space = &space,
	};
	const struct page_run *run;
	struct atw_err why = { 0 };
	int r, put = ATW_OK;

	s->f->searched++;
	r = page_cursor_open(s->prov, &q, &s->pages, &why);
	while (r == ATW_OK && put == ATW_OK &&
	       (r = page_cursor_next(s->pages, &run, &why)) == ATW_OK)
		put = find_pages_look(s, run, err);
	if (r < 0)
		find_pages_cannot(s, t->name, &why);
	if (put == ATW_OK && s->f->finder.n)
		put = find_pages_sharers(s, task, &space, err);
	if (put == ATW_OK)
		put = find_pages_put_hits(s, &w, task, err);
	free(space.pid);
	return put;
}

/* ---- the answer as a whole ---- */

int find_translate_by_pages(struct find *f, const struct address *a,
			    int (*fn)(void *arg, uint64_t va, uint64_t pa, uint64_t len,
				      struct atw_err *err),
			    void *arg, uint64_t *lost, struct atw_err *err)
{
	uint64_t page = (uint64_t)1 << f->src.subject.space.paging.page_shift;
	const struct target_query q = {.pid = (uint32_t)f->src.subject.pid};
	struct find_pages_search s = {.f = f};
	struct page_query pq = {.first = a->first & -page, .last = a->last | (page - 1)};
	const struct page_run *run;
	int r = target_process(f->src.target, &q, find_pages_cannot, &s, &s.prov,
			       &pq.task, err) ?:
		page_cursor_open(s.prov, &pq, &s.pages, err);

	while (r == ATW_OK && (r = page_cursor_next(s.pages, &run, err)) == ATW_OK) {
		bool present = run->state == PAGE_PRESENT || run->state == PAGE_PROTNONE;

		*lost += run->state == PAGE_LOST || (present && !run->pa);
		for (uint32_t i = 0; present && run->pa && i < run->count && r == ATW_OK; i++)
			r = fn(arg, run->va + i * run->slot, run->pa[i], run->slot, err);
	}
	find_pages_close(&s);
	return r == ATW_END ? ATW_OK : r;
}

static int find_pages_search(struct find_pages_search *s, struct atw_err *err)
{
	struct find *f = s->f;
	size_t only = 0;
	int r = s->prov->ops->tasks(s->prov, err);

	if (r == ATW_OK && f->src.subject.given)
		r = s->prov->ops->find(s->prov, (uint32_t)f->src.subject.pid, &only, err);
	for (size_t i = 0; f->want.n && i < s->prov->ntasks && r == ATW_OK; i++)
		if (f->src.subject.given ? i == only : !s->prov->task[i].shared)
			r = find_pages_search_task(s, i, err);
	return r;
}

static void find_pages_notes(const struct find_pages_search *s)
{
	const struct find *f = s->f;

	find_note_targets(f);
	atw_output_note(f->out, "%" PRIu64 " mapping%s%s; %" PRIu64 " address space%s of processes searched",
			f->mappings, f->mappings == 1 ? "" : "s",
			f->c->filter ? _(" before --filter") : "", f->searched,
			f->searched == 1 ? "" : "s");
	if (f->shared_by)
		atw_output_note(f->out, "%" PRIu64 " of the address spaces %s several processes; the column processes lists them all",
				f->shared_by, f->shared_by == 1 ? "belongs to" : "belong to");
}

int find_by_pages(struct find *f)
{
	const struct target_query q = { .frames = false };
	struct find_pages_search s = {.f = f};
	struct atw_err err = { 0 };
	int r = target_provider(f->src.target, &q, find_pages_cannot, &s, &s.prov, &err);

	if (r == ATW_OK) {
		s.prov->every = !f->src.subject.given;
		r = find_open(f, s.prov, &err);
	}
	if (r == ATW_OK)
		r = find_pages_search(&s, &err);
	if (r == ATW_OK) {
		find_pages_notes(&s);
		r = atw_output_commit(f->out, &err);
	}
	find_pages_close(&s);
	if (r < 0)
		return print_error(&err);
	print_defects(f->c, &f->src);
	find_print_untranslated(f);
	if (s.lost)
		print_incomplete("%s: the capture lacks %" PRIu64 " range%s; mappings may be missing",
				 f->src.name, s.lost, s.lost == 1 ? "" : "s");
	if (s.hidden)
		print_incomplete("%s: %" PRIu64 " mapped page%s without a recorded address; mappings may be missing",
				 f->src.name, s.hidden, s.hidden == 1 ? " is" : "s are");
	return s.lost || s.hidden || s.faults || f->untranslated || f->src.target->defective ? EXIT_PARTIAL :
	       f->unmapped ? EXIT_NO : f->mappings ? EXIT_COMPLETE : EXIT_NO;
}
