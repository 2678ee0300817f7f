/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "target/changes.h"

#include <string.h>

#include "target/provider.h"

struct changes {
	struct changes_side *side;
	const struct changes_opts *o;
	changes_fn *fn;
	void *arg;
	struct changes_unknown *unknown;
	/* Rows that the next piece may extend: of areas, by side, and their rights; of
	 * pages, one for where they lead and one for their rights. */
	struct changes_row held[3];
	bool holding[3];
};

enum { HELD_GONE, HELD_NEW, HELD_AREA_RIGHTS };
enum { HELD_PLACE, HELD_RIGHTS };

/* ---- rows ---- */

static int changes_flush_one(struct changes *c, unsigned i, struct atw_err *err)
{
	if (!c->holding[i])
		return ATW_OK;
	c->holding[i] = false;
	return c->fn(c->arg, &c->held[i], err);
}

/* Those that end before `at`, low addresses first. */
static int changes_flush(struct changes *c, uint64_t at, bool all, struct atw_err *err)
{
	int r = ATW_OK;

	while (r == ATW_OK) {
		unsigned best = 3;

		for (unsigned i = 0; i < 3; i++)
			if (c->holding[i] &&
			    (best == 3 || c->held[i].first < c->held[best].first))
				best = i;
		/* One that goes on waits, and so do those behind it. */
		if (best == 3 || (!all && c->held[best].last + 1 >= at))
			break;
		r = changes_flush_one(c, best, err);
	}
	return r;
}

static int changes_hold(struct changes *c, unsigned i, const struct changes_row *row,
			struct atw_err *err)
{
	int r = ATW_OK;

	/* What begins before the row that is replaced goes first. */
	while (r == ATW_OK && c->holding[i]) {
		unsigned best = i;

		for (unsigned k = 0; k < 3; k++)
			if (c->holding[k] && c->held[k].first < c->held[best].first)
				best = k;
		r = changes_flush_one(c, best, err);
	}
	c->held[i] = *row;
	c->holding[i] = true;
	return r;
}

static bool changes_follows(const struct changes *c, unsigned i,
			    const struct changes_row *row)
{
	return c->holding[i] && c->held[i].what == row->what &&
	       c->held[i].last + 1 == row->first && c->held[i].implied == row->implied;
}

/* ---- sweeps ---- */

/* Does first..last contain `at`? *end becomes the last address where that holds. */
static bool changes_covers(uint64_t first, uint64_t last, uint64_t at, uint64_t *end)
{
	uint64_t bound = first <= at ? last : first - 1;

	if (bound < *end)
		*end = bound;
	return first <= at;
}

/* The area of a side at an address, or NULL; *i is that or the next one. */
static struct changes_area *changes_area_at(const struct changes_side *s, size_t *i,
					    uint64_t at, uint64_t *end)
{
	while (*i < s->nareas && s->area[*i].last < at)
		(*i)++;
	return *i < s->nareas && changes_covers(s->area[*i].first, s->area[*i].last, at,
						end)
		       ? &s->area[*i]
		       : NULL;
}

static const struct changes_run *changes_run_at(const struct changes_side *s, size_t *i,
						uint64_t at, uint64_t *end)
{
	while (*i < s->nruns && s->run[*i].last < at)
		(*i)++;
	return *i < s->nruns && changes_covers(s->run[*i].first, s->run[*i].last, at, end)
		       ? &s->run[*i]
		       : NULL;
}

/* Is it the same mapping? Where names are not known, nothing says that it is another. */
static bool changes_is_same(const struct changes_area *x, const struct changes_area *y)
{
	if (!x->name_known || !y->name_known)
		return true;
	if (x->inode && y->inode)
		return x->inode == y->inode && x->major == y->major &&
		       x->minor == y->minor &&
		       x->first - x->offset == y->first - y->offset;
	return !strcmp(x->name, y->name);
}

/* ---- areas ---- */

