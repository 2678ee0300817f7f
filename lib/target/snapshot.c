/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

void snapshot_deinit(struct snapshot *s)
{
	for (size_t i = 0; i < s->side.nareas; i++)
		free((char *)s->side.area[i].name);
	free(s->side.area);
	free(s->run);
	*s = (struct snapshot){0};
}

uint64_t snapshot_size(const struct snapshot *s)
{
	uint64_t size = 0;

	for (size_t i = 0; i < s->side.nareas; i++)
		size += s->side.area[i].last - s->side.area[i].first + 1;
	return size;
}

/* ---- areas ---- */

static int snapshot_put_area(struct snapshot *s, const struct changes_area *a,
			     const char *name, struct atw_err *err)
{
	struct changes_side *side = &s->side;
	char *copy = strdup(name);

	if (!copy || !ARRAY_ROOM(side->area, side->nareas, s->areas_cap)) {
		free(copy);
		return atw_err_nomem(err);
	}
	side->area[side->nareas] = *a;
	side->area[side->nareas++].name = copy;
	return ATW_OK;
}

static int snapshot_add_area(struct snapshot *s, const struct atw_area *a,
			     bool rights_known, struct atw_err *err)
{
	struct changes_side *side = &s->side;

	if (a->end.u <= a->start.u ||
	    (side->nareas && side->area[side->nareas - 1].last >= a->start.u)) {
		side->incomplete = true;
		return ATW_OK;
	}
	return snapshot_put_area(s, &(struct changes_area){
		.first = a->start.u, .last = a->end.u - 1, .offset = a->offset,
		.inode = a->inode, .major = a->major, .minor = a->minor,
		.rights = (uint8_t)((a->read ? CHANGES_READ : 0) |
				    (a->write ? CHANGES_WRITE : 0) |
				    (a->exec ? CHANGES_EXEC : 0) |
				    (a->shared ? CHANGES_SHARED : 0)),
		.rights_known = rights_known, .name_known = !a->unread,
	}, a->name, err);
}

/*
 * [vsyscall], among the kernel's addresses, is in no mm_struct: some sources have neither the
 * area nor its pages, and no process maps or unmaps it.
 */
static uint64_t snapshot_last(const struct provider *p)
{
	return p->user_last < INT64_MAX ? p->user_last : INT64_MAX;
}

static int snapshot_read_areas(struct provider *p, size_t task, struct snapshot *s,
			       struct atw_area *a, struct atw_err *err)
{
	struct atw_err why = {0};
	struct task_about about;
	struct vma_cursor *c = NULL;
	int r = vma_cursor_open(p, task, &c, &why), rc = ATW_OK;

	if (r != ATW_OK)
		vma_cursor_close(c);
	if (r == ATW_END)
		return r;
	if (r < 0) {
		s->side.incomplete = true;
		provider_cannot(p, s->name, &why);
		return ATW_OK;
	}
	/* A provider that knows its times otherwise has them in other units. */
	if (p->ops->about) {
		if (p->ops->about(p, task, c, &about, NULL) == ATW_OK &&
		    about.has & CAPTURE_T_START)
			s->start = about.t.start;
	} else {
		s->start = p->task[task].start;
	}
	while (rc == ATW_OK && (r = vma_cursor_next(c, a, &why)) != ATW_END) {
		if (r == ATW_OK && a->start.u > snapshot_last(p))
			continue;
		if (r == ATW_OK) {
			rc = snapshot_add_area(s, a, !a->rights_unknown, err);
			continue;
		}
		s->side.incomplete = true;
		provider_cannot(p, s->name, &why);
		if (r == ATW_E_LIMIT || r == ATW_E_NOMEM)
			break;
	}
	vma_cursor_close(c);
	return rc;
}

/* ---- pages ---- */

