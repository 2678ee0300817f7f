/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_lines.c - accesses to objects by lines of 64 bytes, the size of CPU cache lines.
 */
#include "kmap/lib/report.h"

/* Where there are none. */
#define NOTHING "this recording has no accesses by line"

enum { N_CACHE, N_TYPE, N_LINE, N_OFFSET, N_READS, N_WRITES, N_OBJECTS, N_COUNT };
static const struct atw_column columns[N_COUNT] = {
	KMAP_CACHE_COLUMNS,
	[N_LINE] = COLUMN("line", COUNT, 5, "of 64 bytes, from the object's beginning"),
	[N_OFFSET] = COLUMN("offset", HEX, 8, "its first byte"),
	[N_READS] = COLUMN("reads", COUNT, 10, "of it"),
	[N_WRITES] = COLUMN("writes", COUNT, 10, "to it"),
	[N_OBJECTS] = COLUMN("told", COUNT, 8,
			     "objects, or parts of them, with accesses to it"),
};
static const struct atw_schema schema = { "kmap-lines", columns, N_COUNT };

static int lines_rows(const struct kmap_query *a, const struct census_out *out,
		      struct atw_err *err)
{
	_auto_free struct kmap_sorted *order = calloc(a->m->line.n + 1, sizeof(*order));
	int r = ATW_OK;

	if (!order)
		return atw_err_nomem(err);
	for (size_t i = 0; i < a->m->line.n; i++) {
		const struct kmap_line *l = kmap_line(a->m, i);
		const struct kmap_sums *s = &kmap_cache(a->m, l->key.a)->s;

		/* The cache with the most accesses first. */
		order[i] = (struct kmap_sorted){
			{ ~kmap_sum(s->reads, s->writes), l->key.a, l->key.b }, i,
		};
	}
	qsort(order, a->m->line.n, sizeof(*order), kmap_by_keys);
	for (size_t i = 0; r == ATW_OK && i < a->m->line.n; i++) {
		const struct kmap_line *l = kmap_line(a->m, order[i].at);
		struct report_row row = { 0 };

		kmap_row_cache(&row, N_CACHE, kmap_cache(a->m, l->key.a));
		row_u(&row, N_LINE, l->key.b);
		row_if(&row, l->key.b <= UINT64_MAX / 64, N_OFFSET, l->key.b * 64);
		row_u(&row, N_READS, l->reads);
		row_u(&row, N_WRITES, l->writes);
		row_u(&row, N_OBJECTS, l->objects);
		r = row_out(&row, out, err);
	}
	if (!a->m->line.n)
		out->note(out->arg, NOTHING);
	return r;
}

enum { LINES = 64 };             /* 4 KiB; what follows shares a column */

static int lines_draw(const struct kmap_query *a, struct scene *s, struct atw_err *err)
{
	_auto_free struct chart_spot *spot = calloc(a->m->line.n + 1, sizeof(*spot));
	_auto_free const char **row = kmap_cache_words(a->m, err);
	char label[LINES + 1][16], of[160];
	const char *col[LINES + 1];
	size_t top = 0;
	struct chart_heat h = {
		.head = { "Which bytes of kernel objects are hot",
			  kmap_of(a, a->m->line.n ? "accesses" : NOTHING, of),
			  "caches", AXIS_COUNT },
		.row = row, .rows = a->m->cache.n, .col = col, .spot = spot, .in_order = true,
		.columns = "64 bytes each, from offset",
	};

	if (!spot || !row)
		return atw_err_nomem(err);
	for (size_t i = 0; i < a->m->line.n; i++) {
		const struct kmap_line *l = kmap_line(a->m, i);
		size_t at = l->key.b < LINES ? (size_t)l->key.b : LINES;

		top = at > top ? at : top;
		spot[h.n++] = (struct chart_spot){ l->key.a, at, kmap_sum(l->reads, l->writes) };
	}
	h.cols = top + 1;
	for (size_t k = 0; k <= top; k++) {
		snprintf(label[k], sizeof(label[k]), k == LINES ? "more" : "%zu", 64 * k);
		col[k] = label[k];
	}
	return chart_heat(&h, s, err);
}

const struct kmap_report kmap_report_lines = {
	.name = "lines",
	.title = "Which bytes of objects are hot, by lines of 64",
	.help = "A cache and a line of its objects in one row, where the recording has "
		"lines.",
	.schema = &schema,
	.level = KMAP_LEVELS,
	.rows = lines_rows,
	.draw = lines_draw,
};
