/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap.c - map and walk of live:pagemap, and map of a capture. They tell what is
 * behind an address, and nothing of the tables that lead there: those columns are n/a.
 */
#include "pagemap.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "map_large.h"
#include "map_node.h"
#include "provider/provider.h"
#include "watch.h"

/* One translation, or several that agree. */
struct piece {
	uint64_t va, end, size, pa, pages;
	const struct page_run *run;      /* of the first one; a copy in `held` */
	uint64_t offset;                 /* on swap */
	int64_t node;
	bool has_pa;
};

/* Damage may be found at every turn: the first few speak for the rest. */
enum { FAULTS = 8 };

struct out {
	struct atw_output *out;          /* NULL: to `look` */
	struct map_look *look;
	struct provider *prov;
	size_t task;                     /* of its tasks, the one that is asked for */
	const struct opened *src;
	uint64_t unread, lost;
	struct listing *list;
	struct node_sum nodes;
	bool is_map;
	unsigned split;
	struct piece held;
	struct page_run held_run;
	bool holding;
	uint64_t rows, mapped, other, unmapped;
};

static int put(struct out *o, const struct piece *p, struct atw_err *err)
{
	const struct page_run *r = p->run;
	struct row row = { 0 };
	bool there = r->state == PAGE_PRESENT;   /* as page tables have it */
	struct atw_region area;
	uint64_t before;
	int rc;

	if (!o->out) {
		o->look->ranges++;
		if (there)
			map_look_add(o->look, r->slot, p->size);
		return ATW_OK;
	}
	before = atw_output_rows(o->out);
	if (listing_area(o->list, p->va, p->va + (p->size - 1), &area)) {
		row.v[C_AREA].s = area.name;
		row.have |= COL(C_AREA);
	}
	row_set(&row, C_ADDRESS, p->va);
	row_set(&row, C_END, p->end);
	row_set(&row, C_SIZE, p->size);
	if (!(r->have & RUN_STATE_HIDDEN))
		row_set(&row, C_STATE, state_shown(r->state));
	if (r->state != PAGE_ABSENT && r->state < PAGE_LOST)
		row_set(&row, C_PAGES, p->pages);
	if (p->has_pa)
		row_set(&row, C_PHYSICAL, p->pa);
	if (there)
		row_set(&row, C_PAGE, r->slot);
	if (r->have & RUN_RIGHTS)
		row_rights(&row, STATE_PRESENT, r->rights);
	if (r->have & RUN_FLAGS)
		row_set(&row, C_FLAGS, r->flags);
	row_set(&row, C_PID, o->prov->task[o->task].pid);
	row.v[C_TASK].s = o->prov->task[o->task].name;
	row.have |= COL(C_TASK);
	if (there && p->node != NODE_NONE)
		row_set(&row, C_NODE, (uint64_t)p->node);
	rc = row_put(&row, o->out, err);
	if (rc < 0 || atw_output_rows(o->out) == before)
		return rc;
	o->rows++;
	if (there && o->nodes.wanted)
		node_sum_add(&o->nodes, p->node, p->size);
	*(there ? &o->mapped : &o->other) += r->state == PAGE_ABSENT ? 0 : p->size;
	return rc;
}

static int flush(struct out *o, struct atw_err *err)
{
	if (!o->holding)
		return ATW_OK;
	o->holding = false;
	return put(o, &o->held, err);
}

static bool agree(const struct out *o, const struct piece *p)
{
	const struct page_run *x = &o->held_run, *y = p->run;
	const struct piece *h = &o->held;
	struct atw_region area;

	if (!o->holding || o->split & ATW_SPLIT_EACH || h->end != p->va ||
	    x->state != y->state || h->has_pa != p->has_pa || x->have != y->have ||
	    h->node != p->node)
		return false;
	if (x->state == PAGE_SWAP && x->have & RUN_SWAP &&
	    (x->swap_type != y->swap_type || h->offset + h->pages != p->offset))
		return false;
	/* Where an area begins, a range ends. */
	if (listing_region(o->list, p->va, &area) && area.first.u > h->va)
		return false;
	return (!(o->split & ATW_SPLIT_RIGHTS) || x->rights == y->rights) &&
	       (!(o->split & ATW_SPLIT_LEVEL) || x->slot == y->slot) &&
	       (!(o->split & ATW_SPLIT_FLAGS) || x->flags == y->flags) &&
	       (!(o->split & ATW_SPLIT_PHYSICAL) || !p->has_pa || h->pa + h->size == p->pa);
}