typedef int changes_piece_fn(struct changes *c, uint64_t first, uint64_t last,
			     struct changes_area *const area[2], struct atw_err *err);

static int changes_sweep_areas(struct changes *c, changes_piece_fn *fn,
			       struct atw_err *err)
{
	size_t i[2] = {0, 0};
	uint64_t at = 0, end;
	int r = ATW_OK;

	for (; r == ATW_OK; at = end + 1) {
		struct changes_area *area[2];

		end = UINT64_MAX;
		for (unsigned s = 0; s < 2; s++)
			area[s] = changes_area_at(&c->side[s], &i[s], at, &end);
		if (area[0] || area[1])
			r = fn(c, at, end, area, err);
		if (end == UINT64_MAX)
			break;
	}
	return r;
}

static int changes_add_common(struct changes *c, uint64_t first, uint64_t last,
			      struct changes_area *const area[2], struct atw_err *err)
{
	if (area[0] && area[1] && changes_is_same(area[0], area[1]))
		for (unsigned s = 0; s < 2; s++)
			area[s]->common += last - first + 1;
	return ATW_OK;
}

/* Only side `s` has it, or it is another mapping there. */
static int changes_one_sided(struct changes *c, unsigned s, uint64_t first, uint64_t last,
			     struct changes_area *const area[2], struct atw_err *err)
{
	struct changes_area *a = area[s];
	uint64_t size = a->last - a->first + 1;
	struct changes_row row = {.first = first, .last = last};
	unsigned slot = s ? HELD_NEW : HELD_GONE;

	row.area[s] = a;
	row.what = a->common ? (s ? CHANGES_AREA_GROWN : CHANGES_AREA_SHRUNK)
			     : (s ? CHANGES_AREA_MAPPED : CHANGES_AREA_UNMAPPED);
	row.size[s] = size;
	row.size[!s] = a->common;
	if (c->side[!s].incomplete && !area[!s]) {
		c->unknown->areas += last - first + 1;
		return ATW_OK;
	}
	if (changes_follows(c, slot, &row) && c->held[slot].area[s] == a) {
		c->held[slot].last = last;
		return ATW_OK;
	}
	return changes_hold(c, slot, &row, err);
}

static int changes_area_rights(struct changes *c, uint64_t first, uint64_t last,
			       struct changes_area *const area[2], struct atw_err *err)
{
	const struct changes_row row = {
		.what = CHANGES_AREA_RIGHTS, .first = first, .last = last,
		.area = {area[0], area[1]},
	};
	struct changes_row *held = &c->held[HELD_AREA_RIGHTS];

	if (!area[0]->rights_known || !area[1]->rights_known) {
		c->unknown->area_rights += last - first + 1;
		return ATW_OK;
	}
	if (area[0]->rights == area[1]->rights)
		return ATW_OK;
	if (changes_follows(c, HELD_AREA_RIGHTS, &row) &&
	    held->area[0]->rights == area[0]->rights &&
	    held->area[1]->rights == area[1]->rights &&
	    changes_is_same(held->area[1], area[1])) {
		held->last = last;
		return ATW_OK;
	}
	return changes_hold(c, HELD_AREA_RIGHTS, &row, err);
}

static int changes_compare_areas(struct changes *c, uint64_t first, uint64_t last,
				 struct changes_area *const area[2], struct atw_err *err)
{
	int r = changes_flush(c, first, false, err);

	if (r == ATW_OK && area[0] && area[1] && changes_is_same(area[0], area[1]))
		return changes_area_rights(c, first, last, area, err);
	for (unsigned s = 0; s < 2 && r == ATW_OK; s++)
		if (area[s])
			r = changes_one_sided(c, s, first, last, area, err);
	return r;
}

static int changes_find_areas(struct changes *c, struct atw_err *err)
{
	int r;

	for (unsigned s = 0; s < 2; s++)
		for (size_t i = 0; i < c->side[s].nareas; i++)
			c->side[s].area[i].common = 0;
	r = changes_sweep_areas(c, changes_add_common, err) ?:
	    changes_sweep_areas(c, changes_compare_areas, err);
	return r == ATW_OK ? changes_flush(c, 0, true, err) : r;
}

