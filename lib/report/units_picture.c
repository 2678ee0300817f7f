/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units_picture.c - programs and libraries as a treemap by memory.
 *
 * Areas are proportional to the memory, so each frame counts once, however many processes
 * map it: the report's `resident` are offsets in a file, of which each process may have a
 * copy, and its `mappings` count shared pages once per process.
 */
#include "report/frame_set.h"
#include "report/picture.h"
#include "report/report.h"

enum { PARTS = CENSUS_BSS + 1 };

struct units_picture_unit {
	const struct census_unit *unit;  /* NULL: the number has not occurred */
	uint64_t pages[PARTS];
	size_t name;                     /* in `names` */
};

struct units_picture_units {
	uint64_t page, unknown;          /* unknown: mappings of unknown frames */
	struct units_picture_unit *v;    /* by number of the unit */
	size_t n, cap;
	struct frame_set frames;
	struct buf names;                /* of drawn units */
};

static int units_picture_on_pages(struct units_picture_units *u,
				  const struct census_pages *p, struct atw_err *err)
{
	const struct census_area *a = p->area;
	uint64_t fresh = 0;
	int rc;

	if (!a->unit || (unsigned)a->class >= PARTS || !is_resident(p))
		return ATW_OK;
	if (!(p->known & CENSUS_PA)) {
		u->unknown = chart_add(u->unknown, p->pages);
		return ATW_OK;
	}
	if (a->unit->number >= u->n) {
		size_t n = (size_t)a->unit->number + 1;

		if (!array_reserve((void **)&u->v, &u->cap, n, sizeof(*u->v)))
			return atw_err_nomem(err);
		while (u->n < n)
			u->v[u->n++] = (struct units_picture_unit){.unit = NULL};
	}
	rc = frames_add_pages(&u->frames, p, u->page, &fresh, err);
	u->v[a->unit->number].unit = a->unit;
	u->v[a->unit->number].pages[a->class] += fresh;
	return rc;
}

static int units_picture_feed(void *state, const struct census_event *ev,
			      struct atw_err *err)
{
	struct units_picture_units *u = state;

	u->page = ev->page;
	return ev->what == CENSUS_ON_PAGES ? units_picture_on_pages(u, ev->pages, err)
					   : ATW_OK;
}

static bool units_picture_is_drawn(const struct units_picture_unit *v)
{
	return v->unit && is_executable(v->unit);
}

static void units_picture_name_all(struct units_picture_units *u)
{
	for (size_t i = 0; i < u->n; i++) {
		if (!units_picture_is_drawn(&u->v[i]))
			continue;
		u->v[i].name = u->names.len;
		buf_printf(&u->names, "%s%s", u->v[i].unit->name, deleted_text(u->v[i].unit));
		buf_char(&u->names, '\0');
	}
}

/* Memory of copies of a file is added to the first of them. */
static void units_picture_join(struct units_picture_units *u)
{
	for (size_t i = 0; i < u->n; i++) {
		const struct census_unit *root = census_unit_root(u->v[i].unit);

		if (!root || root->number == i || root->number >= u->n)
			continue;
		for (unsigned k = 0; k < PARTS; k++)
			u->v[root->number].pages[k] += u->v[i].pages[k];
		u->v[root->number].unit = root;
		u->v[i].unit = NULL;
	}
}

static int units_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	static const struct chart_key key[PARTS] = {
		[CENSUS_TEXT] = { "text", 0x0072b2 }, [CENSUS_RODATA] = { "rodata", 0x56b4e9 },
		[CENSUS_RELRO] = { "relro", 0xf0e442 }, [CENSUS_DATA] = { "data", 0x009e73 },
		[CENSUS_BSS] = { "bss", 0xd55e00 },
	};
	struct units_picture_units *u = state;
	_auto_free struct chart_cell *cell = calloc(u->n * (1 + PARTS) + 1, sizeof(*cell));
	struct buf of = { 0 };
	char pages[48];
	struct chart_treemap c = {
		.head = { "Programs and libraries: the memory that each takes", NULL,
			  "programs and libraries", AXIS_COUNT },
		.cell = cell, .key = key, .nkeys = PARTS,
	};
	int rc;

	if (!cell)
		return atw_err_nomem(err);
	units_picture_join(u);
	units_picture_name_all(u);
	if (u->names.failed)
		return atw_err_nomem(err);
	for (size_t i = 0; i < u->n; i++) {
		uint32_t parent = (uint32_t)c.n;

		if (!units_picture_is_drawn(&u->v[i]))
			continue;
		cell[c.n++] = (struct chart_cell){ u->names.data + u->v[i].name, NULL, 0,
						   CHART_TOP, 0x7f8c99 };
		for (unsigned k = 0; k < PARTS; k++)
			if (u->v[i].pages[k])
				cell[c.n++] = (struct chart_cell){
					key[k].name, NULL, u->v[i].pages[k], parent,
					key[k].color,
				};
	}
	c.head.of = picture_pages(u->page, pages);
	if (u->unknown) {
		buf_printf(&of, "%s (where %" PRIu64 " others lie is not known)", c.head.of,
			   u->unknown);
		c.head.of = of.data;
	}
	rc = of.failed ? atw_err_nomem(err) : chart_treemap(&c, s, err);
	buf_deinit(&of);
	return rc;
}

static void units_picture_deinit(void *state)
{
	struct units_picture_units *u = state;

	free(u->v);
	frames_deinit(&u->frames);
	buf_deinit(&u->names);
}

const struct census_picture picture_units = {
	.of.name = "units",
	.of.on = CENSUS_ON(PROCESS) | CENSUS_ON(PAGES),
	.of.state = sizeof(struct units_picture_units),
	.of.feed = units_picture_feed,
	.of.deinit = units_picture_deinit,
	.draw = units_picture_draw,
};
