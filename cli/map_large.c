/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_large.c - memory of a process in large pages, and the reasons for small ones: a row
 * an area, and the sum of all. The reasons are determined by lib/target/large.c.
 */
#include "map.h"

enum large_col {
	L_ADDRESS, L_END, L_SIZE, L_MAPPED, L_LARGE, L_SMALLER, L_BLOCKS, L_FULL, L_HOLES,
	L_HOST_LARGE, L_BOTH, L_MISALIGNED, L_WHY, L_PID, L_TASK, L_AREA, L_COLS,
};
/* Of guests that are read from their host. */
enum { L_OF_GUEST = 1 << L_HOST_LARGE | 1 << L_BOTH | 1 << L_MISALIGNED };

static const struct atw_names whys = { LARGE_WHYS, large_why_names, NULL };

static const struct atw_column columns[L_COLS] = {
	[L_ADDRESS] = COLUMN("address", VA, 0, "where the area begins"),
	[L_END] = COLUMN("end", VA, 0, "first address after it"),
	[L_SIZE] = COLUMN("size", BYTES, 6, "its bytes"),
	[L_MAPPED] = COLUMN("mapped", BYTES, 6, "bytes of the area that are mapped"),
	[L_LARGE] = COLUMN("large", BYTES, 6, "of these, by large pages"),
	[L_SMALLER] = COLUMN("smaller", BYTES, 7, "by smaller ones"),
	[L_BLOCKS] = COLUMN("blocks", COUNT, 6,
			    "places for a large page: aligned, and whole in the area"),
	[L_FULL] = COLUMN("full", COUNT, 4,
			  "blocks that small pages map from end to end"),
	[L_HOLES] = HIDDEN_COLUMN("holes", BYTES, 6,
				  "bytes that blocks with small pages lack"),
	[L_HOST_LARGE] = HIDDEN_COLUMN("host_large", BYTES, 10,
				       "of a guest: bytes mapped that are in large pages of the host"),
	[L_BOTH] = HIDDEN_COLUMN("both", BYTES, 6,
				 "of a guest: bytes in large pages of guest and host"),
	[L_MISALIGNED] = HIDDEN_COLUMN("misaligned", BYTES, 10,
				       "of a guest: bytes at other offsets in a large page than "
				       "in its process"),
	[L_WHY] = { .key = "why", .type = ATW_T_ENUM, .width = 10, .names = &whys,
		    .help = "why most of what smaller pages map is not mapped by large ones" },
	[L_PID] = HIDDEN_COLUMN("pid", COUNT, 0, "process"),
	[L_TASK] = HIDDEN_COLUMN("task", TEXT, 0, "its name"),
	[L_AREA] = COLUMN("area", TEXT, 0, "its name, if it has one"),
};
static const struct atw_schema schema = { "map", columns, L_COLS };

struct map_large_area {
	uint64_t start, end;
	struct large_may may;
	char *name;
};

struct map_large_view {
	const struct common *c;
	const struct session *src;
	struct provider *prov;
	struct vma_cursor *vmas;
	struct atw_output *out;
	bool rows;
	size_t task;
	uint64_t block;
	struct map_large_area *area;
	size_t n, cap;
	struct large_scan scan;
	struct large_sum sum;            /* of the areas that are shown */
	struct large_sum outside;        /* of what is in no area */
	bool is_guest;
	struct large_guest guest;        /* of the area under way */
	struct large_guest_sum guest_sum;        /* of the areas that are shown */
	uint64_t areas, lost, unread;
};

/* ---- owners of areas ---- */

static void map_large_cannot(void *arg, const char *what, const struct atw_err *err)
{
	struct map_large_view *v = arg;
	struct atw_err e = *err;

	/* The listing of ranges does not need them. */
	if (v->rows && !v->unread++) {
		atw_err_wrap(&e, "%s: %s", v->src->name, what);
		print_error(&e);
	}
}