/* ---- pages ---- */

static bool changes_is_mapped(const struct changes_run *r)
{
	return r->state == PAGE_PRESENT || r->state == PAGE_PROTNONE;
}

/* Where the run leads at an address in it. */
static uint64_t changes_at(const struct changes_run *r, uint64_t address)
{
	return r->same ? r->at : r->at + (address - r->first);
}

/* The part first..last of a run; of none, absent pages. */
static struct changes_run changes_part(const struct changes_run *r, uint64_t first,
				       uint64_t last)
{
	struct changes_run part = {.state = PAGE_ABSENT};

	if (r) {
		part = *r;
		part.at = changes_at(r, first);
	}
	part.first = first;
	part.last = last;
	return part;
}

/* Do both lead to the same place, as far as that is known? */
static bool changes_agree(struct changes *c, const struct changes_run page[2])
{
	uint64_t len = page[0].last - page[0].first + 1;

	if (!page[0].at_known || !page[1].at_known) {
		*(page[0].at_known || page[1].at_known ? &c->unknown->physical
						       : &c->unknown->no_physical) += len;
		return true;
	}
	return page[0].at == page[1].at && page[0].swap_type == page[1].swap_type;
}

/* CHANGES_KINDS: none. */
static enum changes_what changes_place(struct changes *c,
				       const struct changes_run page[2])
{
	bool mapped[2], swap[2], absent[2];

	for (unsigned s = 0; s < 2; s++) {
		mapped[s] = changes_is_mapped(&page[s]);
		swap[s] = page[s].state == PAGE_SWAP;
		absent[s] = page[s].state == PAGE_ABSENT;
	}
	if ((mapped[0] && mapped[1]) || (swap[0] && swap[1]))
		return changes_agree(c, page) ? CHANGES_KINDS : CHANGES_PAGE_MOVED;
	if (swap[1])
		return CHANGES_SWAPPED_OUT;
	if (swap[0] && mapped[1])
		return CHANGES_SWAPPED_IN;
	if (absent[0] && mapped[1])
		return CHANGES_PAGE_MAPPED;
	if ((mapped[0] || swap[0]) && absent[1])
		return CHANGES_PAGE_UNMAPPED;
	return page[0].state == page[1].state ? CHANGES_KINDS : CHANGES_STATE;
}

static bool changes_rights_differ(struct changes *c, const struct changes_run page[2])
{
	uint64_t len = page[0].last - page[0].first + 1;

	if (!changes_is_mapped(&page[0]) || !changes_is_mapped(&page[1]) ||
	    c->o->no_rights)
		return false;
	if (!page[0].rights_known || !page[1].rights_known) {
		*(page[0].rights_known || page[1].rights_known
			  ? &c->unknown->rights
			  : &c->unknown->no_rights) += len;
		return false;
	}
	return page[0].rights != page[1].rights;
}

/* Can `r` be the end of `held`? `place`: it also has to follow where that leads. */
static bool changes_run_follows(const struct changes_run *held,
				const struct changes_run *r, bool place)
{
	if (held->state != r->state || held->same != r->same)
		return false;
	if (!place)
		return held->rights == r->rights;
	return held->at_known == r->at_known && held->swap_type == r->swap_type &&
	       (!r->at_known || changes_at(held, r->first) == r->at);
}

/* Single pages may turn out to lead to one page. */
static void changes_set_same(struct changes_run *held, const struct changes_run *r)
{
	if (held->last == held->first && r->last == r->first)
		held->same = r->same;
}

