/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmas.c - VMAs and pages of a process in the public API. */
#include "api/api.h"

static int vmas_has_ended(const struct atw_space *space, struct atw_err *err)
{
	return atw_err_set(err, ATW_E_NONE, "%s has ended", space->info.label);
}

/* ---- VMAs ---- */

struct atw_vmas {
	struct provider *prov;
	struct vma_cursor *cursor;
	struct api_lost lost;
	bool ended;
	struct atw_area area;
	struct atw_vma row;
};

int atw_vmas_open(struct atw_space *space, struct atw_vmas **ret, struct atw_err *err)
{
	struct atw_vmas *c;
	size_t task;
	int r = api_both(space, "the address space", ret, err) ?: API_NEW(&c, err);

	if (r != ATW_OK)
		return r;
	r = api_provider_open(space, false, &c->lost, &c->prov, &task, err) ?:
	    vma_cursor_open(c->prov, task, &c->cursor, err);
	if (r == ATW_END)
		r = vmas_has_ended(space, err);
	if (r < 0)
		atw_vmas_close(c);
	else
		*ret = c;
	return r;
}

static int vmas_step(struct atw_vmas *c, struct atw_err *err)
{
	struct atw_err why = {0};
	int r;

	while (!c->ended) {
		r = vma_cursor_next(c->cursor, &c->area, &why);
		if (r == ATW_OK)
			return r;
		if (r == ATW_E_NOMEM)
			return atw_err_set(err, r, "%s", why.text);
		c->ended = r == ATW_END || r == ATW_E_LIMIT;
		if (r < 0)
			api_lost_add(&c->lost, NULL, &why);
	}
	return api_lost_end(&c->lost, err);
}

int atw_vmas_next(struct atw_vmas *vmas, const struct atw_vma **ret, struct atw_err *err)
{
	const struct atw_area *a;
	int r = api_both(vmas, "the list of VMAs", ret, err) ?: vmas_step(vmas, err);

	if (r != ATW_OK)
		return r;
	a = &vmas->area;
	vmas->row = (struct atw_vma){
		.start = a->start,
		.end = a->end,
		.name = a->name,
		.file_offset = a->offset,
		.inode = a->inode,
		.vm_flags = a->flags,
		.flags = (a->read ? ATW_VMA_READ : 0) | (a->write ? ATW_VMA_WRITE : 0) |
			 (a->exec ? ATW_VMA_EXEC : 0) | (a->shared ? ATW_VMA_SHARED : 0) |
			 (a->file ? ATW_VMA_FILE : 0) | (a->unread ? ATW_VMA_UNREAD : 0),
		.major = a->major,
		.minor = a->minor,
	};
	*ret = &vmas->row;
	return ATW_OK;
}

void atw_vmas_close(struct atw_vmas *vmas)
{
	if (!vmas)
		return;
	vma_cursor_close(vmas->cursor);
	provider_close(vmas->prov);
	free(vmas);
}

/* ---- pages ---- */

struct atw_pages {
	struct provider *prov;
	struct page_cursor *cursor;
	struct api_lost lost;
	uint64_t first, last;
	bool frames, ended;
	const struct page_run *run; /* of which slot `at` is next */
	uint32_t at;
	struct frame_facts facts;
	struct atw_frame frame;
	struct atw_page_run row;
};

int atw_pages_open(struct atw_space *space, const struct atw_pages_opts *opts,
		   struct atw_pages **ret, struct atw_err *err)
{
	struct atw_pages_opts o;
	struct page_query q = {.vmas = NULL};
	struct atw_pages *c;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		api_both(space, "the address space", ret, err) ?:
		api_reserved(o.reserved, err) ?:
		API_NEW(&c, err);

	if (r != ATW_OK)
		return r;
	c->frames = o.frames;
	r = api_provider_open(space, c->frames, &c->lost, &c->prov, &q.task, err);
	if (r == ATW_OK) {
		c->first = q.first = o.first.u;
		c->last = q.last = o.last.u ? o.last.u : c->prov->user_last;
		q.each = c->frames;
		r = page_cursor_open(c->prov, &q, &c->cursor, err);
	}
	if (r == ATW_END)
		r = vmas_has_ended(space, err);
	if (r < 0)
		atw_pages_close(c);
	else
		*ret = c;
	return r;
}

