/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_flows.c - objects through which one part of the kernel reaches another: one
 * writes objects that the other reads, and both are allocated at one place. That is a
 * possible way for data; counts do not show which data took it. A common size class is
 * no such place: kmalloc-64 has objects of all parts.
 */
#include "kmap/lib/report.h"

enum {
	F_WRITER, F_READER, F_IP, F_FUNCTION, F_FILE, F_CACHE, F_TYPE, F_WRITES, F_READS, F_COUNT,
};
static const struct atw_column columns[F_COUNT] = {
	[F_WRITER] = COLUMN("writer", TEXT, 24,
			    "code that writes: a directory, or a unit of the level"),
	[F_READER] = COLUMN("reader", TEXT, 24, "other code that reads"),
	[F_IP] = HIDDEN_COLUMN("alloc_ip", VA, 0, "where the objects are allocated"),
	[F_FUNCTION] = COLUMN("function", TEXT, 24, "the one that allocates them"),
	[F_FILE] = HIDDEN_COLUMN("file", TEXT, 18, "the file it is in"),
	[F_CACHE] = COLUMN("cache", TEXT, 20, "slab cache of these objects"),
	[F_TYPE] = COLUMN("type", TEXT, 10, "kind of memory"),
	[F_WRITES] = COLUMN("writes", COUNT, 10,
			    "by the writer, to any of the site's objects"),
	[F_READS] = COLUMN("reads", COUNT, 10,
			   "by the reader, of any of the site's objects"),
};
static const struct atw_schema schema = { "kmap-flows", columns, F_COUNT };

/* Per site: a million pairs of functions are of no use. */
enum { FLOW_UNITS = 300 };

/* What code of one unit did to objects of one site. */
struct flow_end {
	struct kmap_key key;             /* site, unit */
	uint64_t reads, writes;
};

struct flows {
	struct kmap_view view;
	struct kmap_table ends;
	uint64_t unknown;                /* sites that are none */
};

static const struct flow_end *flows_end(const struct flows *f, size_t i)
{
	return (const struct flow_end *)f->ends.v + i;
}

/*
 * Pages, and RAM without a known allocation, are one site each only because nothing is
 * known of theirs. A variable is one.
 */
static bool flows_is_site(const struct kmap_model *m, const struct kmap_site *s)
{
	const char *type = kmap_cache(m, s->cache)->type;

	return s->code != KMAP_NONE || s->name || (type && !strcmp(type, "GLOBAL"));
}

static void flows_deinit(struct flows *f)
{
	kmap_table_deinit(&f->ends);
	kmap_view_deinit(&f->view);
}

static int flows_init(struct flows *f, const struct kmap_query *a, struct atw_err *err)
{
	int r = kmap_view_init(&f->view, a, KMAP_DIRECTORY, err);

	f->unknown = 0;
	kmap_table_init(&f->ends, sizeof(struct flow_end));
	if (r < 0)
		return r;
	for (size_t i = 0; i < a->m->site.n; i++)
		f->unknown += !flows_is_site(a->m, kmap_site(a->m, i));
	for (size_t i = 0; i < a->m->edge.n; i++) {
		const struct kmap_edge *e = kmap_edge(a->m, i);
		struct flow_end *to;

		if (!flows_is_site(a->m, kmap_site(a->m, e->key.a)))
			continue;
		to = kmap_table_elem(&f->ends, (struct kmap_key){ e->key.a,
				     f->view.units.of[e->key.b], 0 }, NULL);
		if (!to) {
			flows_deinit(f);
			return atw_err_nomem(err);
		}
		kmap_add(&to->reads, e->reads);
		kmap_add(&to->writes, e->writes);
	}
	return ATW_OK;
}

/* By site, and in each the unit with the most accesses first. */
static struct kmap_sorted *flows_sorted(const struct flows *f, struct atw_err *err)
{
	struct kmap_sorted *e = calloc(f->ends.n + 1, sizeof(*e));

	if (!e)
		return atw_err_nomem(err), NULL;
	for (size_t i = 0; i < f->ends.n; i++) {
		const struct flow_end *x = flows_end(f, i);

		e[i] = (struct kmap_sorted){ { x->key.a, ~kmap_sum(x->reads, x->writes) }, i };
	}
	qsort(e, f->ends.n, sizeof(*e), kmap_by_keys);
	return e;
}

typedef int flow_fn(void *arg, const struct flow_end *writer, const struct flow_end *reader,
		    struct atw_err *err);

static int flows_of_site(const struct flows *f, const struct kmap_sorted *e, size_t n,
			 flow_fn *flow, void *arg, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && r == ATW_OK && flows_end(f, e[i].at)->writes;
		     k++)
			if (k != i && flows_end(f, e[k].at)->reads)
				r = flow(arg, flows_end(f, e[i].at),
					 flows_end(f, e[k].at), err);
	return r;
}

static int flows_each(const struct flows *f, flow_fn *flow, void *arg,
		      struct atw_err *err)
{
	_auto_free struct kmap_sorted *e = flows_sorted(f, err);
	int r = e ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0, to; r == ATW_OK && i < f->ends.n; i = to) {
		for (to = i + 1; to < f->ends.n && e[to].key[0] == e[i].key[0]; to++)
			;
		r = flows_of_site(f, e + i, to - i < FLOW_UNITS ? to - i : FLOW_UNITS,
				  flow, arg, err);
	}
	return r;
}