/* Extends the last run, or begins one. */
static int snapshot_add_run(struct snapshot *s, const struct changes_run *r,
			    uint64_t page, struct atw_err *err)
{
	struct changes_run *last = s->side.nruns ? &s->run[s->side.nruns - 1] : NULL;

	/* What overlaps cannot be compared; the first one counts. */
	if (last && r->first <= last->last)
		return ATW_OK;
	if (last && last->last + 1 == r->first && last->state == r->state &&
	    last->rights == r->rights && last->swap_type == r->swap_type &&
	    last->at_known == r->at_known && last->rights_known == r->rights_known) {
		uint64_t len = last->last - last->first + 1;
		bool single = len == page, next_single = r->last - r->first + 1 == page;

		if (!r->at_known ||
		    (!last->same && !r->same && last->at + len == r->at)) {
			last->last = r->last;
			return ATW_OK;
		}
		if (last->at == r->at && (last->same || single) &&
		    (r->same || next_single)) {
			last->same = true;
			last->last = r->last;
			return ATW_OK;
		}
	}
	if (!ARRAY_ROOM(s->run, s->side.nruns, s->runs_cap))
		return atw_err_nomem(err);
	s->run[s->side.nruns++] = *r;
	s->side.run = s->run;
	return ATW_OK;
}

static uint8_t snapshot_rights(unsigned rights)
{
	return (uint8_t)((rights & ATW_UR ? CHANGES_READ : 0) |
			 (rights & ATW_UW ? CHANGES_WRITE : 0) |
			 (rights & ATW_UX ? CHANGES_EXEC : 0));
}

/* Everything but where it leads. */
static struct changes_run snapshot_run(const struct provider *p, const struct page_run *r)
{
	struct changes_run run = {
		.first = r->va, .last = r->va + (r->size - 1),
		.state = r->have & RUN_STATE_HIDDEN ? PAGE_LOST : r->state,
	};

	if (run.state == PAGE_PROTNONE)
		run.rights_known = !p->area_rights;
	if (run.state == PAGE_PRESENT && r->have & RUN_RIGHTS) {
		run.rights_known = !p->area_rights;
		run.rights = run.rights_known ? snapshot_rights(r->rights) : 0;
	}
	if (run.state >= PAGE_LOST)
		run.state = PAGE_LOST;
	return run;
}

static int snapshot_add_pages(struct provider *p, struct snapshot *s,
			      const struct page_run *r, struct atw_err *err)
{
	const uint64_t page = (uint64_t)1 << p->page_shift;
	struct changes_run run = snapshot_run(p, r);
	bool mapped = run.state == PAGE_PRESENT || run.state == PAGE_PROTNONE;
	int rc = ATW_OK;

	if (run.state == PAGE_ABSENT)
		return ATW_OK;
	if (run.state == PAGE_SWAP && r->have & RUN_SWAP) {
		run.at_known = true;
		run.at = r->swap_offset * page;
		run.swap_type = r->swap_type;
	}
	if (!mapped || !r->pa)
		return snapshot_add_run(s, &run, page, err);
	run.at_known = true;
	for (uint32_t i = 0; i < r->count && rc == ATW_OK; i++) {
		run.first = r->va + i * r->slot;
		run.last = run.first + (r->slot - 1);
		run.at = r->pa[i];
		rc = snapshot_add_run(s, &run, page, err);
	}
	return rc;
}

/* Nothing is known of what follows the last run. */
static int snapshot_lose_rest(struct provider *p, struct snapshot *s, struct atw_err *err)
{
	uint64_t first = s->side.nruns ? s->run[s->side.nruns - 1].last + 1 : 0;
	const struct changes_run run = {
		.first = first, .last = snapshot_last(p), .state = PAGE_LOST,
	};

	return first <= snapshot_last(p) ? snapshot_add_run(s, &run, 1, err) : ATW_OK;
}

static int snapshot_read_pages(struct provider *p, size_t task, struct snapshot *s,
			       struct atw_err *err)
{
	const struct page_query q = {.task = task, .last = snapshot_last(p)};
	struct atw_err why = {0};
	const struct page_run *run;
	struct page_cursor *c = NULL;
	int r = page_cursor_open(p, &q, &c, &why), rc = ATW_OK;

