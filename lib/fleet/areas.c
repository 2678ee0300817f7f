/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * areas.c - every memory area, a row for each NUMA node that has some of it. What is on
 * swap is on no node, and stands in the area's first row.
 */
#include "fleet/table.h"

enum {
	A_PID = FLEET_OWN, A_ADDRESS, A_END, A_CLASS, A_GUESS, A_UNIT, A_RIGHTS, A_RESIDENT, A_PSS,
	A_USS, A_SHARED, A_SWAPPED, A_HUGE, A_NODE, A_NAME, A_HUGETLB, A_COUNT,
};

static const char *const rights[] = { "read", "write", "exec", "shared" };
static const struct atw_names right_names = { 4, rights, "rwxs" };

static const struct atw_column columns[A_COUNT] = {
	FLEET_COLUMNS,
	[A_PID] = COLUMN("pid", COUNT, 0, "of the process"),
	[A_ADDRESS] = COLUMN("address", VA, 0, "where the area begins"),
	[A_END] = COLUMN("end", VA, 0, "and ends"),
	[A_CLASS] = COLUMN("class", ENUM, 0, "what it is for", .names = &census_class_names),
	[A_GUESS] = GUESS_COLUMN,
	[A_UNIT] = COLUMN("unit", TEXT, 0, "the file, as in table units; n/a: none"),
	[A_RIGHTS] = COLUMN("rights", LETTERS, 0, "r w x, s shared", .names = &right_names),
	[A_RESIDENT] = COLUMN("resident", BYTES, 0, "in memory, as smaps_rollup counts"),
	[A_PSS] = COLUMN("pss", BYTES, 0, "of these, each page divided by how often it is mapped"),
	[A_USS] = COLUMN("uss", BYTES, 0, "of these, pages that are mapped only here"),
	[A_SHARED] = COLUMN("shared", BYTES, 0, "of these, pages that are mapped elsewhere as well"),
	[A_SWAPPED] = COLUMN("swapped", BYTES, 0, "on swap"),
	[A_HUGE] = COLUMN("huge", BYTES, 0, "of resident, what large pages map"),
	[A_NODE] = COLUMN("node", COUNT, 0, "NUMA node of this part"),
	[A_NAME] = COLUMN("name", TEXT, 0, "file or name; empty: none"),
	[A_HUGETLB] = COLUMN("hugetlb", BYTES, 0, "in pages of hugetlbfs, which no other sum has"),
};
static const struct atw_schema schema = { "areas", columns, A_COUNT };

struct fleet_area_part {
	uint32_t node;
	struct smaps sum;
};

struct fleet_area {
	uint64_t pid, first, last;
	const struct census_unit *unit;
	const char *name;                /* NULL: none */
	enum census_class class;
	uint8_t rights;
	bool guess, paper, incomplete;
	struct smaps rest;               /* on no node */
	size_t part;                     /* its first one */
};

struct fleet_areas {
	struct node_ranges nodes;
	struct fleet_area *v;
	size_t n, cap;
	struct fleet_area_part *part;
	size_t nparts, parts_cap;
	struct intern names;
	struct smaps_pages pages;        /* the last ones */
	bool unsized;
};

static int fleet_areas_on_area(struct fleet_areas *s, const struct census_area *a,
			       struct atw_err *err)
{
	const char *name = report_text(&s->names, a->v->name);

