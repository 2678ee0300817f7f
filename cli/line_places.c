/* SPDX-License-Identifier: GPL-2.0-or-later */
/* line_places.c - cache lines of a range: where each lies, and its sets in the caches. */
#include "line_places.h"

enum {
	LINE_FAULTS = 8,         /* reasons that are printed */
	LINE_MOST_SETS = 1 << 20,
};

void line_places_init(struct line_places *p, const struct common *c, struct session *src,
		      struct listing *list, uint32_t line, bool here)
{
	struct atw_err err = {0};

	*p = (struct line_places){.c = c, .src = src, .list = list, .line = line, .page = 4096};
	/* A dump does not have the geometry of the machine that it is of. */
	if (here || (src && target_has(src->target, TARGET_HERE)))
		sys_caches_read("", &p->caches);
	if (src)
		p->page = (uint64_t)1 << src->subject.space.paging.page_shift;
	for (unsigned i = 0; i < LINE_SETS; i++) {
		const struct sys_cache *k = &p->caches.level[i];

		if (k->sets && k->sets <= LINE_MOST_SETS)
			p->set[i] = (struct line_sets){
				.used = calloc(k->sets, sizeof(*p->set[i].used)),
				.sets = k->sets, .ways = k->ways,
			};
	}
	if (!src || !asks_for(c, "node"))
		return;
	if (src->target->kernel) {
		if (atw_memmap_open(src->target->kernel, &p->memmap, &err) < 0)
			print_warning(c, "%s: cannot read NUMA nodes: %s", src->name, err.text);
	} else if (target_has(src->target, TARGET_HERE)) {
		p->have_nodes = sys_nodes_read("", &p->nodes);
	}
}

static void line_places_leave(struct line_places *p)
{
	vma_cursor_close(p->vmas);
	provider_close(p->prov);
	p->vmas = NULL;
	p->prov = NULL;
	p->have_at = false;
}

void line_places_deinit(struct line_places *p)
{
	line_places_leave(p);
	atw_memmap_close(p->memmap);
	sys_nodes_deinit(&p->nodes);
	for (unsigned i = 0; i < LINE_SETS; i++)
		free(p->set[i].used);
}

/* ---- the process, of targets without page tables ---- */

static void line_places_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct line_places *p = arg;
	struct atw_err e = *why;

	if (p->unread++ < LINE_FAULTS) {
		atw_err_wrap(&e, "%s: %s", p->src->name, what);
		print_error(&e);
	}
}

static int line_places_enter(struct line_places *p, struct atw_err *err)
{
	const struct session *src = p->src;
	const struct target_query q = {
		.pid = (uint32_t)src->subject.pid, .mm = src->subject.mm,
		.pace = src->pace,
	};
	int r;

	if (p->prov && p->pid == src->subject.pid)
		return ATW_OK;
	line_places_leave(p);
	if (!src->subject.pid) {
		r = atw_err_set(err, ATW_E_USAGE,
				"%s: specify a process: the kernel's own pages are not known",
				src->name);
		atw_err_remedy(err, ATW_PARAM_PROCESS);
		return r;
	}
	r = target_process(src->target, &q, line_places_cannot, p, &p->prov, &p->task, err);
	if (r < 0)
		return atw_err_wrap(err, "%s", src->name);
	p->pid = src->subject.pid;
	if (vma_cursor_open(p->prov, p->task, &p->vmas, NULL) == ATW_OK)
		listing_areas(p->list, p->vmas);
	return ATW_OK;
}

static int line_places_open(struct line_places *p, uint64_t first, uint64_t last,
			    struct places **ret, struct atw_err *err)
{
	struct session *src = p->src;
	int r;

	if (target_has(src->target, TARGET_TABLES)) {
		r = places_open_tables(src->target, &src->subject.space, first, last, true, ret,
				       err);
	} else {
		r = line_places_enter(p, err);
		if (r < 0)
			return r;
		r = places_open_pages(p->prov, p->task, first, last, ret, err);
	}
	return r < 0 ? atw_err_wrap(err, "%s", src->name) : r;
}

/* ---- lines ---- */

static void line_places_sets(struct line_places *p, struct line_place *l)
{
	for (unsigned i = 0; i < LINE_SETS; i++) {
		struct line_sets *s = &p->set[i];

		l->have_set[i] = sys_caches_set(&p->caches, i + 1, l->have_pa ? &l->pa : NULL,
						l->address, p->page, &l->set[i]);
		if (!l->have_set[i] || !s->used)
			continue;
		s->taken += !s->used[l->set[i]];
		if (++s->used[l->set[i]] > s->most)
			s->most = s->used[l->set[i]];
	}
}

