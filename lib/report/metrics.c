/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.c - memory as metrics of Prometheus: of the machine by use, of units of systemd
 * and containers by class. Neither PIDs nor paths are labels, so there are few of them,
 * and the sum over all labels of a metric makes sense.
 */
#include "report/groups.h"
#include "report/report.h"

enum { M_METRIC, M_UNIT, M_CLASS, M_USE, M_VALUE, M_COUNT };

static const struct atw_column columns[M_COUNT] = {
	[M_METRIC] = COLUMN("metric", TEXT, 32, "its name"),
	[M_UNIT] = COLUMN("unit", TEXT, 24, "label: unit of systemd, or container"),
	[M_CLASS] = COLUMN("class", TEXT, 8, "label: what the memory is for"),
	[M_USE] = COLUMN("use", TEXT, 11, "label: what frames of RAM are used for"),
	[M_VALUE] = COLUMN("value", COUNT, 14, "bytes, or a number"),
};
static const struct atw_schema schema = { "metrics", columns, M_COUNT };

enum { NAME = CGROUP_UNIT, UNITS = 200 };

struct metrics {
	struct groups units, classes;    /* by unit; by "unit;class" */
	size_t unit, class;              /* of the area */
	struct smaps_pages as;           /* of the last pages */
	bool deleted;                    /* it maps a deleted file */
	struct groups gone;              /* by unit: memory of deleted files */
	uint64_t lost, lost_pid;         /* tasks; the last of them */
	uint64_t ended;                  /* tasks, while they were read */
	bool uncounted;                  /* an unknown number of tasks is lost */
	bool unsized;                    /* which pages large ones map is not known of all */
	void *machine;                   /* the state of report_machine */
};

/* ---- units ---- */

static int metrics_on_area(struct metrics *m, const struct census_area *a, struct atw_err *err)
{
	const struct census_process *p = a->process;
	const char *class = census_class_names.name[a->class];
	char unit[NAME] = "other", both[NAME + 24];
	struct page_group *u, *c;

	if (p->task_has & CAPTURE_T_CGROUP)
		cgroup_unit(p->task->cgroup.data, p->task->cgroup.len, unit);
	u = groups_get(&m->units, 0, unit);
	if (!u)
		return atw_err_nomem(err);
	u->processes += u->last != p->number + 1;
	u->last = p->number + 1;
	u->paper |= p->paper;
	m->unit = (size_t)(u - m->units.v);
	snprintf(both, sizeof(both), "%s;%s", unit, class);
	c = groups_get(&m->classes, 0, both);
	m->class = c ? (size_t)(c - m->classes.v) : 0;
	m->deleted = a->unit && a->unit->deleted;
	return c ? ATW_OK : atw_err_nomem(err);
}

static int metrics_on_pages(struct metrics *m, const struct census_pages *p, uint64_t page,
			    struct atw_err *err)
{
	pages_smaps(p, page, &m->as);
	smaps_add(&m->units.v[m->unit].sum, &m->as);
	smaps_add(&m->classes.v[m->class].sum, &m->as);
	if (m->deleted) {
		struct page_group *g = groups_get(&m->gone, 0, m->units.v[m->unit].name);

		if (!g)
			return atw_err_nomem(err);
		smaps_add(&g->sum, &m->as);
	}
	return ATW_OK;
}

/* Lines of one task follow each other. */
static void metrics_on_lost(struct metrics *m, const struct capture_lost *l)
{
	if (l->pid)
		m->lost += l->pid != m->lost_pid;
	else
		m->lost += l->denied;
	m->lost_pid = l->pid;
	m->uncounted |= !l->pid && !l->denied && blob_is(l->what, "tasks");
}

static int metrics_init(void *state, const struct census_report_opts *o, struct atw_err *err)
{
	struct metrics *m = state;

	return census_report_start(&report_machine, o, &m->machine, err);
}

static int metrics_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct metrics *m = state;

	if (ev->what == CENSUS_ON_AREA)
		return metrics_on_area(m, ev->area, err);
	if (ev->what == CENSUS_ON_PAGES)
		return metrics_on_pages(m, ev->pages, ev->page, err);
	if (ev->what == CENSUS_ON_AREA_END && ev->area->incomplete) {
		m->units.v[m->unit].incomplete = true;
		m->classes.v[m->class].incomplete = true;
	}
	if (ev->what == CENSUS_ON_LOST)
		metrics_on_lost(m, ev->lost);
	if (ev->what == CENSUS_ON_HEADER)
		m->unsized |= blob_is(ev->header->key, "unsized");
	if (ev->what == CENSUS_ON_HEADER)
		report_on_ended(ev->header, &m->ended);
	return report_machine.feed(m->machine, ev, err);
}

/* ---- output ---- */

struct metrics_out {
	const struct census_out *out;
	const char *name;                /* of the last one */
};

