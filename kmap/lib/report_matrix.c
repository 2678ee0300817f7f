/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_matrix.c - accesses by code, by cache and code, and writes by cache and code. */
#include "kmap/lib/report.h"

#define UNIT_COLUMN(what) COLUMN("code", TEXT, 28, what)

/* ---- code ---- */

enum { K_CODE, K_READS, K_WRITES, K_FREES, K_INSTRUCTIONS, K_CACHES, K_SIZE, K_COUNT };
static const struct atw_column code_columns[K_COUNT] = {
	[K_CODE] = UNIT_COLUMN("function; at other levels: instruction, file, directory, topdir"),
	[K_READS] = COLUMN("reads", COUNT, 10, "by it"),
	[K_WRITES] = COLUMN("writes", COUNT, 10, "by it"),
	[K_FREES] = COLUMN("frees", COUNT, 8, "by it"),
	[K_INSTRUCTIONS] = COLUMN("instructions", COUNT, 12,
				  "of it that read or write objects"),
	[K_CACHES] = COLUMN("caches", COUNT, 6, "with objects that it accesses"),
	[K_SIZE] = HIDDEN_COLUMN("code_size", BYTES, 9,
				 "of its functions that were seen, with symbols"),
};
static const struct atw_schema code_schema = { "kmap-code", code_columns, K_COUNT };

static uint64_t matrix_weight(const void *of, size_t i)
{
	const struct kmap_unit *u = (const struct kmap_unit *)of + i;

	return kmap_sum(u->reads, u->writes);
}

static int matrix_code_rows(const struct kmap_query *a, const struct census_out *out,
			    struct atw_err *err)
{
	_auto_free struct chart_order *order = NULL;
	_auto_free uint64_t *caches = NULL;
	_auto_view struct kmap_view v = { 0 };
	int r = kmap_view_init(&v, a, KMAP_FUNCTION, err);

	if (r < 0)
		return r;
	order = kmap_by_weight(v.units.n, matrix_weight, v.units.v, err);
	caches = calloc(v.units.n + 1, sizeof(*caches));
	if (!order || !caches)
		return atw_err_nomem(err);
	for (size_t i = 0; i < v.pair.n; i++)
		caches[kmap_pair(&v, i)->key.b]++;
	for (size_t i = 0; r == ATW_OK && i < v.units.n; i++) {
		const struct kmap_unit *u = &v.units.v[order[i].at];
		struct report_row row = { 0 };

		/* Code that only allocates, or is called, touches nothing. */
		if (!u->reads && !u->writes && !u->frees)
			continue;
		row_s(&row, K_CODE, u->name);
		row_u(&row, K_READS, u->reads);
		row_u(&row, K_WRITES, u->writes);
		row_if(&row, a->m->has_frees, K_FREES, u->frees);
		row_u(&row, K_INSTRUCTIONS, u->instructions);
		row_u(&row, K_CACHES, caches[order[i].at]);
		row_if(&row, u->size, K_SIZE, u->size);
		r = row_out(&row, out, err);
	}
	return r;
}

static void matrix_bar(const struct kmap_query *a, const void *arg, size_t i,
		       struct buf *name, uint64_t *value)
{
	const struct kmap_unit *u = (const struct kmap_unit *)arg + i;

	buf_str(name, u->name ? u->name : "?");
	value[0] = u->reads;
	value[1] = u->writes;
}

static int matrix_code_draw(const struct kmap_query *a, struct scene *s,
			    struct atw_err *err)
{
	_auto_view struct kmap_view v = { 0 };
	int r = kmap_view_init(&v, a, KMAP_FUNCTION, err);

	return r < 0 ? r : kmap_draw_bars(a, &(struct kmap_bars){
		.title = "Kernel code: reads and writes of objects", .of = "accesses",
		.things = kmap_level_many[v.units.level], .key = kmap_reads_writes, .nkeys = 2,
		.n = v.units.n, .bar = matrix_bar, .arg = v.units.v,
	}, s, err);
}

const struct kmap_report kmap_report_code = {
	.name = "code",
	.title = "Code: functions that read and write objects, the busiest first",
	.help = "A function in one row; or a unit of the level that is chosen.",
	.schema = &code_schema,
	.level = KMAP_FUNCTION,
	.rows = matrix_code_rows,
	.draw = matrix_code_draw,
};

/* ---- objects by code ---- */

/* What all rows of a cache and code begin with. */
enum { PAIR_CACHE, PAIR_TYPE, PAIR_CODE, PAIR_COLUMNS };

enum { M_READS = PAIR_COLUMNS, M_WRITES, M_FREES, M_COUNT };
static const struct atw_column matrix_columns[M_COUNT] = {
	KMAP_CACHE_COLUMNS,
	[PAIR_CODE] = UNIT_COLUMN("function; at other levels: instruction, file, directory, topdir"),
	[M_READS] = COLUMN("reads", COUNT, 10, "by it, of them"),
	[M_WRITES] = COLUMN("writes", COUNT, 10, "by it, to them"),
	[M_FREES] = COLUMN("frees", COUNT, 8, "of them, by it"),
};
static const struct atw_schema matrix_schema = { "kmap-matrix", matrix_columns, M_COUNT };

/* By cache, the hottest first, and in each by what its code does. */
static struct kmap_sorted *matrix_order_pairs(const struct kmap_query *a,
					      const struct kmap_view *v, bool writes,
					      struct atw_err *err)
{
	struct kmap_sorted *o = calloc(v->pair.n + 1, sizeof(*o));

