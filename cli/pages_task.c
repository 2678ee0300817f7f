/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pages_task.c - areas and pages of one process for `atwalk pages`. */
#include <fnmatch.h>

#include "pages.h"

/* Substrings as ptexplore has them, or patterns of fnmatch(3). */
static bool pages_is_wanted(const char *list, const char *name)
{
	char pattern[256];

	if (!*name)
		name = "anonymous";
	for (const char *s = list; *s;) {
		size_t n = strcspn(s, ",");

		if (n && n < sizeof(pattern)) {
			memcpy(pattern, s, n);
			pattern[n] = 0;
			if (strstr(name, pattern) || !fnmatch(pattern, name, 0))
				return true;
		}
		s += n + (s[n] == ',');
	}
	return false;
}

void pages_cannot(void *arg, const char *what, const struct atw_err *err)
{
	struct pages *p = arg;
	struct atw_err e = *err;

	if (p->repeats)
		return;
	if (p->thread) {
		pages_jobs_cannot(p->thread, what, err);
		return;
	}
	if (err->status == ATW_E_PERM &&
	    unreadable_take(&p->unreadable, p->c, p->src->name, what, err->text))
		return;
	atw_err_wrap(&e, "%s: %s", p->src->name, what);
	/* A damaged page is met again in each process that maps it. */
	if (p->unread++ < FAULTS && strcmp(e.text, p->said.text) != 0) {
		print_error(&e);
		p->said = e;
	}
}

/* Areas of one process, as far as they have been read. */
struct pages_reader {
	bool opened, more;
	bool passing;                    /* absent pages of a row that began before the part */
	struct atw_area *now;            /* NULL: none left */
	struct atw_area buf;
};

/* The next one that is asked for. */
static void pages_advance(struct pages *p, const struct page_task *t,
			  struct pages_reader *r)
{
	struct atw_err err = { 0 };
	int rc;

	r->now = NULL;
	while (r->more && !r->now) {
		rc = vma_cursor_next(p->vmas, &r->buf, &err);
		p->repeats = false;
		/* Those behind it are another part's. */
		if (rc == ATW_OK && r->buf.end.u >= p->part.until)
			r->more = false;
		if (rc == ATW_OK && (!p->areas || pages_is_wanted(p->areas, r->buf.name)))
			r->now = &r->buf;
		if (rc == ATW_END || rc == ATW_E_LIMIT || rc == ATW_E_NOMEM)
			r->more = false;
		if (rc < 0)
			pages_cannot(p, t->name, &err);
	}
}

/* Is what begins there of a row that began before the part? */
static bool pages_is_before(const struct pages *p, struct pages_reader *r,
			    const struct page_run *s, bool inside, uint64_t first)
{
	bool absent = inside && pages_are_absent(s);

	if (first < p->part.from)
		r->passing = absent;
	else
		r->passing = r->passing && absent && first != r->now->start.u;
	return first < p->part.from || r->passing;
}

/* Does it begin a row behind the part? */
static bool pages_is_behind(const struct pages *p, const struct page_area *a,
			    const struct page_run *s, uint64_t first)
{
	return first >= p->part.until &&
	       !(a->open && a->area && a->absent_len && pages_are_absent(s));
}

/*
 * A run of pages, cut where areas begin and end. What is mapped outside of them
 * has a heading of its own, for it should not be there. ATW_END: the part ends there.
 */
static int pages_deal_out(struct pages *p, const struct page_task *t,
			  struct pages_reader *r, struct page_area *a,
			  const struct page_run *s, uint64_t first, uint64_t last,
			  struct atw_err *err)
{
	bool nothing = s->state == PAGE_ABSENT && !s->word;
	uint64_t end;
	int rc;

	for (;; first = end + 1) {
		while (r->now && r->now->end.u <= first) {
			rc = a->open && a->area ? area_end(p, a, err) : ATW_OK;
			if (rc < 0)
				return rc;
			pages_advance(p, t, r);
		}
		bool inside = r->now && r->now->start.u <= first;

		end = inside ? r->now->end.u - 1 : r->now ? r->now->start.u - 1 : UINT64_MAX;
		end = MIN(end, last);
		if (pages_is_behind(p, a, s, first))
			return ATW_END;
		if (pages_is_before(p, r, s, inside, first)) {
			if (end == last)
				return ATW_OK;
			continue;
		}
		if (a->open && (a->area != (inside ? r->now : NULL) || first != a->last + 1)) {
			rc = area_end(p, a, err);
			if (rc < 0)
				return rc;
		}
		p->inside |= inside;
		if (inside || (!nothing && !p->areas)) {
			rc = a->open ? ATW_OK : area_begin(p, a, t, inside ? r->now : NULL,
							   first, end, err);
			a->last = end;
			if (rc == ATW_OK)
				rc = area_piece(p, a, s, first, end, err);
			if (rc < 0)
				return rc;
		}
		if (end == last)
			return ATW_OK;
	}
}

/* The page that an address is in is as large as what one entry maps. */
static void pages_whole(const struct page_run *run, uint64_t *first, uint64_t *last)
{
	uint64_t at = (*first - run->va) / run->slot * run->slot;

	if (run->state == PAGE_ABSENT || run->state >= PAGE_LOST)
		return;
	*first = run->va + at;
	*last = *first + (run->slot - 1);
}