/* Label values of the exposition format: \, " and line ends are escaped. */
static void metrics_label(struct buf *b, const char *key, const char *value)
{
	buf_printf(b, "%s%s=\"", b->len ? "," : "", key);
	for (; *value; value++) {
		if (*value == '\n')
			buf_str(b, "\\n");
		else if (*value == '\\' || *value == '"')
			buf_printf(b, "\\%c", *value);
		else
			buf_char(b, *value);
	}
	buf_char(b, '"');
}

/* A sample: a row, or a line behind what its name means. */
static int metrics_put(struct metrics_out *o, const char *name, const char *help,
		       const struct report_row *row, struct atw_err *err)
{
	static const uint8_t labels[] = { M_UNIT, M_CLASS, M_USE };
	struct report_row with = *row;
	struct buf b = { 0 };

	if (!o->out->plain) {
		row_s(&with, M_METRIC, name);
		return row_out(&with, o->out, err);
	}
	if (!o->name || strcmp(o->name, name) != 0)
		o->out->text(o->out->arg, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
	o->name = name;
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++)
		if (row->have >> labels[i] & 1)
			metrics_label(&b, columns[labels[i]].key, row->v[labels[i]].s);
	if (!b.failed)
		o->out->text(o->out->arg, b.len ? "%s{%s} %" PRIu64 "\n" : "%s%s %" PRIu64 "\n", name,
			     b.len ? b.data : "", row->v[M_VALUE].u);
	buf_deinit(&b);
	return ATW_OK;
}

/* Rows of report_machine about frames: of all nodes together, so that they add up. */

static int metrics_machine_row(void *arg, const struct atw_row *from, struct atw_err *err)
{
	enum { USE, NODE, PAGES, SIZE };         /* its first columns */
	struct report_row row = { .have = 0 };

	if (!is_frame_use(from->v[USE].s) || from->have >> NODE & 1 || !(from->have >> SIZE & 1))
		return ATW_OK;
	row_s(&row, M_USE, from->v[USE].s);
	row_u(&row, M_VALUE, from->v[SIZE].u);
	return metrics_put(arg, "atwalk_machine_memory_bytes", "Frames of RAM by use.", &row, err);
}

static int metrics_by_share(const void *a, const void *b)
{
	const struct page_group *x = a, *y = b;

	return ORDER(smaps_pss(&y->sum), smaps_pss(&x->sum)) ?: strcmp(x->name, y->name);
}

/* Units behind the largest ones become `other`; false: no memory. */
static bool metrics_limit(struct groups *g, size_t most)
{
	struct page_group *other;

	SORT(g->v, g->n, metrics_by_share);
	if (g->n <= most)
		return true;
	/* The table of names is not used from here on. */
	other = &g->v[most - 1];
	for (size_t i = 0; i < most; i++)
		if (!strcmp(g->v[i].name, "other"))
			other = &g->v[i];
	if (strcmp(other->name, "other") != 0) {
		char *name = strdup("other");

		if (!name)
			return false;
		free(other->name);
		other->name = name;
	}
	for (size_t i = most; i < g->n; i++) {
		smaps_join(&other->sum, &g->v[i].sum);
		other->paper |= g->v[i].paper;
		other->incomplete |= g->v[i].incomplete;
		other->processes += g->v[i].processes;
		free(g->v[i].name);
	}
	g->n = most;
	return true;
}

/* Is the unit of "unit;class" one that has a name of its own? */
static const char *metrics_shown(const struct metrics *m, const char *both, size_t len)
{
	for (size_t i = 0; i < m->units.n; i++)
		if (strlen(m->units.v[i].name) == len && !memcmp(m->units.v[i].name, both, len))
			return m->units.v[i].name;
	return "other";
}

enum metrics_of { OF_PSS, OF_USS, OF_SWAP, OF_HUGE, OF_HUGETLB, OF_PROCESSES };

static bool metrics_known(const struct page_group *g, enum metrics_of of, uint64_t *ret)
{
	const struct smaps *s = &g->sum;

	switch (of) {
	case OF_PSS:
		*ret = smaps_pss(s);
		return !s->uncounted;
	case OF_USS:
		*ret = s->uss;
		return !s->uncounted;
	case OF_SWAP:
		*ret = s->swap;
		return !g->paper;
	case OF_HUGE:
		*ret = smaps_huge(s);
		return !g->paper && smaps_knows_huge(s);
	case OF_HUGETLB:
		*ret = s->hugetlb;
		return !g->paper && smaps_knows_hugetlb(s);
	case OF_PROCESSES:
		*ret = g->processes;
		return true;
	}
	return false;
}

/*
 * A unit of which some pages could not be read has the sum of the others, beside
 * atwalk_lost_tasks. If that is 0, nothing is known.
 */
static bool metrics_value(const struct page_group *g, enum metrics_of of, uint64_t *ret)
{
	return metrics_known(g, of, ret) && (*ret || !g->incomplete);
}

