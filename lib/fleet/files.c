/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - mapped files by control group and NUMA node: pages of the file itself, no
 * private copies of them. Each page is divided by how often it is mapped, so that rows
 * add up. What the page cache holds, mapped or not, is in rows of its own, by the control
 * group that is charged for it.
 */
#include "base/hash.h"
#include "fleet/table.h"
#include "linux/kpf.h"

enum {
	I_DEVICE = FLEET_OWN, I_INODE, I_NAME, I_CGROUP, I_NODE, I_MAPPED, I_DIRTY, I_UNIT,
	I_CACHED, I_CACHED_DIRTY, I_COUNT,
};

static const struct atw_column columns[I_COUNT] = {
	FLEET_COLUMNS,
	[I_DEVICE] = COLUMN("device", TEXT, 0, "of the file: major:minor"),
	[I_INODE] = COLUMN("inode", COUNT, 0, "of it"),
	[I_NAME] = COLUMN("name", TEXT, 0, "of it"),
	[I_CGROUP] = COLUMN("cgroup", TEXT, 0,
			    "control group of the processes that map it; of the page cache: that which is charged"),
	[I_NODE] = COLUMN("node", COUNT, 0, "NUMA node of the memory"),
	[I_MAPPED] = COLUMN("mapped", BYTES, 0,
			    "memory that they map of it, each page divided by how often it is mapped"),
	[I_DIRTY] = COLUMN("dirty", BYTES, 0, "of that, pages not written to the file yet"),
	[I_UNIT] = COLUMN("unit", TEXT, 0, "the file, as in table areas"),
	[I_CACHED] = COLUMN("cached", BYTES, 0,
			    "memory of it in the page cache, mapped or not; in rows of its own, where mapped and dirty are n/a"),
	[I_CACHED_DIRTY] = COLUMN("cached_dirty", BYTES, 0,
				  "of that, pages not written to the file yet"),
};
static const struct atw_schema schema = { "files", columns, I_COUNT };

struct fleet_file {
	const struct census_unit *unit;
	const char *cgroup;              /* NULL: not known */
	uint32_t node;
	struct smaps all, dirty;
	bool flagless, incomplete;       /* flags of some pages are not known; pages are not */
};

/* Of the page cache, on one node and charged to one control group. */
struct fleet_cached {
	struct capture_pair dev;
	uint64_t inode, pages, dirty;
	const char *name;                /* NULL: not known */
	const char *cgroup;              /* NULL: none, or not known */
	uint32_t node;
};

struct fleet_files {
	struct node_ranges nodes;
	struct fleet_file *v;
	size_t n, cap;
	struct table table;              /* 1 + index, by unit, cgroup and node */
	struct intern texts;
	const char *cgroup;              /* of the process */
	struct smaps_pages pages;        /* the last ones */
	struct table units;              /* those that are mapped, by device and inode */
	uint64_t page;
	struct fleet_cached *cached;
	size_t ncached, cached_cap;
};

static bool fleet_files_has(const struct census_area *a)
{
	return a->unit && (a->class <= CENSUS_BSS || a->class == CENSUS_FILE);
}

/* NULL: no memory. */
static struct fleet_file *fleet_files_get(struct fleet_files *s, const struct census_unit *u,
					  uint32_t node)
{
	const uint64_t key = hash_two(hash_two((uintptr_t)u, (uintptr_t)s->cgroup), node);
	const struct table_slot *at = NULL;

	while ((at = table_next(&s->table, key, at))) {
		struct fleet_file *f = &s->v[at->value - 1];

		if (f->unit == u && f->cgroup == s->cgroup && f->node == node)
			return f;
	}
	if (!ARRAY_ROOM(s->v, s->n, s->cap) || !table_add(&s->table, key, s->n + 1))
		return NULL;
	s->v[s->n] = (struct fleet_file){ .unit = u, .cgroup = s->cgroup, .node = node };
	return &s->v[s->n++];
}