	if (!o)
		return atw_err_nomem(err), NULL;
	for (size_t i = 0; i < v->pair.n; i++) {
		const struct kmap_pair *p = kmap_pair(v, i);
		const struct kmap_sums *s = &kmap_cache(a->m, p->key.a)->s;
		uint64_t of_cache = writes ? s->writes : kmap_sum(s->reads, s->writes);
		uint64_t of_code = writes ? p->writes : kmap_sum(p->reads, p->writes);

		o[i] = (struct kmap_sorted){ { ~of_cache, p->key.a, ~of_code }, i };
	}
	qsort(o, v->pair.n, sizeof(*o), kmap_by_keys);
	return o;
}

/* The hottest first; `writes`: of writes, and of code that writes alone. */
static int matrix_pair_rows(const struct kmap_query *a, bool writes,
			    void (*fill)(const struct kmap_query *a,
					 const struct kmap_pair *p,
					 struct report_row *row),
			    const struct census_out *out, struct atw_err *err)
{
	_auto_free struct kmap_sorted *order = NULL;
	_auto_view struct kmap_view v = { 0 };
	int r = kmap_view_init(&v, a, KMAP_FUNCTION, err);

	if (r < 0)
		return r;
	order = matrix_order_pairs(a, &v, writes, err);
	r = order ? ATW_OK : ATW_E_NOMEM;
	for (size_t i = 0; r == ATW_OK && i < v.pair.n; i++) {
		const struct kmap_pair *p = kmap_pair(&v, order[i].at);
		struct report_row row = { 0 };

		if (writes && !p->writes)
			continue;
		kmap_row_cache(&row, PAIR_CACHE, kmap_cache(a->m, p->key.a));
		row_s(&row, PAIR_CODE, v.units.v[p->key.b].name);
		fill(a, p, &row);
		r = row_out(&row, out, err);
	}
	return r;
}

static void matrix_row(const struct kmap_query *a, const struct kmap_pair *p,
		       struct report_row *row)
{
	row_u(row, M_READS, p->reads);
	row_u(row, M_WRITES, p->writes);
	row_if(row, a->m->has_frees, M_FREES, p->frees);
}

static int matrix_rows(const struct kmap_query *a, const struct census_out *out,
		       struct atw_err *err)
{
	return matrix_pair_rows(a, false, matrix_row, out, err);
}

static int matrix_draw_pairs(const struct kmap_query *a, bool writes, struct scene *s,
			     struct atw_err *err)
{
	_auto_view struct kmap_view v = { 0 };
	int r = kmap_view_init(&v, a, KMAP_FUNCTION, err);
	_auto_free struct chart_spot *spot = calloc(v.pair.n + 1, sizeof(*spot));
	_auto_free const char **row = kmap_cache_words(a->m, err);
	_auto_free const char **col = kmap_unit_words(&v.units, err);
	char of[160];
	struct chart_heat h = {
		.head = { writes ? "Kernel objects by the code that writes them"
				 : "Kernel objects by the code that touches them",
			  kmap_of(a, writes ? "writes" : "accesses", of), "caches", AXIS_COUNT },
		.row = row, .rows = a->m->cache.n, .col = col, .cols = v.units.n,
		.columns = kmap_level_many[v.units.level], .spot = spot,
	};

	if (r < 0)
		return r;
	if (!spot || !row || !col)
		return atw_err_nomem(err);
	for (size_t i = 0; i < v.pair.n; i++) {
		const struct kmap_pair *p = kmap_pair(&v, i);
		uint64_t value = writes ? p->writes : kmap_sum(p->reads, p->writes);

		if (value)
			spot[h.n++] = (struct chart_spot){ p->key.a, p->key.b, value };
	}
	return chart_heat(&h, s, err);
}

static int matrix_draw(const struct kmap_query *a, struct scene *s, struct atw_err *err)
{
	return matrix_draw_pairs(a, false, s, err);
}

const struct kmap_report kmap_report_matrix = {
	.name = "matrix",
	.title = "Objects by code: which code touches which objects",
	.help = "A cache and a function in one row; or a unit of the level that is "
		"chosen.",
	.schema = &matrix_schema,
	.level = KMAP_FUNCTION,
	.rows = matrix_rows,
	.draw = matrix_draw,
};

/* ---- code that may write ---- */

enum { W_WRITES = PAIR_COLUMNS, W_INSTRUCTIONS, W_COUNT };
static const struct atw_column writer_columns[W_COUNT] = {
	KMAP_CACHE_COLUMNS,
	[PAIR_CODE] = UNIT_COLUMN("function that writes; or a unit of the level"),
	[W_WRITES] = COLUMN("writes", COUNT, 10, "by it, to them"),
	[W_INSTRUCTIONS] = COLUMN("instructions", COUNT, 12,
				  "that write; counted once for each site of the objects"),
};
static const struct atw_schema writer_schema = { "kmap-writers", writer_columns, W_COUNT };

static void matrix_writer_row(const struct kmap_query *a, const struct kmap_pair *p,
			      struct report_row *row)
{
	row_u(row, W_WRITES, p->writes);
	row_u(row, W_INSTRUCTIONS, p->writers);
}

static int matrix_writer_rows(const struct kmap_query *a, const struct census_out *out,
			      struct atw_err *err)
{
	return matrix_pair_rows(a, true, matrix_writer_row, out, err);
}

static int matrix_writer_draw(const struct kmap_query *a, struct scene *s,
			      struct atw_err *err)
{
	return matrix_draw_pairs(a, true, s, err);
}

const struct kmap_report kmap_report_writers = {
	.name = "writers",
	.title = "Code that writes each kind of object",
	.help = "A cache and a function that was seen to write its objects in one row.",
	.schema = &writer_schema,
	.level = KMAP_FUNCTION,
	.rows = matrix_writer_rows,
	.draw = matrix_writer_draw,
};
