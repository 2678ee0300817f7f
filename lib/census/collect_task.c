/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect_task.c - a task, its VMAs and their pages. VMAs and pages are two lists that
 * are merged, because one listing of all pages is much cheaper than one per VMA.
 */
#include "base/cleanup.h"
#include "census/collect.h"

/* Position in the list of VMAs. */
struct collect_task_reader {
	bool opened, more;
	bool now;                    /* `area` is valid and not emitted yet */
	struct atw_area area;
};

static int collect_task_step(struct collect *c, struct collect_task_reader *r,
			     struct atw_err *err)
{
	int status = ATW_OK;

	r->now = false;
	while (r->more && !r->now && status == ATW_OK) {
		struct atw_err why = { 0 };
		int rc = vma_cursor_next(c->vmas, &r->area, &why);

		if (rc == ATW_E_NOMEM) {
			*err = why;
			return rc;
		}
		r->now = rc == ATW_OK;
		r->more = rc != ATW_END && rc != ATW_E_LIMIT;
		if (rc < 0)
			status = collect_lost(c, "areas", &why, err);
	}
	return status;
}

static int collect_task_end_outside(struct collect *c, struct atw_err *err)
{
	return c->open && c->outside ? collect_area_end(c, c->last, err) : ATW_OK;
}

/* Emit the remaining VMAs up to this address. */
static int collect_task_pass(struct collect *c, struct collect_task_reader *r,
			     uint64_t last, bool blind, struct atw_err *err)
{
	int rc = ATW_OK;

	while (rc == ATW_OK && r->now && r->area.end.u - 1 <= last) {
		rc = collect_task_end_outside(c, err);
		if (rc != ATW_OK)
			break;
		if (!c->open)
			collect_area_begin(c, &r->area, r->area.start.u);
		c->blind |= blind;
		rc = collect_area_end(c, r->area.end.u - 1, err) ?:
		     collect_task_step(c, r, err);
	}
	return rc;
}

/* Split a run of pages at the borders of VMAs. */
static int collect_task_deal_out(struct collect *c, struct collect_task_reader *r,
				 const struct page_run *s, uint64_t first, uint64_t last,
				 struct atw_err *err)
{
	bool lost = s->state >= PAGE_LOST, nothing = lost || s->state == PAGE_ABSENT;
	uint64_t end;
	int rc;

	for (;; first = end + 1) {
		bool inside;

		rc = first ? collect_task_pass(c, r, first - 1, false, err) : ATW_OK;
		inside = r->now && r->area.start.u <= first;
		end = inside ? r->area.end.u - 1 : r->now ? r->area.start.u - 1 : UINT64_MAX;
		end = MIN(end, last);
		if (rc == ATW_OK && (inside || nothing || first != c->last + 1))
			rc = collect_task_end_outside(c, err);
		if (rc == ATW_OK && !c->open && (inside || !nothing))
			collect_area_begin(c, inside ? &r->area : NULL,
					   inside ? r->area.start.u : first);
		if (rc == ATW_OK && (inside || !nothing || lost))
			rc = collect_piece(c, s, first, end, err);
		if (rc != ATW_OK || end == last)
			return rc;
	}
}

/* ATW_END: the task ended meanwhile. */
static int collect_task_part(struct collect *c, size_t task,
			     struct collect_task_reader *r, uint64_t first, uint64_t last,
			     struct atw_err *err)
{
	const struct page_query q = {
		.task = task, .first = first, .last = last, .each = true,
		.vmas = r->opened ? c->vmas : NULL,
	};
	struct provider *p = c->p;
	struct atw_err why = { 0 };
	const struct page_run *s;
	uint64_t listed = first;
	bool whole = false;
	int rc = page_cursor_open(p, &q, &c->pages, &why), status = ATW_OK;

	while (rc == ATW_OK && status == ATW_OK &&
	       (rc = page_cursor_next(c->pages, &s, &why)) == ATW_OK) {
		uint64_t from = s->va, to = s->va + (s->size - 1);

		if (to < first || from > last)
			continue;
		whole = to >= last;
		listed = to + 1;
		status = collect_task_deal_out(c, r, s, from > first ? from : first,
					     to < last ? to : last, err);
	}
	if (status != ATW_OK)
		return status;
	if (rc == ATW_E_NOMEM) {
		*err = why;
		return rc;
	}
	if (rc < 0)
		status = collect_lost_range(c, "pages", why.text, whole ? first : listed,
					    last, err);
	if (status == ATW_OK && rc == ATW_END && !whole && p->running &&
	    first <= p->user_last)
		return ATW_END;
	if (status == ATW_OK)
		status = collect_task_end_outside(c, err);
	/* The content of unlisted addresses is unknown. */
	return status == ATW_OK ? collect_task_pass(c, r, last, !whole, err) : status;
}