/* The number of sites with more units than FLOW_UNITS. */
static uint64_t flows_cut_off(const struct kmap_query *a, const struct flows *f)
{
	_auto_free uint64_t *units = calloc(a->m->site.n + 1, sizeof(*units));
	uint64_t n = 0;

	for (size_t i = 0; units && i < f->ends.n; i++)
		n += ++units[flows_end(f, i)->key.a] == FLOW_UNITS + 1;
	return n;
}

struct report_flows_emitter {
	const struct kmap_query *a;
	const struct flows *f;
	const struct census_out *out;
};

static int flows_emit(void *arg, const struct flow_end *w, const struct flow_end *rd,
		      struct atw_err *err)
{
	const struct report_flows_emitter *t = arg;
	struct report_row row = { 0 };
	const struct kmap_unit *unit = t->f->view.units.v, *from = &unit[w->key.b];
	const struct kmap_unit *to = &unit[rd->key.b];
	const struct kmap_site *site = kmap_site(t->a->m, w->key.a);

	row_s(&row, F_WRITER, from->name);
	row_s(&row, F_READER, to->name);
	kmap_row_site(&row, F_IP, t->a, site);
	kmap_row_cache(&row, F_CACHE, kmap_cache(t->a->m, site->cache));
	row_u(&row, F_WRITES, w->writes);
	row_u(&row, F_READS, rd->reads);
	return row_out(&row, t->out, err);
}

static int flows_rows(const struct kmap_query *a, const struct census_out *out,
		      struct atw_err *err)
{
	struct flows f;
	struct report_flows_emitter t = {a, &f, out};
	int r = flows_init(&f, a, err);

	if (r < 0)
		return r;
	r = flows_each(&f, flows_emit, &t, err);
	if (flows_cut_off(a, &f))
		out->note(out->arg,
			  "sites of which only the %d that touch their objects most are "
			  "here: %llu",
			  FLOW_UNITS, (unsigned long long)flows_cut_off(a, &f));
	if (f.unknown)
		out->note(out->arg, "kinds of memory without a known allocation site, not listed: %llu",
			  (unsigned long long)f.unknown);
	kmap_view_note(&f.view, a, out);
	flows_deinit(&f);
	return r;
}

/* ---- the picture: writers by readers ---- */

struct report_flows_sum {
	struct kmap_key key;             /* writer, reader */
	uint64_t reads;
};

static int flows_add(void *arg, const struct flow_end *w, const struct flow_end *rd,
		     struct atw_err *err)
{
	struct report_flows_sum *sum =
		kmap_table_elem(arg, (struct kmap_key){ w->key.b, rd->key.b, 0 }, NULL);

	if (!sum)
		return atw_err_nomem(err);
	kmap_add(&sum->reads, rd->reads);
	return ATW_OK;
}

static int flows_put(const struct kmap_query *a, const struct flows *f,
		     const struct kmap_table *t, struct scene *s, struct atw_err *err)
{
	const struct kmap_view *v = &f->view;
	_auto_free struct chart_spot *spot = calloc(t->n + 1, sizeof(*spot));
	_auto_free const char **name = kmap_unit_words(&v->units, err);
	const struct report_flows_sum *sum = t->v;
	char of[160];
	struct chart_heat h = {
		.head = {"Reads (columns) of objects that others write (rows)",
			 kmap_of(a,
				 flows_cut_off(a, f)
					 ? "reads of objects of sites that the row "
					   "writes, by those of each site that do most"
					 : "reads of objects of sites that the row "
					   "writes",
				 of),
			 kmap_level_many[v->units.level], AXIS_COUNT},
		.row = name, .rows = v->units.n, .col = name, .cols = v->units.n,
		.columns = "readers",
		.spot = spot, .n = t->n,
	};

	if (!spot || !name)
		return atw_err_nomem(err);
	for (size_t i = 0; i < t->n; i++)
		spot[i] = (struct chart_spot){ sum[i].key.a, sum[i].key.b, sum[i].reads };
	return chart_heat(&h, s, err);
}

static int flows_draw(const struct kmap_query *a, struct scene *s, struct atw_err *err)
{
	struct kmap_table t;
	struct flows f;
	int r = flows_init(&f, a, err);

	if (r < 0)
		return r;
	kmap_table_init(&t, sizeof(struct report_flows_sum));
	r = flows_each(&f, flows_add, &t, err) ?: flows_put(a, &f, &t, s, err);
	kmap_table_deinit(&t);
	flows_deinit(&f);
	return r;
}

const struct kmap_report kmap_report_flows = {
	.name = "flows",
	.title = "Objects that one part of the kernel writes and another reads",
	.help = "Code that writes objects of a site, other code that reads objects of "
		"it, and the site in one row.",
	.schema = &schema,
	.level = KMAP_DIRECTORY,
	.rows = flows_rows,
	.draw = flows_draw,
};
