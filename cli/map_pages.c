/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_pages.c - map and walk of targets without page tables (/proc, a capture): the page
 * behind an address is known, the tables that lead to it are not, and their columns are
 * n/a.
 */

#include "map.h"
#include "walk_lines.h"
#include "watch.h"

/* One translation, or several that agree. */
struct map_pages_piece {
	uint64_t va, end, size, pa, pages;
	const struct page_run *run;      /* of the first one; a copy in `held` */
	uint64_t offset;                 /* on swap */
	int64_t node;
	bool has_pa;
	bool same;                       /* all of them map one page */
	bool known;                      /* `properties` */
	unsigned properties;
};

struct map_pages_out {
	struct atw_output *out;          /* NULL: to `look` */
	struct map_look *look;
	struct provider *prov;
	struct vma_cursor *vmas;
	struct page_cursor *pages;
	size_t task;                     /* of its tasks, the one that is asked for */
	uint64_t pid;                    /* its number */
	const struct session *src;
	uint64_t unread, lost;
	struct listing *list;
	struct walk_lines *lines;        /* or NULL */
	struct node_sum nodes;
	bool is_map;
	unsigned split;
	struct map_pages_piece held;
	struct page_run held_run;
	bool holding;
	struct map_sizes sizes;
	uint64_t rows, mapped, other, unmapped, unknown;
};

static int map_pages_put(struct map_pages_out *o, const struct map_pages_piece *p,
			 struct atw_err *err)
{
	const struct page_run *r = p->run;
	struct row row = { 0 };
	bool there = r->state == PAGE_PRESENT;   /* as page tables have it */
	uint64_t page = r->have & RUN_SIZE_HIDDEN ? 0 : r->slot;
	uint64_t before;
	int rc;

	if (!o->out) {
		o->look->ranges++;
		if (there)
			map_look_add(o->look, page, p->size);
		return ATW_OK;
	}
	before = atw_output_rows(o->out);
	row_area(o->list, &row, p->va, p->va + (p->size - 1));
	row_set(&row, C_ADDRESS, p->va);
	row_set(&row, C_END, p->end);
	row_set(&row, C_SIZE, p->size);
	row_set_if(&row, !(r->have & RUN_STATE_HIDDEN), C_STATE, state_shown(r->state));
	if (r->state != PAGE_ABSENT && r->state < PAGE_LOST)
		row_set(&row, C_PAGES, p->pages);
	if (p->has_pa)
		row_physical(o->list, &row, p->pa);
	row_set_if(&row, there && page, C_PAGE, page);
	if (r->have & RUN_RIGHTS)
		row_rights(&row, STATE_PRESENT, r->rights);
	row_set_if(&row, r->have & RUN_FLAGS, C_FLAGS,
		   r->flags | (p->same ? o->list->same_page : 0));
	row_set_if(&row, p->known, C_PROPERTIES, p->properties);
	row_set(&row, C_PID, o->prov->task[o->task].pid);
	row_text(&row, C_TASK, o->prov->task[o->task].name);
	row_set_if(&row, there && p->node != NODE_NONE, C_NODE, (uint64_t)p->node);
	rc = row_put(&row, o->out, err);
	if (rc < 0 || atw_output_rows(o->out) == before)
		return rc;
	o->rows++;
	if (there && o->nodes.wanted)
		node_sum_add(&o->nodes, p->node, p->size);
	if (there)
		map_sizes_add(&o->sizes, page ? page : r->slot ? SIZE_UNKNOWN : SIZE_SEVERAL,
			  p->size, p->pages);
	*(there ? &o->mapped : &o->other) += r->state == PAGE_ABSENT ? 0 : p->size;
	return rc;
}

static int map_pages_flush(struct map_pages_out *o, struct atw_err *err)
{
	if (!o->holding)
		return ATW_OK;
	o->holding = false;
	return map_pages_put(o, &o->held, err);
}

/* Does it map the one page that all before it map, as the zero page? */
static bool map_pages_same(const struct map_pages_piece *h, const struct map_pages_piece *p)
{
	return p->has_pa && h->pa == p->pa && (h->pages == 1 || h->same);
}

