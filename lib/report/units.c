/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units.c - programs and libraries, each once: the number of processes that map each
 * page. Figure 5 of Movall et al.
 */
#include "report/parts.h"
#include "report/report.h"

enum {
	U_NAME, U_USED, U_VSIZE, U_RESIDENT, U_MAPPINGS, U_FLAGS, U_CLASS, U_GUESS, U_STATE,
	U_OFFSET, U_DEVICE, U_INODE, U_MAP, U_COUNT,
};

static const struct atw_column columns[U_COUNT] = {
	[U_NAME] = COLUMN("name", TEXT, 32, "of the program or library"),
	[U_USED] = COLUMN("used", COUNT, 5, "how often this part of it is mapped"),
	[U_VSIZE] = COLUMN("vsize", PAGES, 0, "its pages"),
	[U_RESIDENT] = COLUMN("resident", PAGES, 0,
			"those that some process has in memory"),
	[U_MAPPINGS] = COLUMN("mappings", PAGES, 0,
			"how many pages all processes have of it"),
	[U_FLAGS] = COLUMN("flags", LETTERS, 0,
			"X a program's own, r w x rights, B .bss",
			.names = &census_flag_names),
	[U_CLASS] = COLUMN("class", ENUM, 0,
			"what it is for", .names = &census_class_names),
	[U_GUESS] = GUESS_COLUMN,
	UNIT_COLUMNS(U_STATE, U_DEVICE, U_INODE),
	[U_OFFSET] = COLUMN("offset", HEX, 0,
			"where in the file the part begins", .hidden = true),
	[U_MAP] = COLUMN("map", TEXT, 0,
			"its pages in order: how many, and the mark of the map",
			.hidden = true),
};
static const struct atw_schema schema = { "units", columns, U_COUNT };

#define MAP_TEXT ((size_t)1 << 20)

struct units_report {
	struct parts parts;
	struct part *now;               /* of the VMA; NULL: of no unit */
	struct pieces pieces;
	uint64_t work;                   /* counted pages, once per mapping */
	uint64_t area;                   /* the same, of the VMA */
	uint64_t refused;                /* parts that are not counted */
	uint64_t *mappings;              /* of each part */
	size_t mappings_cap;
	struct buf text;                 /* of a row */
};

/*
 * 8 TiB of mappings: a limit, because a few lines may claim pages that would take minutes
 * to count.
 */
#define WORK_MOST ((uint64_t)1 << 31)

/* ---- counting ---- */

/* Checked before counting. */
static int units_check(struct units_report *s, uint64_t pages, struct atw_err *err)
{
	if (pages > PART_AREA_MOST - s->area)
		return atw_err_set(err, ATW_E_LIMIT, "the area has more than %" PRIu64
				   " pages in memory", PART_AREA_MOST);
	if (pages > WORK_MOST - s->work)
		return atw_err_set(err, ATW_E_LIMIT, "with it programs and libraries are mapped "
				   "more than %" PRIu64 " times, page by page", WORK_MOST);
	s->area += pages;
	s->work += pages;
	return ATW_OK;
}

/* This part is skipped, and all others are counted. */
static int units_refuse(struct units_report *s, int status, struct atw_err *err)
{
	if (status != ATW_E_LIMIT)
		return status;
	s->now->refused = true;
	s->refused++;
	return atw_err_wrap(err, "units: not counted: %s", s->now->unit->name), status;
}

static int units_on_pages(struct units_report *s, const struct census_pages *p,
			  uint64_t page, struct atw_err *err)
{
	int status;

	if (!s->now || s->now->refused || !is_resident(p))
		return ATW_OK;
	status = units_check(s, p->pages, err);
	if (status < 0)
		return units_refuse(s, status, err);
	s->mappings[s->now->number] += p->pages;
	status = pieces_count(&s->pieces, s->now->number, (p->va - p->area->first) / page, p->pages,
			      err);
	return status < 0 ? units_refuse(s, status, err) : ATW_OK;
}

static int units_on_area(struct units_report *s, const struct census_area *a,
			 struct atw_err *err)
{
	size_t old = s->parts.n;

	s->now = NULL;
	s->area = 0;
	if (!is_unit_area(a))
		return ATW_OK;
	s->now = parts_of(&s->parts, a);
	if (!s->now || !array_reserve((void **)&s->mappings, &s->mappings_cap, s->parts.n,
				      sizeof(*s->mappings)))
		return atw_err_nomem(err);
	if (s->parts.n > old)
		s->mappings[old] = 0;
	return ATW_OK;
}

