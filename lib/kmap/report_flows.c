/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_flows.c - through which objects one part of the kernel reaches another: one
 * writes objects of a cache that the other reads. That is a way for data to take; which
 * data took it, counts do not say.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "kmap/report.h"

enum { F_WRITER, F_READER, F_CACHE, F_TYPE, F_WRITES, F_READS, F_COUNT };
static const struct atw_column columns[F_COUNT] = {
	[F_WRITER] = { .key = "writer", .type = ATW_T_TEXT, .width = 24,
		       .help = "code that writes: a directory, or what --level says" },
	[F_READER] = { .key = "reader", .type = ATW_T_TEXT, .width = 24,
		       .help = "other code that reads" },
	[F_CACHE] = { .key = "cache", .type = ATW_T_TEXT, .width = 20,
		      .help = "slab cache whose objects these are" },
	[F_TYPE] = { .key = "type", .type = ATW_T_TEXT, .width = 10, .help = "kind of memory" },
	[F_WRITES] = { .key = "writes", .type = ATW_T_COUNT, .width = 10,
		       .help = "by the writer, to any of them" },
	[F_READS] = { .key = "reads", .type = ATW_T_COUNT, .width = 10,
		      .help = "by the reader, of any of them" },
};
static const struct atw_schema schema = { "kmap-flows", columns, F_COUNT };

/* Of one cache: a million pairs of functions tell nobody anything. */
enum { FLOW_UNITS = 300 };

/* Of one cache after the other, who has most to do with it first. */
struct end {
	uint64_t cache, weight;
	size_t at;
};

static int compare(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->cache != y->cache)
		return x->cache < y->cache ? -1 : 1;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static struct end *sorted(const struct kmap_view *v, struct atw_err *err)
{
	struct end *e = calloc(v->pair.n + 1, sizeof(*e));

	if (!e)
		report_no_memory(err);
	for (size_t i = 0; e && i < v->pair.n; i++)
		e[i] = (struct end){ kmap_pair(v, i)->key.a,
				     kmap_sum(kmap_pair(v, i)->reads, kmap_pair(v, i)->writes), i };
	if (e)
		qsort(e, v->pair.n, sizeof(*e), compare);
	return e;
}

typedef int flow_fn(void *arg, const struct kmap_pair *writer, const struct kmap_pair *reader,
		    struct atw_err *err);

static int of_cache(const struct kmap_view *v, const struct end *e, size_t n, flow_fn *flow,
		    void *arg, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n && r == ATW_OK && kmap_pair(v, e[i].at)->writes; k++)
			if (k != i && kmap_pair(v, e[k].at)->reads)
				r = flow(arg, kmap_pair(v, e[i].at), kmap_pair(v, e[k].at), err);
	return r;
}

static int each(const struct kmap_view *v, flow_fn *flow, void *arg, struct atw_err *err)
{
	_auto_free struct end *e = sorted(v, err);
	int r = e ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0, to; r == ATW_OK && i < v->pair.n; i = to) {
		for (to = i + 1; to < v->pair.n && e[to].cache == e[i].cache; to++)
			;
		r = of_cache(v, e + i, to - i < FLOW_UNITS ? to - i : FLOW_UNITS, flow, arg, err);
	}
	return r;
}

/* Caches whose code is not all here. */
static uint64_t cut_off(const struct kmap_ask *a, const struct kmap_view *v)
{
	_auto_free uint64_t *units = calloc(a->m->cache.n + 1, sizeof(*units));
	uint64_t n = 0;

	for (size_t i = 0; units && i < v->pair.n; i++)
		n += ++units[kmap_pair(v, i)->key.a] == FLOW_UNITS + 1;
	return n;
}

struct telling {
	const struct kmap_ask *a;
	const struct kmap_view *v;
	const struct census_out *out;
};