static bool map_pages_agree(const struct map_pages_out *o,
			    const struct map_pages_piece *p)
{
	const struct page_run *x = &o->held_run, *y = p->run;
	const struct map_pages_piece *h = &o->held;
	struct atw_region area;

	if (!o->holding || o->split & MMU_SPLIT_EACH || h->end != p->va ||
	    x->state != y->state || h->has_pa != p->has_pa ||
	    (x->have ^ y->have) & ~(unsigned)RUN_SIZE_HIDDEN ||
	    h->node != p->node)
		return false;
	if (x->state == PAGE_SWAP && x->have & RUN_SWAP &&
	    (x->swap_type != y->swap_type || h->offset + h->pages != p->offset))
		return false;
	/* Where an area begins, a range ends. */
	if (listing_region(o->list, p->va, &area) && area.first.u > h->va)
		return false;
	return (!(o->split & MMU_SPLIT_RIGHTS) || x->rights == y->rights) &&
	       (!(o->split & MMU_SPLIT_LEVEL) || (x->slot == y->slot && x->have == y->have)) &&
	       (!(o->split & MMU_SPLIT_FLAGS) || x->flags == y->flags) &&
	       (!(o->split & MMU_SPLIT_PHYSICAL) || !p->has_pa || map_pages_same(h, p) ||
		(!h->same && h->pa + h->size == p->pa));
}

static int map_pages_feed(struct map_pages_out *o, const struct map_pages_piece *p,
			  struct atw_err *err)
{
	int rc;

	if (map_pages_agree(o, p)) {
		o->held.same = map_pages_same(&o->held, p);
		o->held.size += p->size;
		o->held.end = p->end;
		o->held.pages += p->pages;
		o->held_run.flags &= p->run->flags;
		o->held_run.rights &= p->run->rights;
		o->held.known &= p->known;
		o->held.properties &= p->properties;
		if (o->held_run.slot != p->run->slot || o->held_run.have != p->run->have)
			o->held_run.slot = 0;
		return ATW_OK;
	}
	rc = map_pages_flush(o, err);
	o->held = *p;
	o->held_run = *p->run;
	o->held.run = &o->held_run;
	o->holding = true;
	return rc;
}

/* Of slot i; a large one may begin on one node and end on another. */
static int64_t map_pages_node_of(struct map_pages_out *o, const struct page_run *r,
				 uint32_t i)
{
	uint64_t page = (uint64_t)1 << o->prov->page_shift;
	struct frame_facts a, b;

	if (!o->nodes.wanted || !r->pa ||
	    page_cursor_facts(o->pages, r, i, 0, r->slot, &a, NULL) < 0 ||
	    !(a.have & FACT_NODE))
		return NODE_NONE;
	if (r->slot > page &&
	    (page_cursor_facts(o->pages, r, i, r->slot - page, 0, &b, NULL) < 0 ||
	     !(b.have & FACT_NODE) || b.page.node != a.page.node))
		return NODE_NONE;
	return a.page.node;
}

/* The part first..last of a run, slot by slot. */
static int map_pages_take(struct map_pages_out *o, const struct page_run *r,
			  uint64_t first, uint64_t last, bool whole, struct atw_err *err)
{
	uint64_t i = (first - r->va) / r->slot;
	int rc = ATW_OK;

	for (; rc == ATW_OK && i < r->count; i++) {
		uint64_t va = r->va + i * r->slot, skip = va < first ? first - va : 0;
		struct map_pages_piece p = {
			.va = va + skip, .run = r, .pages = 1, .has_pa = r->pa != NULL,
			.pa = r->pa ? r->pa[i] + skip : 0,
			.offset = r->swap_offset + i,
			.node = map_pages_node_of(o, r, (uint32_t)i),
		};

		if (va > last)
			break;
		p.known = run_properties(o->prov, r, &p.properties);
		/* What one address says is said of all its page. */
		p.size = whole ? r->slot : last - va < r->slot - 1 ? last - va + 1 - skip
								   : r->slot - skip;
		if (whole && r->state == PAGE_ABSENT)
			p.size = (uint64_t)1 << o->prov->page_shift;
		p.end = whole ? (va + skip - (va + skip) % p.size) + p.size : va + skip + p.size;
		rc = map_pages_feed(o, &p, err);
	}
	return rc;
}

/* What was listed until it failed is an answer, too. */
static int map_pages_stop_short(struct map_pages_out *o, int rc, bool begun,
				struct atw_err *err)
{
	struct atw_err e = *err;

	atw_err_wrap(err, "%s", o->src->name);
	if (!begun || !o->out || rc == ATW_E_NOMEM)
		return rc;
	atw_err_wrap(&e, "%s", o->src->name);
	print_error(&e);
	o->unread++;
	return map_pages_flush(o, err);
}

/* The range that is listed by default. */
static const struct address all = { .last = INT64_MAX, .is_range = true };

static int map_pages_list(struct map_pages_out *o, const struct address *a,
			  struct atw_err *err)
{
	const struct page_run *r;
	bool begun = false;
	uint64_t page = ((uint64_t)1 << o->prov->page_shift) - 1;
	const struct page_query q = {
		.task = o->task, .first = a->first & ~page, .last = a->last | page,
		.vmas = o->vmas,
	};
	int rc = page_cursor_open(o->prov, &q, &o->pages, err), put = ATW_OK;