static int fleet_files_on_pages(struct fleet_files *s, const struct census_pages *p,
				uint64_t page, struct atw_err *err)
{
	struct smaps_pages *pages = &s->pages;
	uint64_t at = 0, n;
	uint32_t node;

	pages_smaps(p, page, pages);
	if (!fleet_files_has(p->area) || !is_resident(p) || p->anon)
		return ATW_OK;
	while ((n = node_ranges_next(&s->nodes, p, page, &at, &node))) {
		struct fleet_file *f = fleet_files_get(s, p->area->unit, node);

		if (!f)
			return atw_err_nomem(err);
		pages->bytes = n * page;
		smaps_add(&f->all, pages);
		f->incomplete |= !(p->known & CENSUS_ORIGIN);
		f->flagless |= !(p->known & CENSUS_FLAGS);
		if (p->known & CENSUS_FLAGS && p->flags & kpf(KPF_DIRTY))
			smaps_add(&f->dirty, pages);
	}
	return ATW_OK;
}

static int fleet_files_on_process(struct fleet_files *s, const struct census_process *p,
				  struct atw_err *err)
{
	s->cgroup = NULL;
	if (!(p->task_has & CAPTURE_T_CGROUP))
		return ATW_OK;
	s->cgroup = report_text(&s->texts, p->task->cgroup);
	return s->cgroup ? ATW_OK : atw_err_nomem(err);
}

/* ---- the page cache ---- */

static uint64_t fleet_files_key(uint64_t major, uint64_t minor, uint64_t inode)
{
	return hash_two(hash_two(major, minor), inode);
}

/* NULL: no process maps it. */
static const struct census_unit *fleet_files_mapped(const struct fleet_files *s,
						    const struct fleet_cached *c)
{
	const struct table_slot *at = NULL;

	while ((at = table_next(&s->units, fleet_files_key(c->dev.a, c->dev.b, c->inode), at))) {
		const struct census_unit *u = table_ptr(at->value);

		if (u->major == c->dev.a && u->minor == c->dev.b && u->inode == c->inode)
			return u;
	}
	return NULL;
}

/* Names of mapped files are those of units; they live as long as the model. */
static int fleet_files_on_area(struct fleet_files *s, const struct census_area *a,
			       struct atw_err *err)
{
	const struct census_unit *u = a->unit;

	if (!u || !u->keyed ||
	    fleet_files_mapped(s, &(struct fleet_cached){ .dev = { u->major, u->minor },
							  .inode = u->inode }))
		return ATW_OK;
	return table_add(&s->units, fleet_files_key(u->major, u->minor, u->inode), (uintptr_t)u)
		       ? ATW_OK : atw_err_nomem(err);
}

static int fleet_files_on_cached(struct fleet_files *s, const struct capture_cached *c,
				 uint32_t has, struct atw_err *err)
{
	struct fleet_cached f = {
		.dev = c->dev, .inode = c->inode, .pages = c->pages, .dirty = c->dirty,
		.node = has & CAPTURE_C_NODE && c->node < NODES ? (uint32_t)c->node : NODE_UNKNOWN,
	};

	if (c->name.data && !fleet_files_mapped(s, &f) &&
	    !(f.name = report_text(&s->texts, c->name)))
		return atw_err_nomem(err);
	if (has & CAPTURE_C_CGROUP && !(f.cgroup = report_text(&s->texts, c->cgroup)))
		return atw_err_nomem(err);
	if (!ARRAY_ROOM(s->cached, s->ncached, s->cached_cap))
		return atw_err_nomem(err);
	s->cached[s->ncached++] = f;
	return ATW_OK;
}

static int fleet_files_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_files *s = state;

	s->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_RAM:
		return node_ranges_add(&s->nodes, ev, err);
	case CENSUS_ON_PROCESS:
		return fleet_files_on_process(s, ev->process, err);
	case CENSUS_ON_AREA:
		return fleet_files_on_area(s, ev->area, err);
	case CENSUS_ON_CACHED:
		return fleet_files_on_cached(s, ev->cached, ev->cached_has, err);
	default:
		return fleet_files_on_pages(s, ev->pages, ev->page, err);
	}
}

/* ---- output ---- */

static int fleet_files_order(const void *a, const void *b)
{
	const struct fleet_file *x = a, *y = b;
	uint32_t ux = census_unit_root(x->unit)->number, uy = census_unit_root(y->unit)->number;

	return ORDER(ux, uy) ?: strcmp(x->cgroup ? x->cgroup : "", y->cgroup ? y->cgroup : "") ?:
	       ORDER(x->node, y->node);
}