static int feed(struct out *o, const struct piece *p, struct atw_err *err)
{
	int rc;

	if (agree(o, p)) {
		o->held.size += p->size;
		o->held.end = p->end;
		o->held.pages += p->pages;
		o->held_run.flags &= p->run->flags;
		o->held_run.rights &= p->run->rights;
		if (o->held_run.slot != p->run->slot)
			o->held_run.slot = 0;
		return ATW_OK;
	}
	rc = flush(o, err);
	o->held = *p;
	o->held_run = *p->run;
	o->held.run = &o->held_run;
	o->holding = true;
	return rc;
}

/* Of slot i; a large one may begin on one node and end on another. */
static int64_t node_of(struct out *o, const struct page_run *r, uint32_t i)
{
	uint64_t page = (uint64_t)1 << o->prov->page_shift;
	struct frame_facts a, b;

	if (!o->nodes.wanted || !r->pa ||
	    o->prov->ops->facts(o->prov, r, i, 0, r->slot, &a, NULL) < 0 ||
	    !(a.have & FACT_NODE))
		return NODE_NONE;
	if (r->slot > page &&
	    (o->prov->ops->facts(o->prov, r, i, r->slot - page, 0, &b, NULL) < 0 ||
	     !(b.have & FACT_NODE) || b.page.node != a.page.node))
		return NODE_NONE;
	return a.page.node;
}

/* The part first..last of a run, slot by slot. */
static int take(struct out *o, const struct page_run *r, uint64_t first, uint64_t last,
		bool whole, struct atw_err *err)
{
	uint64_t i = (first - r->va) / r->slot;
	int rc = ATW_OK;

	for (; rc == ATW_OK && i < r->count; i++) {
		uint64_t va = r->va + i * r->slot, skip = va < first ? first - va : 0;
		struct piece p = {
			.va = va + skip, .run = r, .pages = 1, .has_pa = r->pa != NULL,
			.pa = r->pa ? r->pa[i] + skip : 0, .offset = r->swap_offset + i,
			.node = node_of(o, r, (uint32_t)i),
		};

		if (va > last)
			break;
		/* What one address says is said of all its page. */
		p.size = whole ? r->slot : last - va < r->slot - 1 ? last - va + 1 - skip
								   : r->slot - skip;
		if (whole && r->state == PAGE_ABSENT)
			p.size = (uint64_t)1 << o->prov->page_shift;
		p.end = whole ? (va + skip - (va + skip) % p.size) + p.size : va + skip + p.size;
		rc = feed(o, &p, err);
	}
	return rc;
}

static int list(struct out *o, const struct address *a, struct atw_err *err)
{
	const struct page_run *r;
	uint64_t page = ((uint64_t)1 << o->prov->page_shift) - 1;
	int rc = o->prov->ops->pages_open(o->prov, o->task, a->first & ~page, a->last | page, err);

	if (rc < 0)
		return rc;
	while ((rc = o->prov->ops->pages_next(o->prov, &r, err)) == ATW_OK) {
		uint64_t last = r->va + (r->size - 1);
		bool nothing = r->state == PAGE_ABSENT;

		if (last < a->first || r->va > a->last)
			continue;
		o->unmapped += nothing;
		o->lost += r->state >= PAGE_LOST;
		if (nothing && o->is_map)
			continue;
		rc = take(o, r, r->va > a->first ? r->va : a->first,
			  last < a->last ? last : a->last, !a->is_range, err);
		if (rc < 0)
			break;
	}
	o->prov->ops->pages_close(o->prov);
	if (rc == ATW_END)
		rc = flush(o, err);
	return rc;
}

/* Of user addresses alone something is told. */
static int parse(const struct opened *src, const char *text, struct address *ret,
		 struct atw_err *err)
{
	int r = parse_owned(src, text, ret, err);

	if (r == ATW_OK && ret->last > INT64_MAX) {
		r = atw_err_set(err, ATW_E_UNSUPPORTED,
				"%s: is a kernel address, and %s tells of those of processes alone", text,
				src->capture ? src->name : "/proc");
		if (!src->capture)
			atw_err_hint(err, "live:bpf reads the kernel's own tables");
	}
	return r;
}

/* Of a capture: /proc has nothing to tell that is not told otherwise. */
static void cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct out *o = arg;
	struct atw_err e = *why;

	if (o->unread++ < FAULTS) {
		atw_err_wrap(&e, "%s: %s", o->src->name, what);
		complain(&e);
	}
}

