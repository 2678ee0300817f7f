/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_caches.c - objects and accesses by slab cache. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "kmap/lib/report.h"

enum {
	C_CACHE, C_TYPE, C_OBJECTS, C_BYTES, C_FREED, C_LIVE, C_LIVE_BYTES, C_READS, C_WRITES,
	C_SITES, C_READERS, C_WRITERS, C_MISSED, C_NESTED, C_ESTIMATE, C_ERROR, C_COUNT,
};
static const struct atw_column columns[C_COUNT] = {
	KMAP_CACHE_COLUMNS,
	[C_OBJECTS] = COLUMN("objects", COUNT, 8, "that were allocated"),
	[C_BYTES] = COLUMN("size", BYTES, 7, "of all of them"),
	[C_FREED] = COLUMN("freed", COUNT, 8, "objects with a recorded end"),
	[C_LIVE] = HIDDEN_COLUMN(COUNT, "live", 8, "objects without a recorded free"),
	[C_LIVE_BYTES] = COLUMN("live_bytes", BYTES, 10,
				"of objects without a recorded free"),
	[C_READS] = COLUMN("reads", COUNT, 10, "of them"),
	[C_WRITES] = COLUMN("writes", COUNT, 10, "to them"),
	[C_SITES] = COLUMN("sites", COUNT, 5, "places that allocate them"),
	[C_READERS] = COLUMN("readers", COUNT, 7,
			     "functions that read them; at other levels, files and so on"),
	[C_WRITERS] = COLUMN("writers", COUNT, 7, "those that write them"),
	[C_MISSED] = HIDDEN_COLUMN(COUNT, "missed", 6,
				   "that ended because another object overlaps them: a free was missed"),
	[C_NESTED] = HIDDEN_COLUMN(COUNT, "nested", 6,
				   "that ended as memory of another allocator"),
	KMAP_ESTIMATE_COLUMNS(C_ESTIMATE),
};
static const struct atw_schema schema = { "kmap-caches", columns, C_COUNT };

struct more {
	uint64_t sites, readers, writers;
};

static struct more *report_caches_count(const struct kmap_query *a,
					const struct kmap_view *v, struct atw_err *err)
{
	struct more *more = calloc(a->m->cache.n + 1, sizeof(*more));

	if (!more)
		atw_err_nomem(err);
	for (size_t i = 0; more && i < a->m->site.n; i++)
		more[kmap_site(a->m, i)->cache].sites++;
	for (size_t i = 0; more && i < v->pair.n; i++) {
		const struct kmap_pair *p = kmap_pair(v, i);

		more[p->key.a].readers += p->reads != 0;
		more[p->key.a].writers += p->writes != 0;
	}
	return more;
}

static void report_caches_set_row(const struct kmap_query *a, const struct kmap_cache *c,
				  const struct more *more, struct report_row *r)
{
	kmap_row_cache(r, C_CACHE, c);
	row_u(r, C_BYTES, c->s.bytes);
	if (!a->m->compressed) {
		row_u(r, C_OBJECTS, c->s.objects);
		row_u(r, C_FREED, c->s.freed);
		row_u(r, C_LIVE, c->s.live);
		row_u(r, C_LIVE_BYTES, c->s.live_bytes);
		row_u(r, C_MISSED, c->s.missed);
		row_u(r, C_NESTED, c->s.nested);
	}
	row_u(r, C_SITES, more->sites);
	kmap_row_estimate(r, C_ESTIMATE, a, &c->s);
	if (!kmap_accesses_known(a->m, &c->s))
		return;
	row_u(r, C_READS, c->s.reads);
	row_u(r, C_WRITES, c->s.writes);
	row_u(r, C_READERS, more->readers);
	row_u(r, C_WRITERS, more->writers);
}

static struct chart_order *report_caches_hottest(const struct kmap_query *a,
						 struct atw_err *err)
{
	struct chart_order *o = kmap_order(a->m->cache.n, err);

	for (size_t i = 0; o && i < a->m->cache.n; i++)
		o[i].weight = kmap_sum(kmap_cache(a->m, i)->s.reads, kmap_cache(a->m, i)->s.writes);
	if (o)
		kmap_sort(o, a->m->cache.n);
	return o;
}

static int report_caches_rows(const struct kmap_query *a, const struct census_out *out,
			      struct atw_err *err)
{
	_auto_free struct chart_order *order = report_caches_hottest(a, err);
	_auto_free struct more *more = NULL;
	struct kmap_view v;
	int r = order ? kmap_view_init(&v, a, KMAP_FUNCTION, err) : ATW_E_NOMEM;

	if (r < 0)
		return r;
	more = report_caches_count(a, &v, err);
	r = more ? ATW_OK : ATW_E_NOMEM;
	for (size_t i = 0; r == ATW_OK && i < a->m->cache.n; i++) {
		struct report_row row = { 0 };

		report_caches_set_row(a, kmap_cache(a->m, order[i].at),
				      &more[order[i].at], &row);
		r = row_out(&row, out, err);
	}
	kmap_view_deinit(&v);
	kmap_note_sites(a, out);
	return r;
}

static const struct chart_key uses[] = { { "reads", 0x0072b2 }, { "writes", 0xd55e00 } };

static int report_caches_draw(const struct kmap_query *a, struct scene *s,
			      struct atw_err *err)
{
	size_t n = a->m->cache.n;
	_auto_free uint64_t *value = calloc(2 * n + 1, sizeof(*value));
	_auto_free const char **name = calloc(n + 1, sizeof(*name));
	_auto_free char (*word)[80] = calloc(n + 1, sizeof(*word));

	if (!value || !name || !word)
		return atw_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct kmap_cache *c = kmap_cache(a->m, i);

		name[i] = kmap_cache_word(c, word[i]);
		value[2 * i] = c->s.reads;
		value[2 * i + 1] = c->s.writes;
	}
	return kmap_draw_bars(a, &(struct kmap_bars){
		.title = "Kernel objects: reads and writes by cache", .of = "accesses",
		.things = "caches", .key = uses, .nkeys = 2, .n = n, .name = name, .value = value,
	}, s, err);
}

const struct kmap_report kmap_report_caches = {
	"caches",
	"Caches: kinds of objects, the hottest first",
	"A slab cache or, where there is none, a kind of memory, in one row.",
	&schema,
	KMAP_FUNCTION,
	report_caches_rows,
	report_caches_draw,
	0,
	NULL,
};
