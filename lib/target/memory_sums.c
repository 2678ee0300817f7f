/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_sums.c - of all address spaces of a running machine how often each frame is mapped,
 * and of each space what its pages are, out of one look at all page tables.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "linux/kpf.h"
#include "linux/soft.h"
#include "linux/areas.h"
#include "target/memory_vmas.h"

/* 64 MiB of runs: 32 GiB of pages, even if no two of their frames are consecutive. */
enum { KEPT_MOST = 8 << 20 };
/* Frames that are counted a byte each: of 4 TiB. */
enum { DENSE_MOST = 1 << 30 };

/* ---- one look ---- */

/* Behind the last frame of RAM. */
static uint64_t sums_frames_end(struct walk_provider *w)
{
	struct atw_source *mem = atw_kernel_space(w->o.kernel)->mem;
	uint64_t at = 0, end = 0;
	struct atw_extent e;

	while (atw_extent_at(mem, ATW_PA(at), &e) == ATW_OK) {
		at = e.start.u + e.len;
		if (e.kind == ATW_DATA)
			end = at;
		if (!e.len || at <= e.start.u)
			break;
	}
	return end >> w->p.page_shift;
}

/* By the release alone: the kernel's symbols need not be read for it. */
static struct atw_soft_abi sums_soft(const struct walk_provider *w)
{
	return atw_soft_abi_for(&atw_kernel_space(w->o.kernel)->paging,
				atw_kernel_release(w->o.kernel));
}

/*
 * `soles`: how often a frame is mapped is in look.soles, which facts() ask; else all of it is
 * in p.counts. `runs` are kept.
 */
static int sums_look(struct walk_provider *w, bool soles, bool runs, struct atw_err *err)
{
	struct provider *p = &w->p;
	_auto_free const struct mmu_space **sp = calloc(p->ntasks + 1, sizeof(*sp));
	const struct atw_soft_abi soft = sums_soft(w);
	const uint64_t end = sums_frames_end(w), dense = end <= DENSE_MOST ? end : 0;
	const struct look_opts o = {
		.space = sp, .n = p->ntasks, .most = runs ? KEPT_MOST : 0, .soles = soles ? dense : 0,
		.soft = &soft, .sure = w->o.soft, .sure_arg = w->o.soft_arg,
		.special = soft_page_bits(&soft).special,
		.progress = p->counting, .arg = p->counting_arg,
	};
	int r;

	if (!sp)
		return atw_err_nomem(err);
	for (size_t i = 0; i < p->ntasks; i++)
		sp[i] = p->task[i].shared ? NULL : &w->space[i].mm.space;
	memory_classes_drop(w);
	/* With soles, what is counted is what several spaces have: few frames. */
	counts_make_dense(&p->counts, dense, !soles);
	r = look_at_spaces(&w->look, &o, &p->counts, err);
	if (r == ATW_E_LIMIT) {
		look_deinit(&w->look);
		return provider_leave_counts(p, err);
	}
	p->counted = r == ATW_OK;
	return r;
}

int walk_count_live(struct walk_provider *w, struct atw_err *err)
{
	/* Classes of frames make read-ahead unnecessary, for which listings use the runs. */
	bool classes = w->p.brief && w->p.every;

	return sums_look(w, classes, !classes, err);
}

/* ---- pages by a key ---- */

static bool sums_add(struct page_sums *s, uint64_t key, uint64_t pages)
{
	if (!s->last || s->last->key != key)
		s->last = table_get(&s->table, key);
	if (s->last && pages)
		table_set(&s->table, s->last, s->last->value + pages);
	return s->last;
}

/* ---- what the frames are ---- */

enum { ALONE_MANY = 4096 };      /* struct pages that a read brings */
enum { LARGE_AT_ONCE = 256 };    /* in all of memory: each in a page of its own */

