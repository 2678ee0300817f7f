/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_units.c - programs and libraries as areas: what of each is in memory. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "census/picture.h"
#include "census/report.h"

enum { PARTS = CENSUS_BSS + 1 };

struct unit {
	size_t name;                     /* in `names` */
	uint64_t resident[PARTS];
};

struct units {
	int name, class, resident;
	uint64_t page;
	struct unit *v;
	size_t n, cap;
	struct buf names;
};

static int start(const struct census_report_opts *o, void **ret, struct atw_err *err)
{
	struct units *u = calloc(1, sizeof(*u));

	(void)o;
	if (!u)
		return report_no_memory(err);
	u->name = picture_column("units", "name");
	u->class = picture_column("units", "class");
	u->resident = picture_column("units", "resident");
	*ret = u;
	return ATW_OK;
}

static int feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct units *u = state;

	(void)err;
	u->page = ev->page;
	return ATW_OK;
}

/* Rows of one unit follow each other. */
static int on_row(void *state, const struct atw_row *row, struct atw_err *err)
{
	struct units *u = state;
	const char *name;

	if (!picture_has(row, u->name) || !picture_has(row, u->class) ||
	    !picture_has(row, u->resident) || row->v[u->class].u >= PARTS)
		return ATW_OK;
	name = row->v[u->name].s;
	if (!u->n || strcmp(u->names.data + u->v[u->n - 1].name, name) != 0) {
		if (!array_reserve((void **)&u->v, &u->cap, u->n + 1, sizeof(*u->v)))
			return report_no_memory(err);
		u->v[u->n++] = (struct unit){ .name = u->names.len };
		buf_str(&u->names, name);
		buf_char(&u->names, '\0');
		if (u->names.failed)
			return report_no_memory(err);
	}
	u->v[u->n - 1].resident[row->v[u->class].u] += row->v[u->resident].u;
	return ATW_OK;
}

static int draw(void *state, struct scene *s, struct atw_err *err)
{
	static const struct chart_key key[PARTS] = {
		[CENSUS_TEXT] = { "text", 0x0072b2 }, [CENSUS_RODATA] = { "rodata", 0x56b4e9 },
		[CENSUS_RELRO] = { "relro", 0xf0e442 }, [CENSUS_DATA] = { "data", 0x009e73 },
		[CENSUS_BSS] = { "bss", 0xd55e00 },
	};
	const struct units *u = state;
	_auto_free struct chart_cell *cell = calloc(u->n * (1 + PARTS) + 1, sizeof(*cell));
	char of[48];
	struct chart_treemap c = {
		.head = { "Programs and libraries: what of each is in memory",
			  picture_pages(u->page, of), "programs and libraries", AXIS_COUNT },
		.cell = cell, .key = key, .nkeys = PARTS,
	};

	if (!cell)
		return report_no_memory(err);
	for (size_t i = 0; i < u->n; i++) {
		uint32_t parent = (uint32_t)c.n;

		cell[c.n++] = (struct chart_cell){ u->names.data + u->v[i].name, NULL, 0,
						   CHART_TOP, 0x7f8c99 };
		for (unsigned k = 0; k < PARTS; k++)
			if (u->v[i].resident[k])
				cell[c.n++] = (struct chart_cell){
					key[k].name, NULL, u->v[i].resident[k], parent,
					key[k].color,
				};
	}
	return chart_treemap(&c, s, err);
}

static void drop(void *state)
{
	struct units *u = state;

	if (u) {
		free(u->v);
		buf_deinit(&u->names);
	}
	free(u);
}

const struct census_picture picture_units = {
	.of = {
		.size = sizeof(struct census_report), .name = "units",
		.on = CENSUS_ON(PROCESS), .start = start, .feed = feed, .drop = drop,
	},
	.row = on_row, .draw = draw,
};
