/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_sites.c - allocation sites: the hottest, and objects never read. */
#include "kmap/lib/report.h"

enum { S_IP, S_FUNCTION, S_FILE, S_CACHE, S_TYPE, S_OBJECTS, S_BYTES, S_SHARED };
#define PLACE_COLUMNS \
	[S_IP] = COLUMN("alloc_ip", VA, 0, "where it is allocated"), \
	[S_FUNCTION] = COLUMN("function", TEXT, 28, "the one that allocates"), \
	[S_FILE] = HIDDEN_COLUMN("file", TEXT, 18, "the file it is in"), \
	[S_CACHE] = COLUMN("cache", TEXT, 18, "slab cache"), \
	[S_TYPE] = COLUMN("type", TEXT, 10, "kind of memory"), \
	[S_OBJECTS] = COLUMN("objects", COUNT, 8, "that were allocated"), \
	[S_BYTES] = COLUMN("size", BYTES, 7, "of all of them")

static void sites_set_place(const struct kmap_query *a, const struct kmap_site *s,
			    struct report_row *r)
{
	kmap_row_site(r, S_IP, a, s);
	kmap_row_cache(r, S_CACHE, kmap_cache(a->m, s->cache));
	row_if(r, !a->m->compressed, S_OBJECTS, s->s.objects);
	row_u(r, S_BYTES, s->s.bytes);
}

static int sites_draw(const struct kmap_query *a, struct kmap_bars b, struct scene *s,
		      struct atw_err *err)
{
	b.n = a->m->site.n;
	b.things = "sites";
	return kmap_draw_bars(a, &b, s, err);
}

/* ---- the hottest ---- */

enum { H_FREED = S_SHARED, H_LIVE_BYTES, H_READS, H_WRITES, H_WEIGHT, H_ESTIMATE, H_ERROR, H_COUNT };
static const struct atw_column hot_columns[H_COUNT] = {
	PLACE_COLUMNS,
	[H_FREED] = COLUMN("freed", COUNT, 8, "objects with a recorded end"),
	[H_LIVE_BYTES] = COLUMN("live_bytes", BYTES, 10,
				"of objects without a recorded free"),
	[H_READS] = COLUMN("reads", COUNT, 10, "of its objects"),
	[H_WRITES] = COLUMN("writes", COUNT, 10, "to them"),
	[H_WEIGHT] = HIDDEN_COLUMN("weight", BYTES, 7,
				   "bytes it has allocated on the average, as privilege counts them"),
	KMAP_ESTIMATE_COLUMNS(H_ESTIMATE),
};
static const struct atw_schema hot_schema = { "kmap-sites", hot_columns, H_COUNT };

static uint64_t sites_heat(const void *of, size_t i)
{
	const struct kmap_sums *s = &kmap_site(of, i)->s;

	return kmap_sum(s->reads, s->writes);
}

static int sites_hot_rows(const struct kmap_query *a, const struct census_out *out,
			  struct atw_err *err)
{
	_auto_free struct chart_order *order =
		kmap_by_weight(a->m->site.n, sites_heat, a->m, err);
	int r = order ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0; r == ATW_OK && i < a->m->site.n; i++) {
		const struct kmap_site *s = kmap_site(a->m, order[i].at);
		struct report_row row = { 0 };

		sites_set_place(a, s, &row);
		if (!a->m->compressed) {
			row_u(&row, H_FREED, s->s.freed);
			row_u(&row, H_LIVE_BYTES, s->s.live_bytes);
		}
		if (kmap_accesses_known(a->m, &s->s)) {
			row_u(&row, H_READS, s->s.reads);
			row_u(&row, H_WRITES, s->s.writes);
		}
		kmap_row_estimate(&row, H_ESTIMATE, a, &s->s);
		row_u(&row, H_WEIGHT, kmap_weight(a->m, s));
		r = row_out(&row, out, err);
	}
	kmap_note_sites(a, out);
	return r;
}

static void sites_hot_bar(const struct kmap_query *a, const void *arg, size_t i,
			  struct buf *name, uint64_t *value)
{
	const struct kmap_site *s = kmap_site(a->m, i);

	kmap_site_word(a, s, name);
	value[0] = s->s.reads;
	value[1] = s->s.writes;
}

static int sites_hot_draw(const struct kmap_query *a, struct scene *s, struct atw_err *err)
{
	return sites_draw(a, (struct kmap_bars){
		.title = "Kernel objects: reads and writes by where they are allocated",
		.of = "accesses", .key = kmap_reads_writes, .nkeys = 2, .bar = sites_hot_bar,
	}, s, err);
}