struct alone {
	uint64_t pfn[ALONE_MANY];
	uint16_t space[ALONE_MANY];
	struct page_origin origin[ALONE_MANY];
};

static uint64_t sums_alone_key(uint64_t space, uint64_t kind)
{
	return (space + 1) << 16 | kind;
}

static bool sums_asks_class(const struct walk_provider *w, unsigned class)
{
	return class != LOOK_SPECIAL && (w->kinds_wanted || class);
}

/* Are struct pages of small frames of that space read? */
static bool sums_wants(const struct walk_provider *w, size_t space)
{
	const struct look_space *sp = &w->look.space[space];

	return w->sums.rss && !w->sums.rss[space].known && !sp->shared && !sp->odd &&
	       !sp->ended;
}

static bool sums_asks(const struct walk_provider *w, look_run run)
{
	return sums_asks_class(w, look_class(run));
}

static int sums_query(struct walk_provider *w, look_run run, struct atw_err *err)
{
	uint64_t pfn = look_pfn(run), step = (uint64_t)1 << look_order(run);

	/* sums_kinds_small() has them all. */
	if (!look_class(run) && !w->sums.only && soles_have(&w->look.soles, pfn, look_times(run)))
		return ATW_OK;
	for (uint32_t t = 0; t < look_times(run); t++, pfn += step)
		if (!kinds_ask(&w->kinds, pfn))
			return atw_err_nomem(err);
	return ATW_OK;
}

/* Large pages with first struct pages that are read together. */
struct large {
	size_t n;
	uint64_t pa[LARGE_AT_ONCE];
	uint64_t pages[LARGE_AT_ONCE];
};

static void sums_zero_among(struct walk_provider *w, struct large *l)
{
	memmap_anew(w->memmap);
	memmap_soon_frames(w->memmap, l->pa, (uint32_t)l->n);
	for (size_t i = 0; i < l->n; i++)
		atw_memmap_mapped(w->memmap, l->pa[i] >> w->p.page_shift, l->pages[i]);
	l->n = 0;
}

/* Which page of zeroes is the large one may have to be found out among all that are mapped. */
static void sums_find_zero(struct walk_provider *w)
{
	struct large l = { .n = 0 };

	for (size_t i = 0; i < w->look.n; i++) {
		uint64_t pfn = look_pfn(w->look.run[i]);
		uint64_t step = (uint64_t)1 << look_order(w->look.run[i]);

		if (step == 1 || !memmap_seeks_zero(w->memmap, step))
			continue;
		for (uint32_t t = 0; t < look_times(w->look.run[i]); t++, pfn += step) {
			l.pa[l.n] = pfn << w->p.page_shift;
			l.pages[l.n++] = step;
			if (l.n == LARGE_AT_ONCE)
				sums_zero_among(w, &l);
		}
	}
	sums_zero_among(w, &l);
}

/* One that a space has alone is added up at once; of the others it is kept. */
static bool sums_add_kind(struct walk_provider *w, const struct alone *a, size_t i,
			  size_t n, uint16_t kind)
{
	return a->space[i] < SOLES_COUNT
		       ? sums_add(&w->sums.alone,
				  sums_alone_key(a->space[i] - 1u, kind), n)
		       : kinds_put(&w->kinds, a->pfn[i], n, kind);
}

/* Can sums_add_kind() take both at once, and all that lie between them? */
static bool sums_is_alike(const struct alone *a, size_t i, size_t k)
{
	return a->space[i] == a->space[k] && page_origin_same(&a->origin[i], &a->origin[k]) &&
	       (a->space[i] < SOLES_COUNT || a->pfn[k] - a->pfn[i] == k - i);
}