	if (!name || !ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = (struct fleet_area){
		.pid = a->process->pid, .first = a->first, .unit = a->unit,
		.name = a->v->name.data ? name : NULL, .class = a->class, .guess = a->guess,
		.rights = (uint8_t)(a->read | a->write << 1 | a->exec << 2 | a->shared << 3),
		.paper = a->process->paper, .part = s->nparts,
	};
	return ATW_OK;
}

/* NULL: no memory. */
static struct smaps *fleet_areas_node(struct fleet_areas *s, uint32_t node)
{
	for (size_t i = s->v[s->n - 1].part; i < s->nparts; i++)
		if (s->part[i].node == node)
			return &s->part[i].sum;
	if (!ARRAY_ROOM(s->part, s->nparts, s->parts_cap))
		return NULL;
	s->part[s->nparts] = (struct fleet_area_part){ .node = node };
	return &s->part[s->nparts++].sum;
}

static int fleet_areas_on_pages(struct fleet_areas *s, const struct census_pages *p,
				uint64_t page, struct atw_err *err)
{
	struct smaps_pages *pages = &s->pages;
	uint64_t at = 0, n;
	uint32_t node;

	pages_smaps(p, page, pages);
	if (!is_resident(p)) {
		smaps_add(&s->v[s->n - 1].rest, pages);
		return ATW_OK;
	}
	while ((n = node_ranges_next(&s->nodes, p, page, &at, &node))) {
		struct smaps *sum = fleet_areas_node(s, node);

		if (!sum)
			return atw_err_nomem(err);
		pages->bytes = n * page;
		smaps_add(sum, pages);
	}
	return ATW_OK;
}

static void fleet_areas_on_end(struct fleet_areas *s, const struct census_area *a,
			       uint64_t page)
{
	struct fleet_area *to = &s->v[s->n - 1];
	const struct smaps_pages single = { .class = SMAPS_RSS, .mappings = 1,
					    .bytes = a->rest.single * page };
	const struct smaps_pages others = { .class = SMAPS_RSS,
					    .bytes = (a->rest.user - a->rest.single) * page };

	to->last = a->last;
	to->incomplete = a->incomplete && !a->rest.user;
	if (single.bytes)
		smaps_add(&to->rest, &single);
	if (others.bytes)
		smaps_add(&to->rest, &others);
}

static int fleet_areas_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_areas *s = state;

	switch (ev->what) {
	case CENSUS_ON_HEADER:
		s->unsized |= blob_is(ev->header->key, "unsized");
		return ATW_OK;
	case CENSUS_ON_RAM:
		return node_ranges_add(&s->nodes, ev, err);
	case CENSUS_ON_AREA:
		return fleet_areas_on_area(s, ev->area, err);
	case CENSUS_ON_PAGES:
		return fleet_areas_on_pages(s, ev->pages, ev->page, err);
	default:
		fleet_areas_on_end(s, ev->area, ev->page);
		return ATW_OK;
	}
}

static int fleet_areas_row(const struct fleet_areas *s, const struct fleet_area *a,
			   const struct smaps *sum, uint32_t node, struct buf *unit,
			   const struct census_out *out, struct atw_err *err)
{
	static const uint8_t sums[ROW_SMAPS] = { A_RESIDENT, A_PSS, A_USS, A_SWAPPED, A_HUGE,
						  A_HUGETLB };
	struct report_row row = { .have = 0 };

	row_u(&row, A_PID, a->pid);
	row_u(&row, A_ADDRESS, a->first);
	row_u(&row, A_END, a->last + 1);
	row_u(&row, A_CLASS, a->class);
	row_u(&row, A_GUESS, a->guess);
	if (a->unit) {
		fleet_unit_id_of(unit, a->unit);
		if (unit->failed)
			return atw_err_nomem(err);
		row_s(&row, A_UNIT, unit->data);
	}
	row_u(&row, A_RIGHTS, a->rights);
	row_if(&row, node != NODE_UNKNOWN, A_NODE, node);
	row_s(&row, A_NAME, a->name ? a->name : "");
	if (!a->incomplete) {
		row_smaps(&row, sums, sum, a->paper, s->unsized);
		row_if(&row, !sum->uncounted, A_SHARED, sum->shared);
	}
	return row_out(&row, out, err);
}

static int fleet_areas_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct fleet_areas *s = state;
	struct buf unit = { 0 };
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		const struct fleet_area *a = &s->v[i];
		size_t end = i + 1 < s->n ? a[1].part : s->nparts;

		if (a->part == end)
			r = fleet_areas_row(s, a, &a->rest, NODE_UNKNOWN, &unit, out, err);
		else
			smaps_join(&s->part[a->part].sum, &a->rest);
		for (size_t k = a->part; k < end && r == ATW_OK; k++)
			r = fleet_areas_row(s, a, &s->part[k].sum, s->part[k].node, &unit, out, err);
	}
	buf_deinit(&unit);
	return r;
}

static void fleet_areas_deinit(void *state)
{
	struct fleet_areas *s = state;

	node_ranges_deinit(&s->nodes);
	free(s->v);
	free(s->part);
	intern_deinit(&s->names);
}

const struct census_report fleet_areas = {
	.name = "areas",
	.title = "Areas",
	.help = "every memory area of every process, by NUMA node",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(RAM) | CENSUS_ON(AREA) | CENSUS_ON(PAGES) |
	      CENSUS_ON(AREA_END),
	.schema = &schema,
	.state = sizeof(struct fleet_areas),
	.feed = fleet_areas_feed,
	.finish = fleet_areas_finish,
	.deinit = fleet_areas_deinit,
};
