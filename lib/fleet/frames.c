/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.c - RAM by use and NUMA node, as report machine. All rows add up to RAM: of
 * several nodes there is no row of all of them.
 */
#include "fleet/table.h"

enum { M_USE = FLEET_OWN, M_NODE, M_BYTES, M_COUNTER, M_COUNT };

static const struct atw_column columns[M_COUNT] = {
	FLEET_COLUMNS,
	[M_USE] = COLUMN("use", TEXT, 0, "what the frames are used for"),
	[M_NODE] = COLUMN("node", COUNT, 0, "their NUMA node; n/a: not known"),
	[M_BYTES] = COLUMN("bytes", BYTES, 0, "how much"),
	[M_COUNTER] = COLUMN("counter", BYTES, 0,
			     "what /proc/meminfo counts for it; n/a of one node of several"),
};
static const struct atw_schema schema = { "frames", columns, M_COUNT };

struct fleet_frames {
	void *machine;                   /* state of report_machine */
	struct report_row *v;            /* those of all nodes come first */
	size_t n, cap;
	bool by_node;
	bool known;                      /* R: lines have a node; all the same one */
	uint64_t node;
};

static int fleet_frames_init(void *state, const struct census_report_opts *o,
			     struct atw_err *err)
{
	struct fleet_frames *s = state;

	return census_report_start(&report_machine, o, &s->machine, err);
}

static int fleet_frames_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_frames *s = state;

	if (ev->what == CENSUS_ON_RAM && ev->ram_has & CAPTURE_R_NODE) {
		s->known = true;
		s->node = ev->ram->node;
	}
	return report_machine.feed(s->machine, ev, err);
}

static int fleet_frames_row(void *arg, const struct atw_row *from, struct atw_err *err)
{
	static const struct fleet_column taken[] = {
		{ M_USE, "use", false }, { M_NODE, "node", false }, { M_BYTES, "size", false },
		{ M_COUNTER, "kernel", false }, { 0, NULL, false },
	};
	struct fleet_frames *s = arg;
	struct report_row row = { .have = 0 };

	fleet_take_row(&row, taken, report_machine.schema, from, 0);
	if (!is_frame_use(row.v[M_USE].s) || !(row.have >> M_BYTES & 1))
		return ATW_OK;
	if (row.have >> M_NODE & 1 && !s->by_node) {
		s->by_node = true;
		s->n = 0;
	}
	if (!ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = row;
	return ATW_OK;
}

static int fleet_frames_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct fleet_frames *s = state;
	int r = report_rows_of(&report_machine, s->machine, fleet_frames_row, s, err);

	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		row_if(&s->v[i], !s->by_node && s->known, M_NODE, s->node);
		r = row_out(&s->v[i], out, err);
	}
	return r;
}

static void fleet_frames_deinit(void *state)
{
	struct fleet_frames *s = state;

	census_report_drop(&report_machine, s->machine);
	free(s->v);
}

const struct census_report fleet_frames = {
	.name = "frames",
	.title = "Frames",
	.help = "what the frames of RAM are used for",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(RAM) | CENSUS_ON(SWAP) | CENSUS_ON(FRAMES) |
	      CENSUS_ON(LOST),
	.schema = &schema,
	.state = sizeof(struct fleet_frames),
	.init = fleet_frames_init,
	.feed = fleet_frames_feed,
	.finish = fleet_frames_finish,
	.deinit = fleet_frames_deinit,
};