static int map_large_open_view(struct map_large_view *v, struct atw_err *err)
{
	const struct session *src = v->src;
	const struct atw_paging *pg = &src->subject.space.paging;
	const struct target_query q = {
		.pid = (uint32_t)src->subject.pid, .mm = src->subject.mm, .alone = true,
	};

	if (pg->nlevels < 2)
		return atw_err_set(err, ATW_E_UNSUPPORTED, "mode %s has no large pages", pg->name);
	v->block = (uint64_t)1 << pg->level[1].shift;
	v->is_guest = target_has(src->target, TARGET_MEMORY) &&
		      large_guest_init(&v->guest, src->target->source);
	return target_process(src->target, &q, map_large_cannot, v, &v->prov, &v->task, err);
}

static bool map_large_is_wanted(const struct address *range, size_t n,
				const struct atw_area *a)
{
	for (size_t i = 0; i < n; i++)
		if (range[i].first < a->end.u && range[i].last >= a->start.u)
			return true;
	return !n;
}

/* Those of user space, of which nothing else is mapped. */
static int map_large_read_areas(struct map_large_view *v, const struct address *range,
				size_t nranges, struct atw_err *err)
{
	_auto_free struct atw_area *a = malloc(sizeof(*a));
	struct atw_err why = { 0 };
	int r = a ? vma_cursor_open(v->prov, v->task, &v->vmas, err) : atw_err_nomem(err);

	if (r == ATW_END)
		r = atw_err_set(err, ATW_E_NONE, "process %" PRIu64 " has ended", v->src->subject.pid);
	while (r == ATW_OK && (r = vma_cursor_next(v->vmas, a, &why)) != ATW_END) {
		struct map_large_area *k;

		if (r < 0) {
			map_large_cannot(v, v->prov->task[v->task].name, &why);
			r = r == ATW_E_LIMIT || r == ATW_E_NOMEM ? ATW_END : ATW_OK;
			continue;
		}
		if (a->end.u - 1 > v->prov->user_last ||
		    !map_large_is_wanted(range, nranges, a))
			continue;
		if (!array_reserve((void **)&v->area, &v->cap, v->n + 1, sizeof(*v->area))) {
			r = atw_err_nomem(err);
			break;
		}
		k = &v->area[v->n++];
		*k = (struct map_large_area){
			.start = a->start.u, .end = a->end.u, .name = strdup(a->name)};
		v->prov->ops->large(v->vmas, a, v->block, &k->may);
	}
	return r == ATW_END ? ATW_OK : r;
}

static void map_large_close_view(struct map_large_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->area[i].name);
	free(v->area);
	large_guest_deinit(&v->guest);
	vma_cursor_close(v->vmas);
	provider_close(v->prov);
}

/* ---- rows ---- */

static int map_large_put(struct map_large_view *v, const struct map_large_area *a,
			 struct atw_err *err)
{
	const struct large_sum *s = &v->scan.sum;
	const struct large_guest_sum host = v->guest.sum;
	uint64_t smaller = large_smaller(s), holes = 0, before;
	union atw_value val[L_COLS] = {
		[L_ADDRESS].u = a->start, [L_END].u = a->end, [L_SIZE].u = a->end - a->start,
		[L_MAPPED].u = large_mapped(s), [L_LARGE].u = s->large,
		[L_SMALLER].u = smaller, [L_BLOCKS].u = s->blocks, [L_FULL].u = s->full,
		[L_HOST_LARGE].u = host.on_large, [L_BOTH].u = host.both,
		[L_MISALIGNED].u = host.misaligned, [L_WHY].u = large_main(s), [L_PID].u = v->src->subject.pid,
		[L_TASK].s = v->src->subject.task,
		[L_AREA].s = a->name ? a->name : "",
	};
	const uint64_t by_size = 1 << L_LARGE | 1 << L_SMALLER | 1 << L_FULL | 1 << L_HOLES | 1 << L_WHY;
	const uint64_t of_guest = !v->is_guest ? L_OF_GUEST :
				  host.unknown ? 1 << L_HOST_LARGE | 1 << L_BOTH : 0;
	const struct atw_row row = { val, (((uint64_t)1 << L_COLS) - 1) & ~of_guest &
		~(s->hidden ? by_size | 1 << L_MAPPED : s->unsized ? by_size : 0) };
	int r = ATW_OK;

	v->guest.sum = (struct large_guest_sum){ 0 };

