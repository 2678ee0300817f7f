/* SPDX-License-Identifier: GPL-2.0-or-later */
/* areas.c - every VMA of every process, a mark per page: Figure 4 of Movall et al. */
#include "report/page_map.h"
#include "report/report.h"
#include "report/sums.h"

enum {
	A_PID, A_TASK, A_ADDRESS, A_END, A_VSIZE, A_RESIDENT, A_SINGLE, A_SHARED, A_SWAPPED,
	A_FLAGS, A_CLASS, A_GUESS, A_NAME, A_MAP, A_COUNT,
};

static const struct atw_column columns[A_COUNT] = {
	[A_PID] = COLUMN("pid", COUNT, 7, "of the process"),
	[A_TASK] = COLUMN("task", TEXT, 15, "its name"),
	[A_ADDRESS] = COLUMN("address", VA, 0, "where the area begins"),
	[A_END] = COLUMN("end", VA, 0, "and ends"),
	[A_VSIZE] = COLUMN("vsize", PAGES, 0, "its pages"),
	[A_RESIDENT] = COLUMN("resident", PAGES, 0, "those in memory"),
	[A_SINGLE] = COLUMN("single", PAGES, 7, "those mapped once"),
	[A_SHARED] = COLUMN("shared", PAGES, 7, "and more than once"),
	[A_SWAPPED] = COLUMN("swapped", PAGES, 7, "pages on swap"),
	[A_FLAGS] = COLUMN("flags", LETTERS, 0,
			"S stack, X the program's own, r w x rights, B heap or .bss",
			.names = &census_flag_names),
	[A_CLASS] = COLUMN("class", ENUM, 0,
			"what it is for", .names = &census_class_names),
	[A_GUESS] = GUESS_COLUMN,
	[A_NAME] = COLUMN("name", TEXT, 0, "file or name; empty: none"),
	[A_MAP] = COLUMN("map", TEXT, 0,
			"its pages in order: how many, and the mark of the map",
			.hidden = true),
};
static const struct atw_schema schema = { "areas", columns, A_COUNT };

/* Limit of the length of a map in a row; the drawn map has no such limit. */
#define MAP_TEXT ((size_t)1 << 20)

struct report_areas_process {
	uint64_t pid;
	const char *name;
	struct sums sums;
	size_t areas;                    /* index of its first one */
	bool paper;
};

struct report_areas_area {
	uint64_t first, last, pages, resident, single, shared, swapped, at;
	size_t marks;                    /* offset of its first mark */
	const char *name;                /* NULL: none */
	uint8_t flags, class;
	bool guess, unknown;             /* unknown: some of its pages have no mapcount */
	bool hidden;                     /* pages without a record may be resident */
	bool incomplete;                 /* and their number is not known either */
};

struct report_areas_state {
	struct census_report_opts o;
	struct report_areas_process *process;
	size_t nprocesses, processes_cap;
	struct report_areas_area *area;
	size_t n, cap;
	struct buf marks;
	struct intern names;
};

static int areas_on_process(struct report_areas_state *s,
			    const struct census_process *p, struct atw_err *err)
{
	const char *name = report_text(&s->names, p->task->name);

	if (!name || !ARRAY_ROOM(s->process, s->nprocesses, s->processes_cap))
		return atw_err_nomem(err);
	s->process[s->nprocesses++] = (struct report_areas_process){
		.pid = p->pid, .name = name, .areas = s->n, .paper = p->paper,
	};
	return ATW_OK;
}

static int areas_on(struct report_areas_state *s, const struct census_area *a,
		    struct atw_err *err)
{
	const char *name = report_text(&s->names, a->v->name);

	if (!name || !ARRAY_ROOM(s->area, s->n, s->cap))
		return atw_err_nomem(err);
	s->area[s->n++] = (struct report_areas_area){
		.first = a->first, .at = a->first, .marks = s->marks.len,
		.name = a->v->name.data ? name : NULL,
		.flags = (uint8_t)census_flags(a), .class = a->class, .guess = a->guess,
	};
	return ATW_OK;
}

static int areas_on_pages(struct report_areas_state *s, const struct census_pages *p,
			  uint64_t page, struct atw_err *err)
{
	struct report_areas_area *a = &s->area[s->n - 1];

	sums_pages(&s->process[s->nprocesses - 1].sums, p, s->o.virtual);
	map_keep_pages(&s->marks, &a->at, p, page);
	a->swapped += p->swapped ? p->pages : 0;
	if (is_resident(p)) {
		a->resident += p->pages;
		if (!(p->known & CENSUS_REFS))
			a->unknown = true;
		else if (p->refs == 1)
			a->single += p->pages;
		else if (p->refs)
			a->shared += p->pages;
	}
	return s->marks.failed ? atw_err_nomem(err) : ATW_OK;
}