static int tell(void *arg, const struct kmap_pair *w, const struct kmap_pair *rd,
		struct atw_err *err)
{
	const struct telling *t = arg;
	struct report_row row = { 0 };
	const struct kmap_unit *from = &t->v->units.v[w->key.b], *to = &t->v->units.v[rd->key.b];

	if (from->name)
		row_s(&row, F_WRITER, from->name);
	if (to->name)
		row_s(&row, F_READER, to->name);
	kmap_row_cache(&row, F_CACHE, kmap_cache(t->a->m, w->key.a));
	row_u(&row, F_WRITES, w->writes);
	row_u(&row, F_READS, rd->reads);
	return row_out(&row, t->out, err);
}

static int rows(const struct kmap_ask *a, const struct census_out *out, struct atw_err *err)
{
	struct kmap_view v;
	struct telling t = { a, &v, out };
	int r = kmap_view_init(&v, a, KMAP_DIRECTORY, err);

	if (r < 0)
		return r;
	r = each(&v, tell, &t, err);
	if (cut_off(a, &v))
		out->note(out->arg, "caches of which only the %d that touch them most are here: %llu",
			  FLOW_UNITS, (unsigned long long)cut_off(a, &v));
	kmap_view_note(&v, a, out);
	kmap_view_deinit(&v);
	return r;
}

/* ---- the picture: writers by readers ---- */

struct sum {
	struct kmap_key key;             /* writer, reader */
	uint64_t reads;
};

static int add(void *arg, const struct kmap_pair *w, const struct kmap_pair *rd,
	       struct atw_err *err)
{
	struct kmap_table *t = arg;
	bool fresh;
	int64_t i = kmap_table_get(t, (struct kmap_key){ w->key.b, rd->key.b, 0 }, &fresh);

	if (i < 0)
		return report_no_memory(err);
	kmap_add(&((struct sum *)t->v)[i].reads, rd->reads);
	return ATW_OK;
}

static int put(const struct kmap_ask *a, const struct kmap_view *v, const struct kmap_table *t,
	       struct scene *s, struct atw_err *err)
{
	_auto_free struct chart_spot *spot = calloc(t->n + 1, sizeof(*spot));
	_auto_free const char **name = calloc(v->units.n + 1, sizeof(*name));
	const struct sum *sum = t->v;
	char of[160];
	struct chart_heat h = {
		.head = { "Who reads (columns) what others write (rows)", kmap_of(a, cut_off(a, v) ?
			  "reads of objects of caches that the row writes, by those of each cache that do most" :
			  "reads of objects of caches that the row writes", of),
			  kmap_level_many[v->units.level], AXIS_COUNT },
		.row = name, .rows = v->units.n, .col = name, .cols = v->units.n,
		.columns = "readers", .spot = spot, .n = t->n,
	};

	if (!spot || !name)
		return report_no_memory(err);
	for (size_t i = 0; i < v->units.n; i++)
		name[i] = v->units.v[i].name ? v->units.v[i].name : "?";
	for (size_t i = 0; i < t->n; i++)
		spot[i] = (struct chart_spot){ sum[i].key.a, sum[i].key.b, sum[i].reads };
	return chart_heat(&h, s, err);
}

static int draw(const struct kmap_ask *a, struct scene *s, struct atw_err *err)
{
	struct kmap_table t;
	struct kmap_view v;
	int r = kmap_view_init(&v, a, KMAP_DIRECTORY, err);

	if (r < 0)
		return r;
	kmap_table_init(&t, sizeof(struct sum));
	r = each(&v, add, &t, err);
	if (r == ATW_OK)
		r = put(a, &v, &t, s, err);
	kmap_table_deinit(&t);
	kmap_view_deinit(&v);
	return r;
}

const struct kmap_report kmap_report_flows = {
	"flows", "Who reads what others write",
	"Code that writes objects of a cache, other code that reads objects of it, and the cache in one row.",
	&schema, KMAP_DIRECTORY, rows, draw, 0, NULL,
};