/* What frames are that were met as small pages only, in their order. */
static int sums_kinds_small(struct walk_provider *w, struct atw_err *err)
{
	_auto_free struct alone *a = malloc(sizeof(*a));
	struct page_sums *alone = &w->sums.alone;
	const struct soles *s = &w->look.soles;
	uint64_t at = 0;
	int r = a ? ATW_OK : ATW_E_NOMEM;
	size_t n;

	/* Of a look before this one. */
	table_clear(&alone->table);
	alone->last = NULL;
	while (r == ATW_OK &&
	       (n = soles_next(s, w->sums.only, &at, s->frames, a->pfn, a->space, ALONE_MANY))) {
		uint16_t kind = 0;

		r = memmap_origins(w->memmap, a->pfn, n, a->origin, err);
		for (size_t i = 0, same; i < n && r == ATW_OK; i += same) {
			if (!i || !page_origin_same(&a->origin[i], &a->origin[i - 1]))
				kind = kinds_number(&w->kinds, &a->origin[i]);
			for (same = 1;
			     i + same < n && sums_is_alike(a, i, i + same); same++)
				;
			if (!kind || !sums_add_kind(w, a, i, same, kind))
				r = ATW_E_NOMEM;
		}
	}
	return r == ATW_E_NOMEM ? atw_err_set(err, r, "out of memory") : r;
}

/* Of one space. */
static int sums_query_space(struct walk_provider *w, size_t space, struct atw_err *err)
{
	const struct look_space *sp = &w->look.space[space];
	const struct soles *s = &w->look.soles;
	int r = ATW_OK;

	w->kinds_wanted = sums_wants(w, space);
	for (size_t i = sp->first; i < sp->first + sp->n && r == ATW_OK; i++)
		if (sums_asks(w, w->look.run[i]))
			r = sums_query(w, w->look.run[i], err);
	if (!w->kinds_wanted || !s->frames)
		return r;
	for (size_t i = s->first[space]; i < s->first[space + 1] && r == ATW_OK; i++)
		if ((w->sums.only || s->space[s->former[i].pfn] == SOLES_COUNTED) &&
		    !kinds_ask(&w->kinds, s->former[i].pfn))
			r = atw_err_nomem(err);
	return r;
}

/* Of large pages, and of all pages of the spaces that sums_wants(). */
static int sums_kinds(struct walk_provider *w, struct atw_err *err)
{
	bool any = false, small = false;
	int r = ATW_OK;

	for (size_t i = 0; i < w->look.nspaces; i++) {
		bool wants = sums_wants(w, i);

		small |= wants;
		if (w->sums.only)
			w->sums.only[i] = wants;
	}
	w->kinds_wanted = small;
	for (unsigned i = 0; i < 64; i++)
		any |= w->look.classes >> i & 1 && sums_asks_class(w, i);
	any |= small && w->look.soles.frames;
	if (any && !w->memmap)
		r = atw_memmap_open(w->o.kernel, &w->memmap, err);
	if (r == ATW_OK && any)
		sums_find_zero(w);
	for (size_t i = 0; i < w->look.nspaces && r == ATW_OK && any; i++)
		if (!w->look.space[i].shared)
			r = sums_query_space(w, i, err);
	if (r == ATW_OK && any)
		r = kinds_read(&w->kinds, w->memmap, err);
	return r == ATW_OK && small ? sums_kinds_small(w, err) : r;
}

/*
 * Will any space be listed page by page? The listing needs the mapcount of each of its
 * pages, including mappings by other spaces.
 */
static bool sums_will_list(const struct walk_provider *w)
{
	bool odd = !w->look.keep;

	for (size_t i = 0; i < w->look.nspaces && !odd; i++)
		odd = w->look.space[i].odd;
	return odd;
}