/* What is said of a run is said once. */
static void pages_say_why(struct pages *p, const struct page_run *s)
{
	if (!s->why || s->va < p->part.from || s->va >= p->part.until)
		return;
	if (p->thread)
		pages_jobs_error(p->thread, s->why);
	else
		print_error(s->why);
}

static int pages_list_between(struct pages *p, size_t task, uint64_t first, uint64_t last,
			      struct pages_reader *r, struct atw_err *err)
{
	const struct page_task *t = &p->prov->task[task];
	struct atw_err why = { 0 };
	struct page_area a = { 0 };
	const struct page_run *s;
	struct page_query q = p->query;
	int rc, put = ATW_OK;

	q.task = task;
	q.first = first;
	q.last = last;
	q.vmas = r->opened ? p->vmas : NULL;
	rc = page_cursor_open(p->prov, &q, &p->pages, &why);
	p->look.pages = p->pages;
	while (rc == ATW_OK && put == ATW_OK &&
	       (rc = page_cursor_next(p->pages, &s, &why)) == ATW_OK) {
		uint64_t from = s->va, to = s->va + (s->size - 1);

		pages_say_why(p, s);
		if (to < first || from > last)
			continue;
		from = from > first ? from : first;
		to = to < last ? to : last;
		if (p->whole)
			pages_whole(s, &from, &to);
		put = pages_deal_out(p, t, r, &a, s, from, to, err);
	}
	put = put == ATW_END ? ATW_OK : put;
	if (a.open && put == ATW_OK)
		put = area_end(p, &a, err);
	if (rc == ATW_E_NOMEM && put == ATW_OK) {
		*err = why;
		return rc;
	}
	/* What was seen is an answer, and others have theirs. */
	if (rc < 0)
		pages_cannot(p, t->name, &why);
	return put;
}

static int pages_list_range(struct pages *p, size_t task, const struct address *range,
			    struct atw_err *err)
{
	const struct page_task *t = &p->prov->task[task];
	uint64_t user = p->prov->user_last, page = ((uint64_t)1 << p->prov->page_shift) - 1;
	/* With what lies before the part, it is known which rows begin in it. */
	uint64_t before = p->part.from ? p->part.from - 1 : 0;
	uint64_t first = MAX(range->first, before) & ~page, last = range->last | page;
	struct atw_err why = { 0 };
	struct pages_reader r = { .more = true };
	int rc = vma_cursor_open_at(p->prov, task, before, &p->vmas, &why);

	if (rc == ATW_END)               /* it has ended since it was found */
		return rc;
	if (rc < 0) {
		pages_cannot(p, t->name, &why);
		r.more = false;
		rc = ATW_OK;
	}
	r.opened = r.more;
	p->repeats = r.more && before;
	pages_advance(p, t, &r);
	if (first <= user)
		rc = pages_list_between(p, task, first, last < user ? last : user, &r, err);
	if (p->part.until != UINT64_MAX)
		return rc;
	/* x86 has an area among the kernel's addresses: [vsyscall]. */
	while (rc == ATW_OK && first > user && r.now && r.now->end.u - 1 <= user)
		pages_advance(p, t, &r);
	while (rc == ATW_OK && r.now && r.now->end.u - 1 > user) {
		uint64_t from = r.now->start.u > first ? r.now->start.u : first;
		uint64_t to = r.now->end.u - 1 < last ? r.now->end.u - 1 : last;

		p->inside |= from <= to;
		if (from > user && from <= to)
			rc = pages_list_between(p, task, from, to, &r, err);
		if (rc == ATW_OK)
			pages_advance(p, t, &r);
	}
	return rc;
}

bool pages_have_parts(const struct pages *p)
{
	/*
	 * What a filter leaves of an area, and so its heading, one part does not know; and to
	 * find areas by name, all up to the next one are read first.
	 */
	return p->prov->ops->part && !p->prov->running && !p->areas_only && !p->nranges &&
	       !p->areas && !(p->headings && p->c->filter);
}

int pages_list_part(struct pages *p, size_t t, struct pages_part part, struct atw_err *err)
{
	static const struct address whole = { .last = UINT64_MAX, .is_range = true };
	int r = ATW_OK;

	p->part = part;
	if (!p->nranges)
		r = pages_list_range(p, t, &whole, err);
	for (size_t i = 0; i < p->nranges && r == ATW_OK; i++)
		r = pages_list_range(p, t, &p->range[i], err);
	if (r != ATW_OK || part.until != UINT64_MAX)
		return r;
	p->processes++;
	return process_end(p, &p->prov->task[t], err);
}

int pages_list_task(struct pages *p, size_t t, struct atw_err *err)
{
	return pages_list_part(p, t, (struct pages_part){ .until = UINT64_MAX }, err);
}

/* ATW_E_UNSUPPORTED: only its areas and their pages tell. */
int pages_sum_task(struct pages *p, size_t t, struct atw_err *err)
{
	struct provider_sums s;
	int r = p->summed && !p->prov->task[t].shared ? p->prov->ops->sums(p->prov, t, &s, err)
						      : ATW_E_UNSUPPORTED;

	if (r != ATW_OK)
		return r;
	if (!s.areas)
		return ATW_E_UNSUPPORTED;
	pages_add_sums(p, &s);
	p->processes++;
	return process_end(p, &p->prov->task[t], err);
}
