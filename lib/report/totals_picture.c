/* SPDX-License-Identifier: GPL-2.0-or-later */
/* totals_picture.c - two bars per program or library: Figure 6 of Movall et al. */
#include "report/picture.h"
#include "report/report.h"

enum { PARTS = 3 };
enum { NAME, STATE, PAGES };     /* pages: physical, then virtual */

struct totals_picture_unit {
	size_t name;                     /* in `names` */
	uint64_t pages[2][PARTS];        /* of physical and of virtual memory */
};

struct totals_picture_totals {
	uint64_t page, unknown;          /* unknown: units without known memory */
	struct totals_picture_unit *v;
	size_t n, cap;
	struct buf names;
};

/* The page size is the only data that the rows lack. */
static int totals_picture_feed(void *state, const struct census_event *ev,
			       struct atw_err *err)
{
	struct totals_picture_totals *t = state;

	t->page = ev->page;
	return ATW_OK;
}

static int totals_picture_on_row(void *state, const struct atw_row *row,
				 struct atw_err *err)
{
	struct totals_picture_totals *t = state;
	struct totals_picture_unit *u;

	if (!picture_has(row, NAME))
		return ATW_OK;
	if (!ARRAY_ROOM(t->v, t->n, t->cap))
		return atw_err_nomem(err);
	u = &t->v[t->n++];
	*u = (struct totals_picture_unit){.name = t->names.len};
	buf_str(&t->names, row->v[NAME].s);
	if (picture_has(row, STATE) && row->v[STATE].u)
		buf_str(&t->names, CENSUS_DELETED);
	buf_char(&t->names, '\0');
	if (t->names.failed)
		return atw_err_nomem(err);
	if (!picture_has(row, PAGES))
		t->unknown++;
	for (unsigned w = 0; w < 2; w++)
		for (unsigned k = 0; k < PARTS; k++)
			if (picture_has(row, PAGES + w * PARTS + k))
				u->pages[w][k] = row->v[PAGES + w * PARTS + k].u;
	return ATW_OK;
}

static int totals_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	static const struct chart_key key[PARTS] = {
		{ ".bss", 0xd55e00 }, { ".data", 0x009e73 }, { ".text", 0x0072b2 },
	};
	const struct totals_picture_totals *t = state;
	_auto_free struct chart_bar *bar = calloc(t->n + 1, sizeof(*bar));
	struct buf of = { 0 };
	char pages[48];
	struct chart_bars c = {
		.head = { "Memory of programs and libraries: physical and virtual", NULL,
			  "programs and libraries", AXIS_COUNT },
		.names = { "physical", "virtual" },
		.key = key, .nkeys = PARTS, .bar = bar, .n = t->n,
	};
	int rc;

	if (!bar)
		return atw_err_nomem(err);
	for (size_t i = 0; i < t->n; i++)
		bar[i] = (struct chart_bar){
			.name = t->names.data + t->v[i].name, .value = t->v[i].pages[0],
			.wide = t->v[i].pages[1],
		};
	buf_str(&of, picture_pages(t->page, pages));
	if (t->unknown)
		buf_printf(&of, "; of %zu it is not known where they lie, and none are shown",
			   (size_t)t->unknown);
	c.head.of = of.data;
	rc = of.failed ? atw_err_nomem(err) : chart_bars(&c, s, err);
	buf_deinit(&of);
	return rc;
}

static void totals_picture_deinit(void *state)
{
	struct totals_picture_totals *t = state;

	free(t->v);
	buf_deinit(&t->names);
}

const struct census_picture picture_totals = {
	.of.name = "totals",
	.of.on = CENSUS_ON(PROCESS),
	.of.state = sizeof(struct totals_picture_totals),
	.of.feed = totals_picture_feed,
	.of.deinit = totals_picture_deinit,
	.column = { "name", "state", "bss", "data", "text", "virtual_bss", "virtual_data",
		    "virtual_text" },
	.row = totals_picture_on_row,
	.draw = totals_picture_draw,
};
