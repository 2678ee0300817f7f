/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.c - programs and libraries: what they take in all processes, as report totals. */
#include "fleet/table.h"

enum {
	U_UNIT = FLEET_OWN, U_NAME, U_BUILD, U_DEVICE, U_INODE, U_STATE, U_USED, U_VTEXT, U_VDATA,
	U_VBSS, U_TEXT, U_DATA, U_BSS, U_COUNT,
};

static const struct atw_column columns[U_COUNT] = {
	FLEET_COLUMNS,
	[U_UNIT] = COLUMN("unit", TEXT, 0, "what table areas has: build ID, or device and inode"),
	[U_NAME] = COLUMN("name", TEXT, 0, "of the program or library"),
	[U_BUILD] = COLUMN("build", TEXT, 0, "its build ID"),
	[U_DEVICE] = COLUMN("device", TEXT, 0, "of the file: major:minor"),
	[U_INODE] = COLUMN("inode", COUNT, 0, "of it"),
	[U_STATE] = COLUMN("state", FLAGS, 0, "deleted: the file is gone, and its memory is not",
			   .names = &census_state_names),
	[U_USED] = COLUMN("used", COUNT, 0, "how many processes have it"),
	[U_VTEXT] = COLUMN("virtual_text", BYTES, 0, "size of its code, once"),
	[U_VDATA] = COLUMN("virtual_data", BYTES, 0, "of its data, in each process"),
	[U_VBSS] = COLUMN("virtual_bss", BYTES, 0, "of its .bss, in each process"),
	[U_TEXT] = COLUMN("text", BYTES, 0, "memory of its code"),
	[U_DATA] = COLUMN("data", BYTES, 0, "of its data, that of all processes"),
	[U_BSS] = COLUMN("bss", BYTES, 0, "of its .bss, that of all processes"),
};
static const struct atw_schema schema = { "units", columns, U_COUNT };

struct fleet_units {
	void *totals;                    /* state of report_totals */
	uint64_t page;
	const struct census_out *out;
	struct buf unit;
};

static int fleet_units_init(void *state, const struct census_report_opts *o,
			    struct atw_err *err)
{
	struct fleet_units *s = state;

	return census_report_start(&report_totals, o, &s->totals, err);
}

static int fleet_units_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_units *s = state;

	s->page = ev->page;
	return report_totals.feed(s->totals, ev, err);
}

static int fleet_units_row(void *arg, const struct atw_row *from, struct atw_err *err)
{
	static const struct fleet_column taken[] = {
		{ U_NAME, "name", false }, { U_BUILD, "build", false }, { U_DEVICE, "device", false },
		{ U_INODE, "inode", false }, { U_STATE, "state", false }, { U_USED, "used", false },
		{ U_VTEXT, "virtual_text", true }, { U_VDATA, "virtual_data", true },
		{ U_VBSS, "virtual_bss", true }, { U_TEXT, "text", true }, { U_DATA, "data", true },
		{ U_BSS, "bss", true }, { 0, NULL, false },
	};
	struct fleet_units *s = arg;
	struct report_row row = { .have = 0 };

	fleet_take_row(&row, taken, report_totals.schema, from, s->page);
	fleet_unit_id(&s->unit, row.have >> U_BUILD & 1 ? row.v[U_BUILD].s : NULL,
		      row.have >> U_DEVICE & 1 ? row.v[U_DEVICE].s : NULL, row.v[U_INODE].u,
		      row.v[U_NAME].s);
	if (s->unit.failed)
		return atw_err_nomem(err);
	row_s(&row, U_UNIT, s->unit.data);
	return row_out(&row, s->out, err);
}

static int fleet_units_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct fleet_units *s = state;

	s->out = out;
	return report_rows_of(&report_totals, s->totals, fleet_units_row, s, err);
}

static void fleet_units_deinit(void *state)
{
	struct fleet_units *s = state;

	census_report_drop(&report_totals, s->totals);
	buf_deinit(&s->unit);
}

const struct census_report fleet_units = {
	.name = "units",
	.title = "Programs and libraries",
	.help = "programs and libraries: what they take in all processes",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.schema = &schema,
	.state = sizeof(struct fleet_units),
	.init = fleet_units_init,
	.feed = fleet_units_feed,
	.finish = fleet_units_finish,
	.deinit = fleet_units_deinit,
};