static int units_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct units_report *s = state;

	if (ev->what == CENSUS_ON_AREA)
		return units_on_area(s, ev->area, err);
	if (ev->what == CENSUS_ON_PAGES)
		return units_on_pages(s, ev->pages, ev->page, err);
	if (s->now)
		part_add(s->now, ev->area, ev->page);
	return ATW_OK;
}

/* ---- output ---- */

/* Including copies of it, which are merged. */
static bool units_refused(const struct part *g)
{
	while (g && !g->refused)
		g = g->next;
	return g;
}

/* More pages may be resident than are recorded. */
static bool units_untold(const struct part *g)
{
	while (g && !g->incomplete)
		g = g->next;
	return g;
}

/* Sums of its pages. */
static int units_pages(struct units_report *s, const struct part *g,
		       const struct part_pieces *p, struct report_row *row,
		       struct atw_err *err)
{
	struct map_text map = { .to = &s->text, .most = MAP_TEXT };
	uint64_t mappings = 0;

	s->text.len = 0;
	pieces_marks(p, g->pages, units_untold(g), NULL, &map);
	map_text_end(&map);
	if (s->text.failed)
		return atw_err_nomem(err);
	for (const struct part *c = g; c; c = c->next)
		mappings += s->mappings[c->number];
	if (!units_untold(g)) {
		row_u(row, U_RESIDENT, p->resident);
		row_u(row, U_MAPPINGS, mappings);
	}
	row_s(row, U_MAP, s->text.data);
	return ATW_OK;
}

static int units_row(struct units_report *s, const struct part *g,
		     const struct part_pieces *p, const struct census_out *out,
		     struct atw_err *err)
{
	const struct census_unit *u = census_unit_root(g->unit);
	struct report_row row = { .have = 0 };
	char device[48];
	int r = units_refused(g) ? ATW_OK : units_pages(s, g, p, &row, err);

	if (r != ATW_OK)
		return r;
	row_s(&row, U_NAME, u->name);
	row_u(&row, U_USED, g->used);
	row_u(&row, U_VSIZE, g->pages);
	row_u(&row, U_FLAGS, g->flags);
	row_u(&row, U_CLASS, g->class);
	row_u(&row, U_GUESS, g->guess);
	row_unit(&row, U_STATE, U_DEVICE, U_INODE, u, device);
	row_u(&row, U_OFFSET, g->pos);
	return row_out(&row, out, err);
}

static void units_paper(const struct part *g, uint64_t resident,
			const struct census_out *out)
{
	char flags[7], n[24] = "n/a";

	if (!units_refused(g) && !units_untold(g))
		snprintf(n, sizeof(n), "%" PRIu64, resident);
	out->text(out->arg, "%s is used %" PRIu64 " times with %" PRIu64 " virtual pages  and %s"
		  " resident pages and flags %s has the following map:\n",
		  census_unit_root(g->unit)->name, g->used, g->pages, n,
		  census_flags_text(g->flags, flags));
}

static int units_answer(struct units_report *s, struct part_pieces *p,
			const struct census_out *out, struct atw_err *err)
{
	size_t n = parts_sort(&s->parts);
	int r = ATW_OK;

	for (size_t i = 0; i < n && r == ATW_OK; i++) {
		const struct part *g = s->parts.v[i];
		struct map map;

		if (!is_executable(g->unit))
			continue;
		r = pieces_gather(&s->pieces, g, p, err);
		if (r == ATW_OK && out->paper)
			units_paper(g, p->resident, out);
		else if (r == ATW_OK)
			r = units_row(s, g, p, out, err);
		if (r != ATW_OK || !out->plain)
			continue;
		map_begin(&map, out);
		if (!units_refused(g))
			pieces_marks(p, g->pages, units_untold(g), &map, NULL);
		map_end(&map);
		if (out->paper)
			out->text(out->arg, "\n");
	}
	if (r == ATW_OK && s->refused)
		out->note(out->arg, "n/a: %" PRIu64 " part%s with more pages than are counted",
			  s->refused, s->refused == 1 ? "" : "s");
	return r;
}

static int units_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct units_report *s = state;
	struct part_pieces p = { 0 };
	int r = pieces_sort(&s->pieces, s->parts.n, err) ?: units_answer(s, &p, out, err);

	free(p.v);
	return r;
}

static void units_deinit(void *state)
{
	struct units_report *s = state;

	pieces_deinit(&s->pieces);
	free(s->mappings);
	parts_deinit(&s->parts);
	buf_deinit(&s->text);
}

const struct census_report report_units = {
	.name = "units",
	.title = "Programs and libraries",
	.help = "programs and libraries, across all processes: which processes have "
		"which of their pages",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.schema = &schema,
	.paper = true,
	.state = sizeof(struct units_report),
	.feed = units_feed,
	.finish = units_finish,
	.deinit = units_deinit,
};