/* x86 has a VMA at kernel addresses: [vsyscall]. */
static int collect_task_upper_areas(struct collect *c, size_t task,
				    struct collect_task_reader *r, struct atw_err *err)
{
	int rc = ATW_OK;

	while (rc == ATW_OK && r->now) {
		uint64_t first = r->area.start.u;

		rc = collect_task_part(
			c, task, r, first > c->p->user_last ? first : c->p->user_last + 1,
			r->area.end.u - 1, err);
	}
	return rc;
}

static int collect_task_memory(struct collect *c, size_t task, bool areas,
			       struct atw_err *err)
{
	_auto_free struct collect_task_reader *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return atw_err_nomem(err);
	r->opened = r->more = areas;
	rc = collect_task_step(c, r, err) ?:
	     collect_task_part(c, task, r, 0, c->p->user_last, err) ?:
	     collect_task_upper_areas(c, task, r, err);
	c->open = false;
	if (rc != ATW_END)
		return rc;
	c->missed.vanished++;
	return ATW_OK;
}

static int collect_task_emit_sums(struct collect *c, const struct provider_sums *s,
				  struct atw_err *err)
{
	struct capture_record rec = { .letter = 'V', .v = { .last = c->p->user_last } };
	uint64_t va = 0;
	int r;

	rec.v.size = rec.v.last + 1;
	for (size_t i = 0; i < s->n; i++)
		rec.v.resident += s->v[i].pages * c->page;
	r = c->to->record(c->to->arg, &rec, err);
	for (size_t i = 0; i <= s->n && r == ATW_OK; i++) {
		const struct provider_sum *p = i < s->n ? &s->v[i] : NULL;
		struct capture_run run = {
			.has = CAPTURE_M_REFS | CAPTURE_M_NOFRAME | CAPTURE_M_ORDER |
			       (p && p->known ? CAPTURE_M_FLAGS : 0u),
			.va = va, .noframe = 1, .entry = CAPTURE_PRESENT | CAPTURE_USER,
		};

		if (p) {
			run.pages = p->pages;
			run.refs = p->refs;
			run.flags = p->flags;
			run.order = p->order;
		} else if (s->swapped) {
			run = (struct capture_run){
				.has = CAPTURE_M_SWAP, .va = va, .pages = s->swapped,
			};
		} else {
			break;
		}
		va += run.pages * c->page;
		r = c->to->run(c->to->arg, &run, err);
	}
	return r;
}

/* ATW_E_UNSUPPORTED: the provider has no sums for it, so VMAs and pages are needed. */
static int collect_task_summed(struct collect *c, size_t i, struct atw_err *err)
{
	const struct page_task *t = &c->p->task[i];
	const struct about_to to = { c->to->record, c->to->arg, NULL };
	struct provider_sums s = { 0 };
	int r = t->shared && !c->o->pid ? ATW_OK : c->p->ops->sums(c->p, i, &s, err);

	if (r == ATW_END) {
		c->missed.vanished++;
		return ATW_OK;
	}
	if (r != ATW_OK)
		return r;
	about_nothing(c->about, t->pid, t->name, t->mm);
	r = about_tell(&to, c->about, err);
	return r == ATW_OK && (!t->shared || c->o->pid)
		       ? collect_task_emit_sums(c, &s, err)
		       : r;
}