static void line_places_node(struct line_places *p, struct line_place *l)
{
	uint64_t same;

	if (!l->have_pa)
		return;
	if (p->memmap)
		l->have_node = atw_memmap_node(p->memmap, l->pa / p->page, 1, &l->node, &same);
	else if (p->have_nodes)
		l->have_node = sys_nodes_find(&p->nodes, l->pa, &l->node);
}

/* The line `off` bytes behind the beginning of a place. */
static struct line_place line_places_make(struct line_places *p, const struct place_range *at,
					  uint64_t off)
{
	struct line_place l = {
		.address = at->at + off, .size = p->line, .have_state = !at->hidden,
		.state = at->repeat ? STATE_REPEAT : state_shown(at->state),
		.have_pa = at->have_pa && !at->repeat,
	};

	if (l.have_pa) {
		l.pa = at->pa + off;
		if (at->same)
			l.pa = (at->pa & ~(at->same - 1)) + (at->pa + off) % at->same;
	}
	if (place_is_mapped(at)) {
		line_places_sets(p, &l);
		line_places_node(p, &l);
	}
	return l;
}

static int line_places_take(struct line_places *p, const struct place_range *at,
			    line_place_fn *fn, void *arg, struct atw_err *err)
{
	struct line_place l;
	int r = ATW_OK;

	if (!place_is_mapped(at)) {
		l = line_places_make(p, at, 0);
		l.size = at->len;
		*(at->state >= PAGE_LOST && at->state != PAGE_BAD ? &p->lost : &p->other) +=
			at->len / p->line;
		return fn(arg, &l, err);
	}
	for (uint64_t off = 0; r == ATW_OK && off < at->len; off += p->line) {
		l = line_places_make(p, at, off);
		p->present++;
		r = fn(arg, &l, err);
	}
	return r;
}

int line_places_each(struct line_places *p, uint64_t first, uint64_t last,
		     line_place_fn *fn, void *arg, struct atw_err *err)
{
	struct places *places;
	struct place_range at;
	int r = line_places_open(p, first, last, &places, err), put = ATW_OK;

	if (r < 0)
		return r;
	while (put == ATW_OK && (r = places_next(places, &at, err)) == ATW_OK)
		put = line_places_take(p, &at, fn, arg, err);
	places_close(places);
	if (put < 0)
		return put;
	return r == ATW_END ? ATW_OK : atw_err_wrap(err, "%s", p->src->name);
}

int line_places_at(struct line_places *p, uint64_t address, const uint64_t *pa, bool own,
		   struct line_place *ret, struct atw_err *err)
{
	struct place_range at = {.at = address, .len = p->line, .state = PAGE_PRESENT};
	uint64_t page = address & ~(p->page - 1);
	struct places *places;
	int r;

	if (pa || !own || !p->src) {
		at.have_pa = pa;
		at.pa = pa ? *pa : 0;
		*ret = line_places_make(p, &at, 0);
		ret->have_state = false;
		return ATW_OK;
	}
	if (!p->have_at || address - p->at.at >= p->at.len) {
		p->have_at = false;
		r = line_places_open(p, page, page + (p->page - 1), &places, err);
		if (r < 0)
			return r;
		r = places_next(places, &p->at, err);
		places_close(places);
		if (r < 0)
			return atw_err_wrap(err, "%s", p->src->name);
		p->have_at = r == ATW_OK;
		if (!p->have_at)
			p->at = (struct place_range){.at = page, .len = p->page};
	}
	*ret = line_places_make(p, &p->at, address - p->at.at);
	p->lost += p->at.state >= PAGE_LOST && p->at.state != PAGE_BAD;
	return ATW_OK;
}

void line_places_range(const struct line_places *p, const struct address *a,
		       uint64_t *ret_first, uint64_t *ret_last)
{
	uint64_t unit = a->is_range ? p->line : p->page;

	*ret_first = a->first & ~(unit - 1);
	*ret_last = a->last | (unit - 1);
}

void line_places_note(const struct line_places *p, struct atw_output *out)
{
	for (unsigned i = 0; i < LINE_SETS; i++) {
		const struct line_sets *s = &p->set[i];
		const char *much = "";

		if (!s->most)
			continue;
		if (s->ways && s->most > s->ways)
			much = ": they do not all fit";
		atw_output_note(out, "level %u cache, %" PRIu32 " sets of %" PRIu32
				" ways: %" PRIu32 " set%s used, at most %" PRIu32
				" line%s in one%s",
				i + 1, s->sets, s->ways, s->taken, s->taken == 1 ? "" : "s",
				s->most, s->most == 1 ? "" : "s", much);
	}
}

int line_places_status(const struct line_places *p, int status)
{
	if (p->lost)
		print_incomplete("%s: cannot determine where %" PRIu64 " line%s", p->src->name,
				 p->lost, p->lost == 1 ? " lies" : "s lie");
	return p->lost || p->unread ? EXIT_PARTIAL : status;
}