static int metrics_units(const struct groups *g, struct metrics_out *o, const char *name,
			 const char *help, enum metrics_of of, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < g->n && r == ATW_OK; i++) {
		struct report_row row = { .have = 0 };
		uint64_t value;

		if (!metrics_value(&g->v[i], of, &value))
			continue;
		row_s(&row, M_UNIT, g->v[i].name);
		row_u(&row, M_VALUE, value);
		r = metrics_put(o, name, help, &row, err);
	}
	return r;
}

/* Classes of units that became `other` are added up. */
static int metrics_classes(struct metrics *m, struct metrics_out *o, struct atw_err *err)
{
	struct groups shown = { 0 };
	int r = ATW_OK;

	for (size_t i = 0; i < m->classes.n && r == ATW_OK; i++) {
		const char *both = m->classes.v[i].name, *class = strrchr(both, ';');
		const char *unit = metrics_shown(m, both, (size_t)(class - both));
		char name[NAME + 24];
		struct page_group *g;

		snprintf(name, sizeof(name), "%s%s", unit, class);
		g = groups_get(&shown, 0, name);
		if (g) {
			smaps_join(&g->sum, &m->classes.v[i].sum);
			g->incomplete |= m->classes.v[i].incomplete;
		}
		r = g ? ATW_OK : atw_err_nomem(err);
	}
	for (size_t i = 0; i < shown.n && r == ATW_OK; i++) {
		char *class = strrchr(shown.v[i].name, ';');
		struct report_row row = { .have = 0 };
		uint64_t value;

		if (!metrics_value(&shown.v[i], OF_PSS, &value) || !value)
			continue;
		*class = '\0';
		row_s(&row, M_UNIT, shown.v[i].name);
		row_s(&row, M_CLASS, class + 1);
		row_u(&row, M_VALUE, value);
		r = metrics_put(o, "atwalk_memory_pss_bytes",
				"Memory of processes, shared pages divided by how often they are mapped.",
				&row, err);
	}
	groups_deinit(&shown);
	return r;
}

static int metrics_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct metrics *m = state;
	struct metrics_out o = { .out = out };
	struct report_row row = { .have = 0 }, ended = { .have = 0 };

	if (!metrics_limit(&m->units, UNITS) || !metrics_limit(&m->gone, UNITS))
		return atw_err_nomem(err);
	row_u(&row, M_VALUE, m->lost);
	row_u(&ended, M_VALUE, m->ended);
	/* What is not known has no metric. */
	return report_rows_of(&report_machine, m->machine, metrics_machine_row, &o, err) ?:
	       metrics_classes(m, &o, err) ?:
	       metrics_units(&m->units, &o, "atwalk_memory_uss_bytes",
			     "Memory of processes that only one of them maps.", OF_USS, err) ?:
	       metrics_units(&m->units, &o, "atwalk_memory_swap_bytes",
			     "Memory of processes on swap.", OF_SWAP, err) ?:
	       (m->unsized ? ATW_OK
			   : metrics_units(&m->units, &o, "atwalk_memory_huge_bytes",
					   "Memory of processes that large pages map.", OF_HUGE,
					   err)) ?:
	       metrics_units(&m->units, &o, "atwalk_memory_hugetlb_bytes",
			     "Pages of hugetlbfs that processes map.", OF_HUGETLB, err) ?:
	       metrics_units(&m->gone, &o, "atwalk_memory_deleted_bytes",
			     "Memory of processes that maps deleted files.", OF_PSS, err) ?:
	       metrics_units(&m->units, &o, "atwalk_processes", "Address spaces.", OF_PROCESSES,
			     err) ?:
	       (m->uncounted || out->damaged ? ATW_OK
			     : metrics_put(&o, "atwalk_lost_tasks",
					   "Tasks of which something could not be read.", &row, err)) ?:
	       metrics_put(&o, "atwalk_ended_tasks",
			   "Tasks that ended while they were read: their memory is in no sum.",
			   &ended, err);
}

static void metrics_deinit(void *state)
{
	struct metrics *m = state;

	groups_deinit(&m->units);
	groups_deinit(&m->classes);
	groups_deinit(&m->gone);
	census_report_drop(&report_machine, m->machine);
}

const struct census_report report_metrics = {
	.name = "metrics",
	.title = "Metrics",
	.help = "memory of units and of the machine, for Prometheus",
	.on = CENSUS_ON(AREA) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES) | CENSUS_ON(HEADER) |
	      CENSUS_ON(RAM) | CENSUS_ON(SWAP) | CENSUS_ON(FRAMES) | CENSUS_ON(LOST),
	.schema = &schema,
	.text = true,
	.state = sizeof(struct metrics),
	.init = metrics_init,
	.feed = metrics_feed,
	.finish = metrics_finish,
	.deinit = metrics_deinit,
};
