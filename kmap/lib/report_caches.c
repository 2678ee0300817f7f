/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_caches.c - objects and accesses by slab cache. */
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
	[C_LIVE] = HIDDEN_COLUMN("live", COUNT, 8, "objects without a recorded free"),
	[C_LIVE_BYTES] = COLUMN("live_bytes", BYTES, 10,
				"of objects without a recorded free"),
	[C_READS] = COLUMN("reads", COUNT, 10, "of them"),
	[C_WRITES] = COLUMN("writes", COUNT, 10, "to them"),
	[C_SITES] = COLUMN("sites", COUNT, 5, "places that allocate them"),
	[C_READERS] = COLUMN("readers", COUNT, 7,
			     "functions that read them; at other levels, files and so on"),
	[C_WRITERS] = COLUMN("writers", COUNT, 7, "those that write them"),
	[C_MISSED] = HIDDEN_COLUMN("missed", COUNT, 6,
				   "that ended because another object overlaps them: a free was missed"),
	[C_NESTED] = HIDDEN_COLUMN("nested", COUNT, 6,
				   "that ended as memory of another allocator"),
	KMAP_ESTIMATE_COLUMNS(C_ESTIMATE),
};
static const struct atw_schema schema = { "kmap-caches", columns, C_COUNT };

struct more {
	uint64_t sites, readers, writers;
};

static struct more *caches_count(const struct kmap_query *a, const struct kmap_view *v,
				 struct atw_err *err)
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

static void caches_set_row(const struct kmap_query *a, const struct kmap_cache *c,
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

static uint64_t caches_weight(const void *of, size_t i)
{
	const struct kmap_sums *s = &kmap_cache(of, i)->s;

	return kmap_sum(s->reads, s->writes);
}

static int caches_rows(const struct kmap_query *a, const struct census_out *out,
		       struct atw_err *err)
{
	size_t n = a->m->cache.n;
	_auto_free struct chart_order *order = kmap_by_weight(n, caches_weight, a->m, err);
	_auto_free struct more *more = NULL;
	_auto_view struct kmap_view v = { 0 };
	int r = order ? kmap_view_init(&v, a, KMAP_FUNCTION, err) : ATW_E_NOMEM;

	if (r < 0)
		return r;
	more = caches_count(a, &v, err);
	r = more ? ATW_OK : ATW_E_NOMEM;
	for (size_t i = 0; r == ATW_OK && i < n; i++) {
		struct report_row row = { 0 };

		caches_set_row(a, kmap_cache(a->m, order[i].at), &more[order[i].at], &row);
		r = row_out(&row, out, err);
	}
	kmap_note_sites(a, out);
	return r;
}

static void caches_bar(const struct kmap_query *a, const void *arg, size_t i,
		       struct buf *name, uint64_t *value)
{
	const struct kmap_cache *c = kmap_cache(a->m, i);
	char word[80];

	buf_str(name, kmap_cache_word(c, word));
	value[0] = c->s.reads;
	value[1] = c->s.writes;
}

static int caches_draw(const struct kmap_query *a, struct scene *s, struct atw_err *err)
{
	return kmap_draw_bars(a, &(struct kmap_bars){
		.title = "Kernel objects: reads and writes by cache", .of = "accesses",
		.things = "caches", .key = kmap_reads_writes, .nkeys = 2, .n = a->m->cache.n,
		.bar = caches_bar,
	}, s, err);
}

const struct kmap_report kmap_report_caches = {
	.name = "caches",
	.title = "Caches: kinds of objects, the hottest first",
	.help = "A slab cache or, where there is none, a kind of memory, in one row.",
	.schema = &schema,
	.level = KMAP_FUNCTION,
	.rows = caches_rows,
	.draw = caches_draw,
};
