/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * totals.c - memory of each program and library over all processes: Figure 6 of Movall et
 * al. Virtual: code once, data as often as they are mapped. Physical: each page once,
 * however many processes map it.
 */
#include "report/frame_set.h"
#include "report/parts.h"
#include "report/report.h"

enum totals_kind { TEXT, DATA, BSS, KINDS };

enum {
	T_NAME, T_USED, T_VTEXT, T_VDATA, T_VBSS, T_VIRTUAL, T_TEXT, T_DATA, T_BSS, T_TOTAL,
	T_GUESS, T_STATE, T_DEVICE, T_INODE, T_BUILD, T_COUNT,
};

#define PAGES(n, k, w, h) \
	[n] = { .key = k, .type = ATW_T_PAGES, .width = w, .help = h, .sum = true }
static const struct atw_column columns[T_COUNT] = {
	[T_NAME] = COLUMN("name", TEXT, 32, "of the program or library"),
	[T_USED] = COLUMN("used", COUNT, 5, "how many processes have it"),
	PAGES(T_VTEXT, "virtual_text", 12, "pages of its code, once"),
	PAGES(T_VDATA, "virtual_data", 12, "of its data, in each process"),
	PAGES(T_VBSS, "virtual_bss", 11, "of its .bss, in each process"),
	PAGES(T_VIRTUAL, "virtual", 7, "all three"),
	PAGES(T_TEXT, "text", 7, "pages of memory: of its code"),
	PAGES(T_DATA, "data", 7, "of its data, those of all processes"),
	PAGES(T_BSS, "bss", 7, "of its .bss, those of all processes"),
	PAGES(T_TOTAL, "total", 7, "all three"),
	[T_GUESS] = GUESS_COLUMN,
	UNIT_COLUMNS(T_STATE, T_DEVICE, T_INODE),
	[T_BUILD] = COLUMN("build", TEXT, 40, "its build id", .hidden = true),
};
static const struct atw_schema schema = { "totals", columns, T_COUNT };

struct total {
	const struct census_unit *unit;  /* NULL: the number has not occurred */
	uint64_t virtual[KINDS], pages[KINDS];
	uint64_t used;
	uint32_t process;                /* 1 + the last one that was counted */
	bool guess, unknown;             /* some frames are not known */
};

struct totals_state {
	struct census_report_opts o;
	uint64_t page;
	struct parts parts;
	struct part *now;
	struct total *v;                 /* by number of the unit */
	size_t n, cap;
	struct frame_set frames;
	uint64_t area;                   /* counted pages of it */
	uint64_t refused;                /* programs and libraries that were not
					  * counted completely */
};

/* false: neither code nor data: holes between segments. */
static bool totals_kind_of(enum census_class class, enum totals_kind *ret)
{
	switch (class) {
	case CENSUS_TEXT:
	case CENSUS_RODATA:
		*ret = TEXT;
		return true;
	case CENSUS_DATA:
	case CENSUS_RELRO:
		*ret = DATA;
		return true;
	case CENSUS_BSS:
		*ret = BSS;
		return true;
	default:
		return false;
	}
}

static int totals_on_area(struct totals_state *s, const struct census_area *a,
			  uint64_t page, struct atw_err *err)
{
	struct total *t;
	enum totals_kind kind;

	s->now = NULL;
	s->area = 0;
	s->page = page;
	if (!is_unit_area(a) || !totals_kind_of(a->class, &kind))
		return ATW_OK;
	if (a->unit->number >= s->n) {
		size_t n = (size_t)a->unit->number + 1;

		if (!array_reserve((void **)&s->v, &s->cap, n, sizeof(*s->v)))
			return atw_err_nomem(err);
		while (s->n < n)
			s->v[s->n++] = (struct total){ .unit = NULL };
	}
	s->now = parts_of(&s->parts, a);
	if (!s->now)
		return atw_err_nomem(err);
	t = &s->v[a->unit->number];
	t->unit = a->unit;
	t->guess |= a->guess;
	if (t->process != a->process->number + 1)
		t->used++;
	t->process = a->process->number + 1;
	return ATW_OK;
}

static int totals_on_pages(struct totals_state *s, const struct census_pages *p,
			   uint64_t page, struct atw_err *err)
{
	struct total *t;
	uint64_t fresh = 0;
	enum totals_kind kind;
	int r;

	if (!s->now || !is_resident(p) || !totals_kind_of(p->area->class, &kind))
		return ATW_OK;
	t = &s->v[s->now->unit->number];
	if (!(p->known & CENSUS_PA))
		t->unknown = true;
	/* A sum with an unknown part is unknown. */
	if (t->unknown)
		return ATW_OK;
	if (p->pages > PART_AREA_MOST - s->area)
		r = atw_err_set(err, ATW_E_LIMIT, "the area has more than %" PRIu64 " pages in memory",
				PART_AREA_MOST);
	else
		r = frames_add_pages(&s->frames, p, page, &fresh, err);
	if (r == ATW_E_LIMIT) {
		t->unknown = true;
		s->refused++;
		atw_err_wrap(err, "totals: not counted: %s", p->area->unit->name);
	}
	s->area += r == ATW_OK ? p->pages : 0;
	t->pages[kind] += fresh;
	return r;
}