int walk_sum_up(struct provider *p, bool kinds, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	const struct atw_soft_abi soft = sums_soft(w);
	struct atw_err why = { 0 };
	int r;

	if (!w->running || !soft_page_bits(&soft).special)
		return ATW_E_UNSUPPORTED;
	r = sums_look(w, true, true, err);
	if (r == ATW_OK && !p->brief && sums_will_list(w) && !soles_count(&w->look.soles, &p->counts))
		r = atw_err_nomem(err);
	if (r < 0 || !p->counted || !w->look.keep)
		return r < 0 ? r : ATW_E_UNSUPPORTED;
	memory_rss_drop(w);
	/* Without struct pages a listing says what it lacks. */
	r = sums_kinds(w, &why);
	if (r == ATW_OK && kinds)
		r = memory_rss(w, &why);
	if (r == ATW_OK && kinds)
		r = sums_kinds(w, &why);
	if (r == ATW_E_NOMEM && err)
		*err = why;
	return r == ATW_OK || r == ATW_E_NOMEM ? r : ATW_E_UNSUPPORTED;
}

/* ---- sums ---- */

enum { KIND_AT = 6, REFS_AT = 22 };      /* of a key; the order of mappings is below */

/* Add small pages; their kind is not needed. */
static bool sums_add_small(struct walk_provider *w, look_run run)
{
	struct walk_sums *s = &w->sums;
	uint64_t pfn = look_pfn(run), end = pfn + look_times(run);

	for (; pfn < end; pfn++) {
		uint64_t refs = soles_get(&w->look.soles, &w->p.counts, pfn);

		if (refs >= SUMS_FEW) {
			if (!sums_add(&s->by, refs << REFS_AT, 1))
				return false;
			continue;
		}
		s->few[refs]++;
		s->most = refs > s->most ? (uint32_t)refs : s->most;
	}
	return true;
}

/* All pages of a run, as many at once as are mapped as often and are of one kind. */
static bool sums_add_run(struct walk_provider *w, look_run run)
{
	uint64_t pfn = look_pfn(run), n = (uint64_t)look_times(run) << look_order(run);
	uint64_t large = ((uint64_t)1 << look_order(run)) - 1, same, alike;
	bool asked = sums_asks(w, run);
	unsigned kind = 0;

	for (uint64_t i = 0; i < n; i += same) {
		uint64_t refs = soles_run(&w->look.soles, &w->p.counts, pfn + i, n - i,
					  &same);

		/* The first frame of a large page speaks for all of them. */
		if (asked && large) {
			kind = kinds_get(&w->kinds, pfn + (i & ~large));
			alike = large + 1 - (i & large);
			same = alike < same ? alike : same;
		} else if (asked) {
			kind = kinds_run(&w->kinds, pfn + i, same, &same);
		}
		if (!sums_add(&w->sums.by, (refs ? refs : 1) << REFS_AT | (uint64_t)kind << KIND_AT |
			      look_order(run), same))
			return false;
	}
	return true;
}

/* Frames that no other mapping was met of, and those of which one was met later. */
static bool sums_add_alone(struct walk_provider *w, size_t task, uint64_t *mapped)
{
	const struct soles *s = &w->look.soles;
	bool good = true;

	if (!s->frames)
		return true;
	if (!w->kinds_wanted)
		good = !s->pages[task] ||
		       sums_add(&w->sums.by, (uint64_t)1 << REFS_AT, s->pages[task]);
	for (uint64_t kind = 1; w->kinds_wanted && kind < w->kinds.nkinds && good; kind++) {
		uint64_t pages = table_find(&w->sums.alone.table,
					    sums_alone_key(task, kind));

		good = !pages ||
		       sums_add(&w->sums.by, (uint64_t)1 << REFS_AT | kind << KIND_AT, pages);
	}
	for (size_t i = s->first[task]; i < s->first[task + 1] && good; i++)
		good = w->kinds_wanted ? sums_add_run(w, s->former[i].pfn)
				       : sums_add_small(w, s->former[i].pfn);
	*mapped += s->pages[task] + s->first[task + 1] - s->first[task];
	return good;
}

static bool sums_fold(struct walk_sums *s)
{
	bool good = true;

	for (uint64_t refs = 0; refs <= s->most && good; refs++) {
		good = !s->few[refs] ||
		       sums_add(&s->by, (refs ? refs : 1) << REFS_AT, s->few[refs]);
		s->few[refs] = 0;
	}
	s->most = 0;
	return good;
}