	if (rc == ATW_END)
		rc = atw_err_set(err, ATW_E_NONE, "%s has ended", o->src->subject.label);
	if (rc < 0)
		return atw_err_wrap(err, "%s", o->src->name);
	for (; put == ATW_OK && (rc = page_cursor_next(o->pages, &r, err)) == ATW_OK;
	     begun = true) {
		uint64_t last = r->va + (r->size - 1);
		bool unknown = r->state == PAGE_ABSENT && r->have & RUN_STATE_HIDDEN;
		bool nothing = r->state == PAGE_ABSENT && !unknown;

		if (last < a->first || r->va > a->last)
			continue;
		o->unmapped += nothing;
		o->unknown += unknown;
		o->lost += r->state >= PAGE_LOST;
		if (nothing && o->is_map)
			continue;
		put = map_pages_take(o, r, r->va > a->first ? r->va : a->first,
				     last < a->last ? last : a->last, !a->is_range, err);
	}
	/* What is wrong with the output is not the source's fault. */
	if (put < 0)
		return put;
	return rc == ATW_END ? map_pages_flush(o, err)
			     : map_pages_stop_short(o, rc, begun, err);
}

/* What of the source could not be read. */
static void map_pages_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct map_pages_out *o = arg;

	print_fault(o->src, &o->unread, what, why);
}

static int map_pages_open_task(struct map_pages_out *o, struct atw_err *err)
{
	const struct session *src = o->src;
	const struct target_query q = {
		.pid = (uint32_t)src->subject.pid, .mm = src->subject.mm,
		.frames = o->nodes.wanted, .flags = o->nodes.wanted, .pace = src->pace,
	};
	int r;

	if (!src->subject.pid) {
		r = atw_err_set(err, ATW_E_USAGE, "%s: specify a process: the kernel's own pages are not known",
				src->name);
		atw_err_remedy(err, ATW_PARAM_PROCESS);
		return r;
	}
	r = target_process(src->target, &q, map_pages_cannot, o, &o->prov, &o->task, err);
	return r < 0 ? atw_err_wrap(err, "%s", src->name) : ATW_OK;
}

static void map_pages_close(struct map_pages_out *o)
{
	vma_cursor_close(o->vmas);
	page_cursor_close(o->pages);
	provider_close(o->prov);
	o->vmas = NULL;
	o->pages = NULL;
	o->prov = NULL;
}

/* The process that the session is about now, if that is not the one at hand. */
static int map_pages_enter(struct map_pages_out *o, struct atw_err *err)
{
	int r;

	if (o->prov && o->pid == o->src->subject.pid)
		return ATW_OK;
	map_pages_close(o);
	o->pid = o->src->subject.pid;
	r = map_pages_open_task(o, err);
	if (r == ATW_OK && vma_cursor_open(o->prov, o->task, &o->vmas, NULL) == ATW_OK)
		listing_areas(o->list, o->vmas);
	return r;
}

static int map_pages_list_arg(void *arg, const struct address_arg *t, struct atw_err *err)
{
	struct map_pages_out *o = arg;
	int r;

	o->unmapped += t->unmapped;
	if (t->unmapped)
		return o->is_map ? ATW_OK : address_arg_put_unmapped(t, o->out, err);
	r = map_pages_enter(o, err) ?: map_pages_list(o, &t->a, err);
	return r == ATW_OK && o->lines ? walk_lines_put(o->lines, t, o->out, err) : r;
}

/*
 * The process of the first argument that has one: rows have the flags of its provider.
 * Where none maps any address, no row has flags.
 */
static int map_pages_enter_first(struct map_pages_out *o, struct session *src,
				 const struct address_arg *t, int n, struct atw_err *err)
{
	const struct subject own = src->subject;
	int i = 0, r;

	while (i < n && t[i].owned && t[i].unmapped)
		i++;
	if (n && i == n)
		return ATW_OK;
	if (n && t[i].owned)
		src->subject = t[i].owner;
	r = map_pages_enter(o, err);
	src->subject = own;
	return r;
}

static int map_pages_open_rows(struct map_pages_out *o, const struct common *c,
			       struct session *src, const struct address_arg *t, int n,
			       struct atw_err *err)
{
	struct atw_output_opts oo;
	struct listing *l = o->list;
	int r = map_pages_enter_first(o, src, t, n, err), opened;