	while (r == ATW_OK && rc == ATW_OK &&
	       (r = page_cursor_next(c, &run, &why)) == ATW_OK) {
		if (run->why)
			provider_cannot(p, s->name, run->why);
		rc = snapshot_add_pages(p, s, run, err);
	}
	page_cursor_close(c);
	if (rc != ATW_OK || r >= 0)
		return rc;
	provider_cannot(p, s->name, &why);
	return snapshot_lose_rest(p, s, err);
}

int snapshot_read(struct provider *p, size_t task, bool areas_only, struct snapshot *ret,
		  struct atw_err *err)
{
	struct snapshot s = {.pid = p->task[task].pid};
	struct atw_area *a = malloc(sizeof(*a));
	int r;

	if (!a)
		return atw_err_nomem(err);
	memcpy(s.name, p->task[task].name, sizeof(s.name));
	r = snapshot_read_areas(p, task, &s, a, err);
	free(a);
	/* Every process with memory has areas: a capture may lack those of some. */
	s.side.incomplete |= !s.side.nareas;
	if (r == ATW_OK && !areas_only && s.side.nareas)
		r = snapshot_read_pages(p, task, &s, err);
	else if (r == ATW_OK && !areas_only)
		r = snapshot_lose_rest(p, &s, err);
	if (r == ATW_OK)
		*ret = s;
	else
		snapshot_deinit(&s);
	return r;
}

/* ---- the kernel ---- */

static int snapshot_read_regions(struct atw_kernel *k, struct snapshot *s,
				 struct atw_err *err)
{
	struct atw_region g;
	int r = ATW_OK;

	for (size_t i = 0; r == ATW_OK && atw_kernel_region(k, i, &g) == ATW_OK; i++)
		r = snapshot_put_area(s, &(struct changes_area){
			.first = g.first.u, .last = g.last.u, .name_known = true,
		}, g.name ? g.name : "", err);
	return r;
}

static int snapshot_add_range(struct snapshot *s, const struct mmu_range *g,
			      uint64_t page, struct atw_err *err)
{
	struct changes_run run = {
		.first = g->va.u, .last = g->va.u + (g->size - 1), .state = PAGE_LOST,
	};

	/* What repeats has its place in another unit: nothing is known of single pages.
	 */
	if (!g->loss && g->kind == ATW_LEAF) {
		run.state = PAGE_PRESENT;
		run.at_known = !g->repeat_of;
		run.at = run.at_known ? g->pa.u : 0;
		run.same = g->same_pa;
		run.rights_known = true;
		/* Those of the kernel; bit by bit as CHANGES_READ and the others. */
		run.rights = g->rights & (CHANGES_READ | CHANGES_WRITE | CHANGES_EXEC);
	} else if (!g->loss && g->kind != ATW_BAD) {
		return ATW_OK;
	}
	return snapshot_add_run(s, &run, page, err);
}

int snapshot_read_kernel(struct atw_kernel *k, struct snapshot *ret, struct atw_err *err)
{
	const struct mmu_space *space = atw_kernel_space(k);
	const struct mmu_walk_opts o = {.last = ATW_VA(UINT64_MAX)};
	const uint64_t page = (uint64_t)1 << space->paging.page_shift;
	struct snapshot s = {.name = "kernel"};
	struct mmu_ranges *ranges;
	struct mmu_range g;
	int r = mmu_ranges_open(space, &o, MMU_SPLIT_RIGHTS | MMU_SPLIT_PHYSICAL, &ranges,
				err);

	if (r < 0)
		return r;
	r = snapshot_read_regions(k, &s, err);
	while (r == ATW_OK && (r = mmu_ranges_next(ranges, &g, err)) == ATW_OK)
		r = snapshot_add_range(&s, &g, page, err);
	mmu_ranges_close(ranges);
	if (r == ATW_END)
		*ret = s;
	else
		snapshot_deinit(&s);
	return r == ATW_END ? ATW_OK : r;
}