static int changes_put_page(struct changes *c, unsigned slot,
			    const struct changes_row *row, struct atw_err *err)
{
	struct changes_row *held = &c->held[slot];
	bool place = slot == HELD_PLACE;

	if (changes_follows(c, slot, row) && held->area[0] == row->area[0] &&
	    held->area[1] == row->area[1]) {
		for (unsigned s = 0; s < 2; s++)
			changes_set_same(&held->page[s], &row->page[s]);
		if (changes_run_follows(&held->page[0], &row->page[0], place) &&
		    changes_run_follows(&held->page[1], &row->page[1], place)) {
			held->last = row->last;
			held->page[0].last = held->page[1].last = row->last;
			return ATW_OK;
		}
	}
	return changes_hold(c, slot, row, err);
}

static int changes_compare_pages(struct changes *c, struct changes_row *row,
				 const struct changes_run *const run[2],
				 struct atw_err *err)
{
	uint64_t len = row->last - row->first + 1;
	bool both = row->area[0] && row->area[1];
	int r = changes_flush(c, row->first, false, err);

	for (unsigned s = 0; s < 2; s++) {
		row->page[s] = changes_part(run[s], row->first, row->last);
		/* Tables that are missing where nothing is mapped change no answer. */
		if (run[s] && run[s]->state >= PAGE_LOST) {
			bool matters = row->area[0] || row->area[1] ||
				       (run[!s] && run[!s]->state < PAGE_LOST);

			c->unknown->pages += matters ? len : 0;
			return r;
		}
	}
	row->implied = both ? !changes_is_same(row->area[0], row->area[1])
			    : row->area[0] || row->area[1];
	row->implied &= !c->o->pages_only;
	if (r == ATW_OK && (row->what = changes_place(c, row->page)) != CHANGES_KINDS)
		r = changes_put_page(c, HELD_PLACE, row, err);
	row->what = CHANGES_PAGE_RIGHTS;
	if (r == ATW_OK && changes_rights_differ(c, row->page))
		r = changes_put_page(c, HELD_RIGHTS, row, err);
	return r;
}

/* The next address where either side has a run. */
static bool changes_next_run(const struct changes *c, const size_t i[2], uint64_t *at)
{
	uint64_t next = UINT64_MAX;
	bool any = false;

	for (unsigned s = 0; s < 2; s++)
		if (i[s] < c->side[s].nruns) {
			const struct changes_run *r = &c->side[s].run[i[s]];

			any = true;
			next = r->first < next ? r->first : next;
		}
	if (any && next > *at)
		*at = next;
	return any;
}

static int changes_find_pages(struct changes *c, struct atw_err *err)
{
	size_t i[2] = {0, 0}, k[2] = {0, 0};
	uint64_t at = 0, end = 0;
	int r = ATW_OK;

	for (; r == ATW_OK; at = end + 1) {
		const struct changes_run *run[2];
		struct changes_row row = {.what = CHANGES_KINDS};

		for (unsigned s = 0; s < 2; s++)
			changes_run_at(&c->side[s], &i[s], at, &end);
		if (!changes_next_run(c, i, &at))
			break;
		end = UINT64_MAX;
		for (unsigned s = 0; s < 2; s++) {
			run[s] = changes_run_at(&c->side[s], &i[s], at, &end);
			row.area[s] = changes_area_at(&c->side[s], &k[s], at, &end);
		}
		/* One page many times, and different ones: at most one page agrees. */
		if (run[0] && run[1] && run[0]->same != run[1]->same &&
		    end - at >= c->o->page)
			end = at + (c->o->page - 1);
		row.first = at;
		row.last = end;
		r = changes_compare_pages(c, &row, run, err);
		if (end == UINT64_MAX)
			break;
	}
	return r == ATW_OK ? changes_flush(c, 0, true, err) : r;
}

int changes_find(struct changes_side side[2], const struct changes_opts *o,
		 changes_fn *fn, void *arg, struct changes_unknown *unknown,
		 struct atw_err *err)
{
	struct changes c = {
		.side = side, .o = o, .fn = fn, .arg = arg, .unknown = unknown};
	int r = o->pages_only ? ATW_OK : changes_find_areas(&c, err);

	return r == ATW_OK && !o->areas_only ? changes_find_pages(&c, err) : r;
}