	for (unsigned i = 0; i < LARGE_WHYS; i++)
		holes += s->holes[i];
	val[L_HOLES].u = holes;
	if (v->rows) {
		before = atw_output_rows(v->out);
		r = atw_output_row(v->out, &row, err);
		if (r < 0 || atw_output_rows(v->out) == before)
			return r;
	}
	v->areas++;
	large_sum_add(&v->sum, s);
	large_guest_sum_add(&v->guest_sum, &host);
	return r;
}

/* ---- pages ---- */

/* The same part of a run, page by page, by what the host has of it. */
static void map_large_add_guest(struct map_large_view *v, const struct page_run *run, uint64_t first,
				uint64_t last)
{
	if (!v->is_guest || run->state != PAGE_PRESENT || !run->pa || run->have & RUN_SIZE_HIDDEN)
		return;
	for (uint64_t at = first, n; at - first <= last - first; at += n) {
		uint64_t in = (at - run->va) % run->slot, left = last - at + 1;

		n = MIN(run->slot - in, left);
		large_guest_add(&v->guest, ATW_PA(run->pa[(at - run->va) / run->slot] + in), n,
				run->slot >= v->block);
		if (n == left)
			break;
	}
}

/* A run, cut where areas begin and end; `at` is the area it may be in. */
static int map_large_deal_out(struct map_large_view *v, size_t *at,
			      const struct page_run *run, uint64_t first, uint64_t last,
			      struct atw_err *err)
{
	int r = ATW_OK;

	for (uint64_t end; r == ATW_OK; first = end + 1) {
		const struct map_large_area *a = *at < v->n ? &v->area[*at] : NULL;
		bool inside = a && a->start <= first;

		if (inside && a->end <= first) {
			large_end(&v->scan);
			r = map_large_put(v, a, err);
			if (++*at < v->n)
				large_begin(&v->scan, v->area[*at].start, v->area[*at].end,
					    &v->area[*at].may, v->block);
			end = first - 1;         /* the same once more */
			continue;
		}
		end = inside ? a->end - 1 : a ? a->start - 1 : last;
		end = MIN(end, last);
		if (inside) {
			large_add(&v->scan, first, end, run);
			map_large_add_guest(v, run, first, end);
		} else if (run->state == PAGE_PRESENT && run->have & RUN_SIZE_HIDDEN) {
			v->outside.unsized += end - first + 1;
		} else if (run->state == PAGE_PRESENT) {
			large_sum_outside(&v->outside, end - first + 1, run->slot, v->block);
		}
		if (end == last)
			break;
	}
	return r;
}

/* The pages of all areas; `whole`: what lies beside them as well. */
static int map_large_read_pages(struct map_large_view *v, bool whole, struct atw_err *err)
{
	uint64_t first = whole ? 0 : v->area[0].start;
	uint64_t last = whole ? v->prov->user_last : v->area[v->n - 1].end - 1;
	const struct page_query q = {
		.task = v->task, .first = first, .last = last, .vmas = v->vmas,
		/* What the host has depends on where each page lies. */
		.areas_only = !v->is_guest,
	};
	struct page_cursor *pages = NULL;
	const struct page_run *run;
	size_t at = 0;
	int r = page_cursor_open(v->prov, &q, &pages, err);

	if (r < 0) {
		page_cursor_close(pages);
		return r;
	}
	if (v->n)
		large_begin(&v->scan, v->area[0].start, v->area[0].end, &v->area[0].may, v->block);
	while ((r = page_cursor_next(pages, &run, err)) == ATW_OK) {
		uint64_t from = run->va, to = run->va + (run->size - 1);

		v->lost += run->state >= PAGE_LOST && run->state != PAGE_BAD;
		if (to < first || from > last)
			continue;
		r = map_large_deal_out(v, &at, run, from > first ? from : first,
				       to < last ? to : last, err);
		if (r < 0)
			break;
	}
	page_cursor_close(pages);
	r = r == ATW_END ? ATW_OK : r;
	for (; at < v->n && r == ATW_OK; at++) {
		large_end(&v->scan);
		r = map_large_put(v, &v->area[at], err);
		if (at + 1 < v->n)
			large_begin(&v->scan, v->area[at + 1].start, v->area[at + 1].end,
				    &v->area[at + 1].may, v->block);
	}
	/* Where areas are chosen, nothing else is. */
	if (whole && !v->c->filter)
		large_sum_add(&v->sum, &v->outside);
	return r;
}

