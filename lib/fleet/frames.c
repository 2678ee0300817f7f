/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.c - RAM by use, NUMA node and zone, as report machine. All rows add up to RAM: of
 * several nodes or zones there is no row of all of them, but for what the kernel counts.
 */
#include "fleet/table.h"

enum { M_USE = FLEET_OWN, M_NODE, M_BYTES, M_COUNTER, M_ZONE, M_COUNT };

static const struct atw_column columns[M_COUNT] = {
	FLEET_COLUMNS,
	[M_USE] = COLUMN("use", TEXT, 0, "what the frames are used for"),
	[M_NODE] = COLUMN("node", COUNT, 0, "their NUMA node; n/a: not known"),
	[M_BYTES] = COLUMN("bytes", BYTES, 0, "how much"),
	[M_COUNTER] = COLUMN("counter", BYTES, 0,
			     "what /proc/meminfo counts for it; of several nodes or zones in a row of its own, where bytes, node and zone are n/a"),
	[M_ZONE] = COLUMN("zone", TEXT, 0, "their zone: DMA32, Normal, ...; n/a: not known"),
};
static const struct atw_schema schema = { "frames", columns, M_COUNT };

/* A node and a zone, as R: lines have them. */
struct fleet_place {
	bool has_node;
	uint64_t node;
	const char *zone;                /* NULL: not known */
};

struct fleet_frames {
	void *machine;                   /* state of report_machine, for which places are nodes */
	struct fleet_place *place;
	size_t nplaces, places_cap;
	struct intern zones;
	struct report_row *v;            /* those of all places come first */
	size_t n, cap;
};

static int fleet_frames_init(void *state, const struct census_report_opts *o,
			     struct atw_err *err)
{
	struct fleet_frames *s = state;

	return census_report_start(&report_machine, o, &s->machine, err);
}

/* ---- places ---- */

static bool fleet_same_place(const struct fleet_place *a, const struct fleet_place *b)
{
	return a->has_node == b->has_node && a->node == b->node && a->zone == b->zone;
}

static int fleet_frames_place(struct fleet_frames *s, const struct capture_ram *r, uint32_t has,
			      uint64_t *ret, struct atw_err *err)
{
	struct fleet_place p = { .has_node = has & CAPTURE_R_NODE };

	p.node = p.has_node ? r->node : 0;
	if (has & CAPTURE_R_ZONE && r->zone.data) {
		p.zone = report_text(&s->zones, r->zone);
		if (!p.zone)
			return atw_err_nomem(err);
	}
	for (*ret = 0; *ret < s->nplaces; ++*ret)
		if (fleet_same_place(&s->place[*ret], &p))
			return ATW_OK;
	/* So many have rows of their own; of the others, node and zone are not known. */
	if (s->nplaces == NODES - 1)
		p = (struct fleet_place){ 0 };
	if (s->nplaces == NODES) {
		*ret = NODES - 1;
		return ATW_OK;
	}
	if (!ARRAY_ROOM(s->place, s->nplaces, s->places_cap))
		return atw_err_nomem(err);
	s->place[s->nplaces++] = p;
	return ATW_OK;
}

static int fleet_frames_on_ram(struct fleet_frames *s, const struct census_event *ev,
			       struct atw_err *err)
{
	struct capture_ram ram = *ev->ram;
	struct census_event as = *ev;
	int r = fleet_frames_place(s, ev->ram, ev->ram_has, &ram.node, err);

	as.ram = &ram;
	as.ram_has = CAPTURE_R_NODE;
	return r ?: report_machine.feed(s->machine, &as, err);
}

static int fleet_frames_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_frames *s = state;

	return ev->what == CENSUS_ON_RAM ? fleet_frames_on_ram(s, ev, err)
					 : report_machine.feed(s->machine, ev, err);
}

/* ---- rows ---- */

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
	if (!ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = row;
	return ATW_OK;
}

/* false: there is nothing to say in it. */
static bool fleet_frames_name_place(const struct fleet_frames *s, struct report_row *row)
{
	const uint64_t node = (uint64_t)1 << M_NODE, bytes = (uint64_t)1 << M_BYTES;
	const bool whole = !(row->have & node);
	const struct fleet_place *p = whole ? s->place : &s->place[row->v[M_NODE].u];

	row->have &= ~node;
	if (whole && s->nplaces > 1) {
		row->have &= ~bytes;
		return row->have >> M_COUNTER & 1;
	}
	if (!s->nplaces)
		return true;
	row_if(row, p->has_node, M_NODE, p->node);
	row_s(row, M_ZONE, p->zone);
	return true;
}

static int fleet_frames_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct fleet_frames *s = state;
	int r = report_rows_of(&report_machine, s->machine, fleet_frames_row, s, err);

	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		if (fleet_frames_name_place(s, &s->v[i]))
			r = row_out(&s->v[i], out, err);
	return r;
}

static void fleet_frames_deinit(void *state)
{
	struct fleet_frames *s = state;

	census_report_drop(&report_machine, s->machine);
	free(s->place);
	intern_deinit(&s->zones);
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