	/* A query asks for the columns before it has a process; they do not depend on it. */
	if (r < 0 && (!c->tap || err->remedy != ATW_PARAM_PROCESS))
		return r;
	if (o->prov) {
		listing_flags(l, o->prov->flags, o->prov->unknown);
		l->col[C_PROPERTIES].unknown = ~(uint64_t)known_properties(o->prov);
	}
	l->col[C_AREA].hidden &= !o->is_map;
	output_opts(c, src, &oo);
	oo.page_shift = l->space->paging.page_shift;
	opened = atw_output_open(&oo, &l->schema, &o->out, r < 0 ? NULL : err);
	return r < 0 ? r : opened;
}

static int map_pages_answer(struct map_pages_out *o, const struct common *c,
			    struct session *src, const struct address_arg *t, int n)
{
	struct atw_err err = { 0 };
	int status, r = map_pages_open_rows(o, c, src, t, n, &err);

	if (r == ATW_OK && !n)
		r = map_pages_list(o, &all, &err);
	if (r == ATW_OK)
		r = address_args_each(src, t, n, map_pages_list_arg, o, &err);
	thaw(src);
	status = o->unread || o->lost || src->doubtful || session_has_gaps(src) ? EXIT_PARTIAL :
		 o->is_map && o->mapped + o->other ? EXIT_COMPLETE : o->unknown ? EXIT_PARTIAL :
		 o->is_map || o->unmapped || o->other ? EXIT_NO : EXIT_COMPLETE;
	if (r == ATW_OK && o->lines) {
		walk_lines_note(o->lines, o->out);
		status = walk_lines_status(o->lines, status);
	}
	if (r == ATW_OK && o->is_map)
		map_sizes_note(&o->sizes, o->rows, o->out);
	if (r == ATW_OK && o->lost)
		atw_output_note(o->out, "%" PRIu64 " range%s unknown: not recorded in the capture",
				o->lost, o->lost == 1 ? " is" : "s are");
	if (r == ATW_OK)
		node_sum_note(&o->nodes, o->out);
	if (r == ATW_OK && o->is_map && !n)
		map_large_notes(c, src, o->out);
	if (r == ATW_OK)
		unread_note(c, src, o->out);
	status = output_end(o->out, r, status, &err);
	if (r == ATW_OK && session_has_gaps(src))
		print_defects(c, src);
	if (r == ATW_OK && o->lost)
		print_incomplete("%s: cannot determine what is in %" PRIu64 " range%s", src->name, o->lost,
				 o->lost == 1 ? "" : "s");
	if (r == ATW_OK && status == EXIT_PARTIAL && o->unknown)
		print_incomplete("%s: cannot determine whether %" PRIu64 " range%s mapped", src->name,
				 o->unknown, o->unknown == 1 ? " is" : "s are");
	if (r == ATW_OK)
		warn_lacks(c, src, o->prov);
	map_pages_close(o);
	node_sum_deinit(&o->nodes);
	return status;
}

int map_by_pages(const struct common *c, struct session *src, struct listing *l, unsigned split,
		 const struct address_arg *t, int n)
{
	struct map_pages_out o = {
		.src = src, .list = l, .is_map = true, .split = split,
		.nodes.wanted = asks_for(c, "node"),
	};

	return map_pages_answer(&o, c, src, t, n);
}

int walk_by_pages(const struct common *c, struct session *src, struct listing *l,
		  const struct address_arg *t, int n, struct walk_lines *lines)
{
	struct map_pages_out o = {
		.src = src, .list = l, .split = MMU_SPLIT_EACH, .lines = lines,
	};

	return map_pages_answer(&o, c, src, t, n);
}

struct map_pages_looker {
	const struct session *src;
	unsigned split;
	int argc;
	char **argv;
};

static int map_pages_look(void *arg, struct map_look *l, struct atw_err *err)
{
	const struct map_pages_looker *k = arg;
	struct listing areas = { .src = k->src };
	struct map_pages_out o = {
		.src = k->src, .is_map = true, .split = k->split, .look = l,
		.list = &areas,
	};
	struct address a;
	int r = map_pages_enter(&o, err);

	if (r == ATW_OK && k->argc == 1)
		r = map_pages_list(&o, &all, err);
	for (int i = 1; i < k->argc && r == ATW_OK; i++)
		r = address_arg_parse(k->src, k->argv[i], &a, err) ?:
		    map_pages_list(&o, &a, err);
	listing_deinit(&areas);
	map_pages_close(&o);
	return r;
}

int watch_by_pages(const struct common *c, struct session *src, const struct space_opts *space,
		   const char *text, unsigned split, int argc, char **argv)
{
	struct map_pages_looker k = {src, split, argc, argv};

	return watch_map(c, src, space, text, map_pages_look, &k);
}