/* ---- all of it ---- */

/* Is it the running machine, with a TLB that can be looked up? */
static bool map_large_is_running(const struct session *src)
{
	return target_has(src->target, TARGET_HERE);
}

void map_large_notes(const struct common *c, const struct session *src, struct atw_output *out)
{
	struct map_large_view v = {.c = c, .src = src, .out = out};
	struct atw_output_opts oo;
	struct large_units by;
	struct atw_err err = { 0 };
	int r;

	output_opts(c, src, &oo);
	by = (struct large_units){ oo.units, src->subject.space.paging.page_shift };
	if (c->quiet || c->filter || c->format != FORMAT_PLAIN ||
	    !src->subject.pid || !target_has(src->target, TARGET_ELIGIBLE))
		return;
	r = map_large_open_view(&v, &err) ?: map_large_read_areas(&v, NULL, 0, &err);
	if (r == ATW_OK)
		r = map_large_read_pages(&v, true, &err);
	if (r == ATW_OK) {
		large_note(&v.sum, &by, v.block, map_large_is_running(src), out);
		if (v.is_guest)
			large_guest_note(&v.guest_sum, &by, v.guest.block, out);
	} else {
		atw_output_note(out, "large pages: %s", err.text);
	}
	map_large_close_view(&v);
}

static int map_large_parse_ranges(const struct session *src, int argc, char **argv,
				  struct address **ret, struct atw_err *err)
{
	int r = ATW_OK;

	*ret = calloc((size_t)argc, sizeof(**ret));
	if (!*ret)
		return atw_err_nomem(err);
	for (int i = 1; i < argc && r == ATW_OK; i++)
		r = parse_owned(src, argv[i], *ret + i - 1, err);
	return r;
}

int map_large(const struct common *c, const struct session *src, int argc, char **argv)
{
	struct map_large_view v = {.c = c, .src = src, .rows = true};
	_auto_free struct address *range = NULL;
	struct atw_output_opts oo;
	struct large_units by;
	struct atw_err err = { 0 };
	char mapped[24];
	int status, r;

	if (!src->subject.pid)
		return usage_error("map", "--large requires --pid or --task");
	output_opts(c, src, &oo);
	oo.page_shift = src->subject.space.paging.page_shift;
	by = (struct large_units){ oo.units, oo.page_shift };
	r = map_large_parse_ranges(src, argc, argv, &range, &err);
	if (r == ATW_OK) {
		r = map_large_open_view(&v, &err);
		if (r < 0)
			atw_err_wrap(&err, "%s", src->name);
	}
	if (r == ATW_OK)
		r = atw_output_open(&oo, &schema, &v.out, &err);
	if (r == ATW_OK) {
		r = map_large_read_areas(&v, range, (size_t)argc - 1, &err);
		if (r < 0)
			atw_err_wrap(&err, "%s", src->name);
	}
	if (r == ATW_OK && (v.n || argc == 1))
		r = map_large_read_pages(&v, argc == 1, &err);
	status = v.lost || v.unread ? EXIT_PARTIAL : large_mapped(&v.sum) ? EXIT_COMPLETE :
		 v.sum.hidden ? EXIT_PARTIAL : EXIT_NO;
	if (r == ATW_OK) {
		atw_output_note(v.out, "%" PRIu64 " area%s, %s mapped", v.areas,
				v.areas == 1 ? "" : "s",
				large_amount(&by, large_mapped(&v.sum), mapped));
		large_note(&v.sum, &by, v.block, map_large_is_running(src), v.out);
		if (v.is_guest)
			large_guest_note(&v.guest_sum, &by, v.guest.block, v.out);
	}
	status = output_end(v.out, r, status, &err);
	if (r == ATW_OK && v.lost)
		print_incomplete("%s: cannot read %" PRIu64 " range%s", src->name, v.lost,
				 v.lost == 1 ? "" : "s");
	else if (r == ATW_OK && status == EXIT_PARTIAL && !v.unread)
		print_incomplete("%s: cannot determine whether %s is mapped", src->name,
				 large_amount(&by, v.sum.hidden, mapped));
	map_large_close_view(&v);
	return status;
}