static int open_task(struct out *o, const struct opened *src, struct atw_err *err)
{
	const struct pagemap_provider_opts po = {
		.only = (uint32_t)src->pid, .flags = o->nodes.wanted, .pace = src->pace,
	};
	int r;

	if (!src->pid) {
		r = atw_err_set(err, ATW_E_USAGE, "whose pages is not said");
		atw_err_hint(err, "--pid N takes those of a process");
		return r;
	}
	o->src = src;
	r = src->capture ? capture_provider_open(src->capture, cannot, o, &o->prov, err)
			 : pagemap_provider_open(&po, NULL, NULL, &o->prov, err);
	if (r == ATW_OK)
		r = o->prov->ops->tasks(o->prov, err);
	if (r == ATW_OK && src->capture)
		r = o->prov->ops->find(o->prov, (uint32_t)src->pid, &o->task, err);
	return r < 0 ? atw_err_wrap(err, "%s", src->name) : ATW_OK;
}

static int list_args(struct out *o, const struct opened *src, int argc, char **argv,
		     struct atw_err *err)
{
	struct address a = { .last = INT64_MAX, .is_range = true };
	int r = argc == 1 ? list(o, &a, err) : ATW_OK;

	for (int i = 1; i < argc && r == ATW_OK; i++) {
		r = parse(src, argv[i], &a, err);
		if (r == ATW_OK)
			r = list(o, &a, err);
	}
	return r;
}

static int answer(struct out *o, const struct common *c, const struct opened *src,
		  struct listing *l, int argc, char **argv)
{
	struct address a;
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	char size[16];
	int status, r = open_task(o, src, &err);

	o->list = l;
	if (r == ATW_OK) {
		l->col[C_FLAGS].names = o->prov->flags;
		l->col[C_AREA].hidden &= !o->is_map;
		listing_areas(l, o->prov, o->task);
	}
	output_opts(c, src, &oo);
	oo.page_shift = l->space->paging.page_shift;
	for (int i = 1; i < argc && r == ATW_OK; i++)
		r = parse(src, argv[i], &a, &err);
	if (r == ATW_OK)
		r = atw_output_open(&oo, &l->schema, &o->out, &err);
	if (r == ATW_OK)
		r = list_args(o, src, argc, argv, &err);
	thaw(src);
	status = o->unread || o->lost || (src->capture && src->defective) ? EXIT_PARTIAL :
		 o->is_map ? (o->mapped + o->other ? EXIT_COMPLETE : EXIT_NO)
			   : (o->unmapped || o->other ? EXIT_NO : EXIT_COMPLETE);
	if (r == ATW_OK && o->is_map)
		atw_output_note(o->out, "%" PRIu64 " range%s, %s mapped", o->rows,
				o->rows == 1 ? "" : "s", num_human(o->mapped, size));
	if (r == ATW_OK && o->lost)
		atw_output_note(o->out, "%" PRIu64 " range%s not known: the capture does not tell what is there",
				o->lost, o->lost == 1 ? " is" : "s are");
	if (r == ATW_OK)
		node_sum_note(&o->nodes, o->out);
	if (r == ATW_OK && o->is_map && argc == 1)
		map_large_notes(c, src, o->out);
	status = output_end(o->out, r, status, &err);
	if (r == ATW_OK)
		remark_lacks(c, src, o->prov);
	provider_close(o->prov);
	node_sum_deinit(&o->nodes);
	return status;
}

int map_pagemap(const struct common *c, const struct opened *src, struct listing *l,
		unsigned split, int argc, char **argv)
{
	struct out o = { .is_map = true, .split = split, .nodes.wanted = asks_for(c, "node") };

	return answer(&o, c, src, l, argc, argv);
}

int walk_pagemap(const struct common *c, const struct opened *src, struct listing *l,
		 int argc, char **argv)
{
	struct out o = { .split = ATW_SPLIT_EACH };

	return answer(&o, c, src, l, argc, argv);
}

struct looker {
	const struct opened *src;
	unsigned split;
	int argc;
	char **argv;
};

static int look(void *arg, struct map_look *l, struct atw_err *err)
{
	const struct looker *k = arg;
	struct listing areas = { .src = k->src };
	struct out o = { .is_map = true, .split = k->split, .look = l, .list = &areas };
	int r = open_task(&o, k->src, err);

	if (r == ATW_OK) {
		listing_areas(&areas, o.prov, o.task);
		r = list_args(&o, k->src, k->argc, k->argv, err);
	}
	listing_deinit(&areas);
	provider_close(o.prov);
	return r;
}

int watch_pagemap(const struct common *c, struct opened *src, const struct space_opts *space,
		  const char *text, unsigned split, int argc, char **argv)
{
	struct looker k = { src, split, argc, argv };

	return watch_map(c, src, space, text, look, &k);
}