static int totals_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct totals_state *s = state;

	if (ev->what == CENSUS_ON_AREA)
		return totals_on_area(s, ev->area, ev->page, err);
	if (ev->what == CENSUS_ON_PAGES)
		return totals_on_pages(s, ev->pages, ev->page, err);
	if (s->now) {
		part_add(s->now, ev->area, ev->page);
		s->v[s->now->unit->number].unknown |= ev->area->incomplete;
	}
	return ATW_OK;
}

/* ---- output ---- */

/* Virtual sizes; those of copies are added to the first of them. */
static void totals_fold(struct totals_state *s)
{
	const struct census_unit *last = NULL;
	size_t n = parts_sort(&s->parts);
	enum totals_kind kind = TEXT;
	uint64_t end = 0;                /* end of the code of `last` so far, pages */

	for (size_t i = 0; i < n; i++) {
		const struct part *x = s->parts.v[i];
		const struct census_unit *u = census_unit_root(x->unit);
		uint64_t *to = s->v[u->number].virtual, first = x->pos / s->page;

		totals_kind_of(x->class, &kind);
		if (kind != TEXT) {
			to[kind] += x->mapped;
			continue;
		}
		/* A VMA may be split in one process only. */
		if (u != last)
			end = 0;
		last = u;
		if (first + x->pages > end) {
			to[TEXT] += first + x->pages - (first > end ? first : end);
			end = first + x->pages;
		}
	}
	for (size_t i = 0; i < s->n; i++) {
		struct total *t = &s->v[i], *to;

		if (!t->unit || census_unit_root(t->unit)->number == i)
			continue;
		to = &s->v[census_unit_root(t->unit)->number];
		for (unsigned k = 0; k < KINDS; k++)
			to->pages[k] += t->pages[k];
		to->unit = census_unit_root(t->unit);
		to->used += t->used;
		to->guess |= t->guess;
		to->unknown |= t->unknown;
		t->unit = NULL;
	}
}

static uint64_t totals_sum(const uint64_t v[KINDS])
{
	return v[TEXT] + v[DATA] + v[BSS];
}

static int totals_row(const struct total *t, const struct census_out *out,
		      struct atw_err *err)
{
	const struct census_unit *u = t->unit;
	struct report_row row = { .have = 0 };
	char device[48], build[2 * CAPTURE_BUILD + 1];

	row_s(&row, T_NAME, u->name);
	row_u(&row, T_USED, t->used);
	for (unsigned k = 0; k < KINDS; k++) {
		row_u(&row, T_VTEXT + k, t->virtual[k]);
		row_if(&row, !t->unknown, T_TEXT + k, t->pages[k]);
	}
	row_u(&row, T_VIRTUAL, totals_sum(t->virtual));
	row_if(&row, !t->unknown, T_TOTAL, totals_sum(t->pages));
	row_u(&row, T_GUESS, t->guess);
	row_unit(&row, T_STATE, T_DEVICE, T_INODE, u, device);
	if (u->build.len) {
		build_text(&u->build, build);
		row_s(&row, T_BUILD, build);
	}
	return row_out(&row, out, err);
}

/*
 * Figure 6 is a picture of these; the paper has no text of it, so the layout is Figure
 * 2's.
 */
static void totals_paper(const struct totals_state *s, const struct total *t,
			 const struct census_out *out)
{
	const uint64_t *v = s->o.virtual ? t->virtual : t->pages;

	if (t->unknown && !s->o.virtual)
		out->text(out->arg, "%s, n/a, n/a, n/a, n/a\n", t->unit->name);
	else
		out->text(out->arg,
			  "%s, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 "\n",
			  t->unit->name, v[BSS], v[DATA], v[TEXT], totals_sum(v));
}

static int totals_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct totals_state *s = state;
	int r = ATW_OK;

	totals_fold(s);
	if (out->paper)
		out->text(out->arg, "Name, .bss, .data, .text, Total\n");
	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		if (!s->v[i].unit || !is_executable(s->v[i].unit))
			continue;
		if (out->paper)
			totals_paper(s, &s->v[i], out);
		else
			r = totals_row(&s->v[i], out, err);
	}
	if (r == ATW_OK && s->refused)
		out->note(out->arg, "n/a: %" PRIu64 " program%s or librar%s with more pages than are counted",
			  s->refused, s->refused == 1 ? "" : "s", s->refused == 1 ? "y" : "ies");
	return r;
}

static void totals_deinit(void *state)
{
	struct totals_state *s = state;

	free(s->v);
	parts_deinit(&s->parts);
	frames_deinit(&s->frames);
}

const struct census_report report_totals = {
	.name = "totals",
	.title = "Memory of programs and libraries",
	.help = "what each program and library takes in all processes, virtual and "
		"physical",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.schema = &schema,
	.paper = true,
	.virtual = VIRTUAL_PAPER,
	.state = sizeof(struct totals_state),
	.opts = true,
	.feed = totals_feed,
	.finish = totals_finish,
	.deinit = totals_deinit,
};