int collect_task(struct collect *c, size_t i, struct atw_err *err)
{
	const struct page_task *t = &c->p->task[i];
	const struct about_to to = { c->to->record, c->to->arg, NULL };
	struct atw_err why = { 0 }, unread = { 0 };
	const struct vma_cursor *vmas;
	int rc, areas;

	c->pid = t->pid;
	if (c->summed) {
		rc = collect_task_summed(c, i, err);
		if (rc != ATW_E_UNSUPPORTED)
			return rc;
	}
	areas = vma_cursor_open(c->p, i, &c->vmas, &unread);
	vmas = areas == ATW_OK ? c->vmas : NULL;
	rc = areas == ATW_END ? ATW_END : c->p->ops->about(c->p, i, vmas, c->about, &why);
	if (areas == ATW_E_NOMEM || rc == ATW_E_NOMEM) {
		*err = areas == ATW_E_NOMEM ? unread : why;
		return ATW_E_NOMEM;
	}
	if (rc == ATW_END) {             /* it has ended since it was listed */
		c->missed.vanished++;
		c->gone = t->pid;
		return ATW_OK;
	}
	/* Its PID and name are known nevertheless. */
	if (rc < 0)
		about_nothing(c->about, t->pid, t->name, t->mm);
	rc = rc < 0 ? collect_lost(c, "task", &why, err) : ATW_OK;
	if (rc == ATW_OK)
		rc = about_tell(&to, c->about, err);
	if (rc == ATW_OK && areas < 0)
		rc = collect_lost(c, "areas", &unread, err);
	/*
	 * A shared address space is emitted for its first process, or the only one
	 * collected.
	 */
	if (rc == ATW_OK && (!t->shared || c->o->pid) && !c->o->no_areas)
		rc = collect_task_memory(c, i, areas == ATW_OK, err);
	return rc;
}

/* ---- U: lines: each mapped file, once ---- */

/*
 * A dump has the file's first page if some process maps it, which need not be the first
 * process: so this number of VMAs is tried.
 */
enum { TRIES = 64 };

void told_files_deinit(struct told_files *f)
{
	table_deinit(&f->table);
	free(f->v);
	*f = (struct told_files){ 0 };
}

/* NULL: no memory. */
static struct told_file *collect_file_find(struct told_files *f, uint64_t dev,
					   uint64_t inode)
{
	const uint64_t key = hash_two(dev, inode);
	const struct table_slot *s = NULL;

	while ((s = table_next(&f->table, key, s)))
		if (f->v[s->value - 1].dev == dev && f->v[s->value - 1].inode == inode)
			return &f->v[s->value - 1];
	if (!ARRAY_ROOM(f->v, f->n, f->cap) || !table_add(&f->table, key, f->n + 1))
		return NULL;
	f->v[f->n] = (struct told_file){ .dev = dev, .inode = inode };
	return &f->v[f->n++];
}

bool collect_file_is_new(struct collect *c, const struct capture_record *rec)
{
	const struct capture_file *u = &rec->u;
	bool known = rec->has & (CAPTURE_U_BUILD | CAPTURE_U_LOADS), is_new;
	struct told_file *t = collect_file_find(&c->files, u->dev.a << 32 | u->dev.b, u->inode);

	/* Without memory to know: a second line does no harm. */
	if (!t)
		return true;
	is_new = !t->tries || (known && !t->known);
	t->tries++;
	t->known |= known;
	return is_new;
}

static size_t collect_file_write_loads(const struct elfunit *u, char *buf, size_t len)
{
	size_t n = 0;

	for (unsigned i = 0; i < u->loads; i++)
		n += capture_write_load(&u->load[i], !i, buf + n, len - n);
	return n;
}

int collect_file(struct collect *c, struct atw_err *err)
{
	const struct atw_area *a = &c->area;
	struct capture_record rec = { .letter = 'U' };
	char loads[ELFUNIT_LOADS * CAPTURE_LOAD_TEXT];
	struct told_file *t;
	struct elfunit u;
	int r;

	if (c->outside || !a->file || !a->inode)
		return ATW_OK;
	t = collect_file_find(&c->files, (uint64_t)a->major << 32 | a->minor, a->inode);
	if (!t)
		return atw_err_nomem(err);
	if (t->known || t->tries == TRIES || (t->tries && a->offset))
		return ATW_OK;
	r = c->p->ops->file(c->vmas, a, &u);
	t->known = r == ATW_OK || r == ATW_E_FORMAT;
	/* Once; and a second time if more is known of it. */
	if (t->tries++ && r != ATW_OK)
		return ATW_OK;
	rec.u = (struct capture_file){
		.dev = { a->major, a->minor }, .inode = a->inode,
		.name = { a->name[0] ? a->name : NULL, strlen(a->name) },
	};
	if (r == ATW_OK && u.build.len) {
		rec.u.build = u.build;
		rec.has |= CAPTURE_U_BUILD;
	}
	if (r == ATW_OK && u.loads && !u.cut) {
		rec.u.loads = (struct atw_blob){
			loads, collect_file_write_loads(&u, loads, sizeof(loads))};
		rec.has |= CAPTURE_U_LOADS;
	}
	return c->to->record(c->to->arg, &rec, err);
}