static int areas_on_area_end(struct report_areas_state *s, const struct census_area *v,
			     uint64_t page, struct atw_err *err)
{
	struct sums *sums = &s->process[s->nprocesses - 1].sums;
	struct report_areas_area *a = &s->area[s->n - 1];

	a->last = v->last;
	a->pages = area_pages(v, page);
	/* `at` is 0 if the VMA ends at the last address. */
	if (a->at && a->at <= a->last)
		map_keep(&s->marks, MAP_ABSENT, (a->last - a->at) / page + 1);
	else if (!a->at && !a->first && s->marks.len == a->marks)
		map_keep(&s->marks, MAP_ABSENT, a->pages);
	a->resident += v->rest.user;
	a->single += v->rest.single;
	a->shared += v->rest.shared;
	a->unknown |= v->rest.single + v->rest.shared < v->rest.user;
	a->hidden = v->incomplete;
	a->incomplete = v->incomplete && !v->rest.user;
	if (s->o.virtual)
		sums_area(sums, v, a->pages);
	if (!sums_rest(sums, v, s->o.virtual) && v->incomplete && !s->o.virtual)
		sums_untold(sums, v);
	return s->marks.failed ? atw_err_nomem(err) : ATW_OK;
}

static void areas_on_process_end(struct report_areas_state *s,
				 const struct census_process *p)
{
	if (p->incomplete)
		sums_untold(&s->process[s->nprocesses - 1].sums, NULL);
}

static int areas_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	switch (ev->what) {
	case CENSUS_ON_PROCESS:
		return areas_on_process(state, ev->process, err);
	case CENSUS_ON_AREA:
		return areas_on(state, ev->area, err);
	case CENSUS_ON_AREA_END:
		return areas_on_area_end(state, ev->area, ev->page, err);
	case CENSUS_ON_PROCESS_END:
		areas_on_process_end(state, ev->process);
		return ATW_OK;
	default:
		return areas_on_pages(state, ev->pages, ev->page, err);
	}
}

/* ---- output ---- */

static bool areas_next_mark(const struct report_areas_state *s,
			    const struct report_areas_area *a, size_t *at,
			    size_t end, enum map_mark *mark, uint64_t *pages)
{
	if (!map_kept(&s->marks, at, end, mark, pages))
		return false;
	if (a->hidden && *mark == MAP_ABSENT)
		*mark = MAP_MISSING;
	return true;
}

static void areas_draw(const struct report_areas_state *s,
		       const struct report_areas_area *a, size_t end,
		       const struct census_out *out)
{
	enum map_mark mark;
	size_t at = a->marks;
	uint64_t pages;
	struct map m;

	map_begin(&m, out);
	while (areas_next_mark(s, a, &at, end, &mark, &pages))
		map_add(&m, mark, pages);
	map_end(&m);
}

/* "n/a" if it is not known. */
static const char *report_areas_number(bool known, uint64_t n, char buf[24])
{
	snprintf(buf, 24, "%" PRIu64, n);
	return known ? buf : "n/a";
}

static void areas_summary(const struct report_areas_process *p,
			  const struct census_out *out)
{
	const uint64_t *n = p->sums.n;
	char text[SUMS][24];
	const char *v[SUMS];
	void *arg = out->arg;

	for (unsigned i = 0; i < SUMS; i++)
		v[i] = report_areas_number(!(p->sums.incomplete >> i & 1), n[i], text[i]);
	out->text(arg, "Process \"%s\" has %s rw and %s rx pages, (%s pages total)\n", p->name,
		  v[SUM_RW], v[SUM_RX], v[SUM_TOTAL]);
	out->text(arg, "\tFor [%s]: %s stack, %s data, %s .text, %s heap\n", p->name,
		  v[SUM_STACK], v[SUM_DATA], v[SUM_TEXT], v[SUM_HEAP]);
	out->text(arg, "\tFor libraries: %s .bss, %s .data, %s .text\n", v[SUM_LIB_BSS],
		  v[SUM_LIB_DATA], v[SUM_LIB_TEXT]);
	if (p->sums.unknown || p->sums.incomplete >> SUM_SINGLE & 1)
		out->text(arg, "\t  how many are used only in this process is not known\n");
	else
		out->text(arg, "\t  %s are used only in this process, %s are shared\n",
			  v[SUM_SINGLE], v[SUM_MULTI]);
	if (n[SUM_OTHER])
		out->text(arg, "\tOf neither: %s\n", v[SUM_OTHER]);
}