/* Absent ones are no rows; neither are those outside of what was asked for. */
static bool vmas_pages_wanted(const struct atw_pages *c, const struct page_run *run)
{
	if (run->state == PAGE_ABSENT && !(run->have & RUN_STATE_HIDDEN))
		return false;
	return run->va <= c->last && run->va + (run->size - 1) >= c->first;
}

static int vmas_pages_step(struct atw_pages *c, struct atw_err *err)
{
	struct atw_err why = {0};
	int r;

	while (!c->ended) {
		r = page_cursor_next(c->cursor, &c->run, &why);
		if (r == ATW_OK && c->run->state >= PAGE_LOST &&
		    c->run->state <= PAGE_UNSTABLE && vmas_pages_wanted(c, c->run)) {
			atw_err_set(&why, ATW_E_MISSING, "%s",
				    c->run->why ? c->run->why->text
						: "a page table cannot be read");
			api_lost_add(&c->lost, NULL, &why);
		}
		if (r == ATW_OK && vmas_pages_wanted(c, c->run))
			return ATW_OK;
		if (r == ATW_E_LIMIT || r == ATW_E_NOMEM)
			return atw_err_set(err, r, "%s", why.text);
		c->ended = r != ATW_OK;
		if (r < 0)
			api_lost_add(&c->lost, NULL, &why);
	}
	return api_lost_end(&c->lost, err);
}

/* The row of `n` slots from slot `at` on. */
static void vmas_pages_set(struct atw_pages *c, uint32_t at, uint32_t n)
{
	const struct page_run *run = c->run;

	c->row = (struct atw_page_run){
		.va = ATW_VA(run->va + at * run->slot),
		.bytes = n == run->count ? run->size : n * run->slot,
		.page_size = run->slot,
		/* A struct of one number has the layout of the number. */
		.pa = run->pa ? (const atw_pa *)(const void *)(run->pa + at) : NULL,
		.swap_offset = run->swap_offset + at,
		.known = (run->have & RUN_RIGHTS ? ATW_PAGE_PERMS : 0) |
			 (run->have & RUN_LEVEL ? ATW_PAGE_LEVEL : 0) |
			 (run->state == PAGE_SWAP && run->have & RUN_SWAP ? ATW_PAGE_SWAP
									  : 0) |
			 (run->have & RUN_USED ? ATW_PAGE_USED : 0) |
			 (run->have & RUN_SIZE_HIDDEN ? 0 : ATW_PAGE_SIZE),
		.count = n,
		.state = run->have & RUN_STATE_HIDDEN ? ATW_STATE_HIDDEN
						      : api_page_state(run->state),
		.perms = run->rights,
		.level = run->level,
		.swap_type = run->swap_type,
		.accessed = run->accessed,
		.dirty = run->dirty,
	};
}

static void vmas_pages_set_frame(struct atw_pages *c)
{
	const struct page_run *run = c->run;

	c->facts = (struct frame_facts){0};
	if (page_cursor_facts(c->cursor, run, c->at, 0, run->slot, &c->facts, NULL) < 0)
		return;
	/* The frame was given to others since the entry was read. */
	if (c->facts.have & FACT_STALE)
		return;
	api_frame_set(&c->frame, run->pa[c->at], c->prov->page_shift, &c->facts);
	c->row.frame = &c->frame;
}

int atw_pages_next(struct atw_pages *pages, const struct atw_page_run **ret,
		   struct atw_err *err)
{
	int r = api_both(pages, "the list of pages", ret, err);

	if (r == ATW_OK && !pages->run) {
		r = vmas_pages_step(pages, err);
		pages->at = 0;
	}
	if (r != ATW_OK)
		return r;
	if (!pages->frames || pages->run->state != PAGE_PRESENT || !pages->run->pa) {
		vmas_pages_set(pages, 0, pages->run->count);
		pages->run = NULL;
	} else {
		vmas_pages_set(pages, pages->at, 1);
		vmas_pages_set_frame(pages);
		if (++pages->at == pages->run->count)
			pages->run = NULL;
	}
	*ret = &pages->row;
	return ATW_OK;
}

void atw_pages_close(struct atw_pages *pages)
{
	if (!pages)
		return;
	page_cursor_close(pages->cursor);
	provider_close(pages->prov);
	free(pages);
}