/* Copies of one file are one. */
static void fleet_files_join(struct fleet_files *s)
{
	size_t n = 0;

	SORT(s->v, s->n, fleet_files_order);
	for (size_t i = 0; i < s->n; i++) {
		struct fleet_file *f = &s->v[i], *last = n ? &s->v[n - 1] : NULL;

		if (!last || fleet_files_order(last, f)) {
			s->v[n++] = *f;
			continue;
		}
		smaps_join(&last->all, &f->all);
		smaps_join(&last->dirty, &f->dirty);
		last->flagless |= f->flagless;
		last->incomplete |= f->incomplete;
	}
	s->n = n;
}

static int fleet_files_row(const struct fleet_file *f, struct buf *id,
			   const struct census_out *out, struct atw_err *err)
{
	const struct census_unit *u = census_unit_root(f->unit);
	const bool known = !f->incomplete && !f->all.uncounted;
	struct report_row row = { .have = 0 };
	char device[48];

	device_text(u, device);
	fleet_unit_id_of(id, u);
	if (id->failed)
		return atw_err_nomem(err);
	row_s(&row, I_DEVICE, u->keyed ? device : NULL);
	row_if(&row, u->keyed, I_INODE, u->inode);
	row_s(&row, I_NAME, u->name);
	row_s(&row, I_CGROUP, f->cgroup);
	row_if(&row, f->node != NODE_UNKNOWN, I_NODE, f->node);
	row_if(&row, known, I_MAPPED, smaps_pss(&f->all));
	row_if(&row, known && !f->flagless, I_DIRTY, smaps_pss(&f->dirty));
	row_s(&row, I_UNIT, id->data);
	return row_out(&row, out, err);
}

static int fleet_files_cached_row(const struct fleet_files *s, const struct fleet_cached *c,
				  struct buf *id, const struct census_out *out, struct atw_err *err)
{
	const struct census_unit *u = fleet_files_mapped(s, c);
	const struct census_unit own = {
		.major = c->dev.a, .minor = c->dev.b, .keyed = true, .inode = c->inode,
	};
	struct report_row row = { .have = 0 };
	char device[48];

	device_text(&own, device);
	fleet_unit_id_of(id, u ? u : &own);
	if (id->failed)
		return atw_err_nomem(err);
	row_s(&row, I_DEVICE, device);
	row_u(&row, I_INODE, c->inode);
	row_s(&row, I_NAME, u ? census_unit_root(u)->name : c->name);
	row_s(&row, I_CGROUP, c->cgroup);
	row_if(&row, c->node != NODE_UNKNOWN, I_NODE, c->node);
	row_s(&row, I_UNIT, id->data);
	row_u(&row, I_CACHED, c->pages * s->page);
	row_u(&row, I_CACHED_DIRTY, c->dirty * s->page);
	return row_out(&row, out, err);
}

static int fleet_files_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct fleet_files *s = state;
	struct buf id = { 0 };
	int r = ATW_OK;

	fleet_files_join(s);
	for (size_t i = 0; i < s->n && r == ATW_OK; i++)
		r = fleet_files_row(&s->v[i], &id, out, err);
	for (size_t i = 0; i < s->ncached && r == ATW_OK; i++)
		r = fleet_files_cached_row(s, &s->cached[i], &id, out, err);
	buf_deinit(&id);
	return r;
}

static void fleet_files_deinit(void *state)
{
	struct fleet_files *s = state;

	node_ranges_deinit(&s->nodes);
	free(s->v);
	table_deinit(&s->table);
	intern_deinit(&s->texts);
	table_deinit(&s->units);
	free(s->cached);
}

const struct census_report fleet_files = {
	.name = "files",
	.title = "Files",
	.help = "mapped files, and files in the page cache, by control group and NUMA node",
	.on = CENSUS_ON(RAM) | CENSUS_ON(PROCESS) | CENSUS_ON(AREA) | CENSUS_ON(PAGES) |
	      CENSUS_ON(CACHED),
	.schema = &schema,
	.state = sizeof(struct fleet_files),
	.feed = fleet_files_feed,
	.finish = fleet_files_finish,
	.deinit = fleet_files_deinit,
};