/*
 * The LPMA layout has single and shared pages and no swap. Other states have additional
 * fields, if there are any.
 */
static void areas_paper(const struct report_areas_area *a, const struct census_out *out)
{
	bool counted = !a->unknown && !a->incomplete;
	uint64_t rest = counted ? a->resident - a->single - a->shared : a->resident;
	char flags[7], single[24], shared[24], other[40] = "", swapped[40] = "";

	if (rest && !a->incomplete)
		snprintf(other, sizeof(other), ", %s: %4" PRIu64,
			 counted ? "other" : "resident", rest);
	if (a->swapped)
		snprintf(swapped, sizeof(swapped), ", swapped: %4" PRIu64, a->swapped);
	out->text(out->arg,
		  "  vsize: %4" PRIu64
		  ", single: %4s, shared: %4s%s%s, flags: %s, 0X%08" PRIX64
		  ", 0X%08" PRIX64 ", name: %s\n",
		  a->pages, report_areas_number(counted, a->single, single),
		  report_areas_number(counted, a->shared, shared), other, swapped,
		  census_flags_text(a->flags, flags), a->first, a->last,
		  a->name ? a->name : "NULL");
}

static int areas_row(const struct report_areas_state *s,
		     const struct report_areas_process *p,
		     const struct report_areas_area *a, size_t end,
		     const struct census_out *out, struct buf *text, struct atw_err *err)
{
	struct map_text map = { .to = text, .most = MAP_TEXT };
	struct report_row row = { .have = 0 };
	enum map_mark mark;
	size_t at = a->marks;
	uint64_t pages;

	text->len = 0;
	while (text->len <= MAP_TEXT && areas_next_mark(s, a, &at, end, &mark, &pages))
		map_text_add(&map, mark, pages);
	map_text_end(&map);
	if (text->failed)
		return atw_err_nomem(err);
	row_u(&row, A_PID, p->pid);
	row_s(&row, A_TASK, p->name);
	row_u(&row, A_ADDRESS, a->first);
	row_u(&row, A_END, a->last + 1);
	row_u(&row, A_VSIZE, a->pages);
	row_if(&row, !a->incomplete, A_RESIDENT, a->resident);
	row_if(&row, !a->unknown && !a->incomplete, A_SINGLE, a->single);
	row_if(&row, !a->unknown && !a->incomplete, A_SHARED, a->shared);
	row_if(&row, !p->paper && !a->hidden, A_SWAPPED, a->swapped);
	row_u(&row, A_FLAGS, a->flags);
	row_u(&row, A_CLASS, a->class);
	row_u(&row, A_GUESS, a->guess);
	row_s(&row, A_NAME, a->name ? a->name : "");
	row_s(&row, A_MAP, text->data);
	return row_out(&row, out, err);
}

static int areas_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct report_areas_state *s = state;
	struct buf text = { 0 };
	int r = ATW_OK;

	for (size_t i = 0; i < s->nprocesses && r == ATW_OK; i++) {
		const struct report_areas_process *p = &s->process[i];
		size_t end = i + 1 < s->nprocesses ? p[1].areas : s->n;

		if (out->paper)
			out->text(out->arg, "%s:\n", p->name);
		for (size_t k = p->areas; k < end && r == ATW_OK; k++) {
			const struct report_areas_area *a = &s->area[k];
			size_t to = k + 1 < s->n ? a[1].marks : s->marks.len;

			if (out->paper)
				areas_paper(a, out);
			else
				r = areas_row(s, p, a, to, out, &text, err);
			if (out->plain)
				areas_draw(s, a, to, out);
		}
		if (out->plain && (out->paper || out->whole))
			areas_summary(p, out);
	}
	buf_deinit(&text);
	return r;
}

static void areas_deinit(void *state)
{
	struct report_areas_state *s = state;

	free(s->process);
	free(s->area);
	buf_deinit(&s->marks);
	intern_deinit(&s->names);
}

const struct census_report report_areas = {
	.name = "areas",
	.title = "Areas",
	.help = "every area of every process, and how often each of its pages is mapped",
	.on = CENSUS_ON(PROCESS) | CENSUS_ON(AREA) | CENSUS_ON(AREA_END) |
	      CENSUS_ON(PAGES) | CENSUS_ON(PROCESS_END),
	.schema = &schema,
	.paper = true,
	.virtual = VIRTUAL,
	.state = sizeof(struct report_areas_state),
	.opts = true,
	.feed = areas_feed,
	.finish = areas_finish,
	.deinit = areas_deinit,
};