static struct provider_sum sums_sum(const struct walk_provider *w, uint64_t key,
				    uint64_t pages)
{
	unsigned kind = (unsigned)(key >> KIND_AT & UINT16_MAX);
	struct provider_sum s = {
		.pages = pages, .refs = key >> REFS_AT, .order = key & ((1 << KIND_AT) - 1),
	};

	if (kind) {
		const struct page_origin *o = &w->kinds.kind[kind];

		s.known = o->known && !o->stale;
		s.flags = o->flags;
		/* Memory without a struct page is a device's. */
		s.uncounted = !o->known || o->flags & kpf(KPF_ZERO_PAGE);
	}
	return s;
}

/* The task that the address space was looked at for: the first one that has it. */
static size_t sums_first_of(const struct provider *p, size_t task)
{
	size_t i = 0;

	if (!p->task[task].shared)
		return task;
	while (i < task && p->task[i].mm != p->task[task].mm)
		i++;
	return i;
}

int walk_sums(struct provider *p, size_t of, struct provider_sums *ret, struct atw_err *err)
{
	struct walk_provider *w = walk_of(p);
	const size_t task = sums_first_of(p, of);
	const struct look_space *sp = &w->look.space[task];
	struct walk_sums *s = &w->sums;
	uint64_t mapped = 0, areas = 0;
	bool good = true;
	unsigned class;
	size_t n = 0;

	if (sp->ended)
		return ATW_END;
	if (sp->odd)
		return ATW_E_UNSUPPORTED;
	w->kinds_wanted = sums_wants(w, task);
	table_clear(&s->by.table);
	s->by.last = NULL;
	for (size_t i = sp->first; i < sp->first + sp->n && good; i++) {
		if (i + COUNTS_SOON < sp->first + sp->n)
			soles_soon(&w->look.soles, &p->counts,
				   look_pfn(w->look.run[i + COUNTS_SOON]));
		class = look_class(w->look.run[i]);
		mapped += (uint64_t)look_times(w->look.run[i]) << look_order(w->look.run[i]);
		good = class == LOOK_SPECIAL ||
		       (!class && !w->kinds_wanted ? sums_add_small(w, w->look.run[i])
						   : sums_add_run(w, w->look.run[i]));
	}
	good = good && sums_add_alone(w, task, &mapped);
	if (!good || !sums_fold(s))
		return atw_err_nomem(err);
	if (!array_reserve((void **)&s->sum, &s->sums_cap, s->by.table.n + 1 + RSS_KINDS,
			   sizeof(*s->sum)))
		return atw_err_nomem(err);
	for (size_t i = 0; i < s->by.table.slots; i++) {
		const struct table_slot *by = &s->by.table.slot[i];

		if (!by->value)
			continue;
		s->sum[n] = sums_sum(w, by->key, by->value);
		n += !s->sum[n].uncounted;
	}
	if (s->rss && s->rss[task].known)
		n = memory_rss_divide(s->sum, n, s->rss[task]);
	if (p->sizes)
		areas_size(w->o.kernel, w->space[task].at, &areas);
	/* Where it has ended, that was of others. */
	if (p->sizes && !mmu_space_lives(&w->space[task].mm.space))
		return ATW_END;
	*ret = (struct provider_sums){
		.v = s->sum, .n = n, .swapped = sp->swapped, .mapped = mapped, .areas = areas,
	};
	return ATW_OK;
}

void walk_sums_close(struct walk_provider *w)
{
	look_deinit(&w->look);
	memory_classes_drop(w);
	kinds_deinit(&w->kinds);
	table_deinit(&w->sums.by.table);
	table_deinit(&w->sums.alone.table);
	free(w->sums.sum);
	memory_rss_drop(w);
}