const struct kmap_report kmap_report_sites = {
	.name = "sites",
	.title = "Sites: where objects are allocated, the hottest first",
	.help = "An instruction that allocates, and a cache, in one row.",
	.schema = &hot_schema,
	.level = KMAP_LEVELS,
	.rows = sites_hot_rows,
	.draw = sites_hot_draw,
};

/* ---- written, and never read ---- */

enum {
	U_UNTOUCHED = S_SHARED, U_UNTOUCHED_BYTES, U_UNREAD, U_UNREAD_BYTES, U_UNWRITTEN,
	U_UNWRITTEN_BYTES, U_WRITES, U_COUNT,
};
static const struct atw_column unread_columns[U_COUNT] = {
	PLACE_COLUMNS,
	[U_UNTOUCHED] = COLUMN("untouched", COUNT, 9,
			       "objects that were neither read nor written"),
	[U_UNTOUCHED_BYTES] = HIDDEN_COLUMN("untouched_bytes", BYTES, 9, "of these"),
	[U_UNREAD] = COLUMN("write_only", COUNT, 10, "that were written and never read"),
	[U_UNREAD_BYTES] = COLUMN("write_only_bytes", BYTES, 9, "of these"),
	[U_UNWRITTEN] = COLUMN("read_only", COUNT, 9, "that were read and never written"),
	[U_UNWRITTEN_BYTES] = HIDDEN_COLUMN("read_only_bytes", BYTES, 9, "of these"),
	[U_WRITES] = COLUMN("writes", COUNT, 10, "to all objects of the site"),
};
static const struct atw_schema unread_schema = { "kmap-unread", unread_columns, U_COUNT };

static uint64_t sites_idle(const void *of, size_t i)
{
	const struct kmap_sums *s = &kmap_site(of, i)->s;

	return kmap_sum(s->unread_bytes, s->untouched_bytes);
}

static int sites_unread_rows(const struct kmap_query *a, const struct census_out *out,
			     struct atw_err *err)
{
	_auto_free struct chart_order *order =
		kmap_by_weight(a->m->site.n, sites_idle, a->m, err);
	int r = order ? ATW_OK : ATW_E_NOMEM;

	for (size_t i = 0; r == ATW_OK && i < a->m->site.n; i++) {
		const struct kmap_site *s = kmap_site(a->m, order[i].at);
		struct report_row row = { 0 };

		if (!s->s.untouched && !s->s.unread && !s->s.unwritten)
			continue;
		sites_set_place(a, s, &row);
		if (!a->m->compressed) {
			row_u(&row, U_UNTOUCHED, s->s.untouched);
			row_u(&row, U_UNREAD, s->s.unread);
			row_u(&row, U_UNWRITTEN, s->s.unwritten);
		}
		row_u(&row, U_UNTOUCHED_BYTES, s->s.untouched_bytes);
		row_u(&row, U_UNREAD_BYTES, s->s.unread_bytes);
		row_u(&row, U_UNWRITTEN_BYTES, s->s.unwritten_bytes);
		row_u(&row, U_WRITES, s->s.writes);
		r = row_out(&row, out, err);
	}
	kmap_note_sites(a, out);
	if (a->m->s.live && !a->m->compressed)
		out->note(out->arg, "objects that were not freed when the recording ended, and may be read yet: %llu",
			  (unsigned long long)a->m->s.live);
	kmap_note_idle(a, out);
	return r;
}

static void sites_unread_bar(const struct kmap_query *a, const void *arg, size_t i,
			     struct buf *name, uint64_t *value)
{
	const struct kmap_site *s = kmap_site(a->m, i);

	kmap_site_word(a, s, name);
	value[0] = s->s.unread_bytes;
	value[1] = s->s.untouched_bytes;
	value[2] = s->s.unwritten_bytes;
}

static int sites_unread_draw(const struct kmap_query *a, struct scene *s,
			     struct atw_err *err)
{
	static const struct chart_key kinds[] = {
		{ "written, never read", 0xd55e00 }, { "neither read nor written", 0x7f8c99 },
		{ "read, never written", 0x56b4e9 },
	};

	return sites_draw(a, (struct kmap_bars){
		.title = "Kernel objects that are never read, or never written",
		.of = "bytes of objects", .unit = AXIS_BYTES, .key = kinds, .nkeys = 3,
		.bar = sites_unread_bar,
	}, s, err);
}

const struct kmap_report kmap_report_unread = {
	.name = "unread",
	.title = "Objects that are written and never read, or not used at all",
	.help = "Of each site that has such objects; most bytes first.",
	.schema = &unread_schema,
	.level = KMAP_LEVELS,
	.rows = sites_unread_rows,
	.draw = sites_unread_draw,
};
