/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_compartments.c - contents and privilege of each compartment. */
#include "kmap/lib/privilege.h"
#include "kmap/lib/report.h"

enum {
	C_CODE, C_SITES, C_READERS, C_READABLE, C_WRITERS, C_WRITABLE, C_PS, C_INSIDE, C_IN, C_OUT,
	C_FUNCTIONS, C_TOUCHED, C_COUNT,
};
static const struct atw_column part_columns[C_COUNT] = {
	[C_CODE] = COLUMN("code", TEXT, 28,
			  "the compartment: a file, or as the level or the cut has it"),
	[C_SITES] = COLUMN("sites", COUNT, 6, "with objects that it accesses"),
	[C_READERS] = COLUMN("read_instructions", COUNT, 10, "of it that read"),
	[C_READABLE] = COLUMN("readable", BYTES, 8,
			      "bytes of objects that some of it reads"),
	[C_WRITERS] = COLUMN("write_instructions", COUNT, 10, "of it that write"),
	[C_WRITABLE] = COLUMN("writable", BYTES, 8,
			      "bytes of objects that some of it writes"),
	[C_PS] = COLUMN("ps", COUNT, 14,
			"its privilege set, of all operations that are known"),
	[C_INSIDE] = HIDDEN_COLUMN("calls_inside", COUNT, 8, "from it to itself"),
	[C_IN] = HIDDEN_COLUMN("calls_in", COUNT, 8, "from others"),
	[C_OUT] = HIDDEN_COLUMN("calls_out", COUNT, 8, "to others"),
	[C_FUNCTIONS] = HIDDEN_COLUMN("functions", TEXT, 28, "that are in it"),
	[C_TOUCHED] = HIDDEN_COLUMN("touched", TEXT, 20,
				    "caches, or types of memory, with objects that it accesses"),
};
static const struct atw_schema part_schema = { "kmap-compartments", part_columns, C_COUNT };

/* ---- what is in them ---- */

enum { IN_FUNCTIONS, IN_TOUCHED, IN_KINDS };

/* A function of a compartment, or a cache with objects that it touches. */
struct member {
	struct kmap_key key;             /* compartment, function or cache, which of these */
	uint32_t next;                   /* 1 + the next one's number; 0: it is the last */
};

struct compartments_parts {
	const struct kmap_query *a;
	const struct kmap_units *u;      /* a compartment each */
	struct kmap_units functions;
	struct kmap_table member;
	uint32_t *ends[IN_KINDS];        /* of each compartment: 1 + the last one's number */
	struct buf text[IN_KINDS];
};

/* The last one's next is the first one, so that they stay in their order. */
static bool compartments_add_member(struct compartments_parts *p, unsigned kind,
				    uint64_t unit, uint64_t what)
{
	uint32_t *end = &p->ends[kind][unit];
	struct member *v;
	bool fresh;
	int64_t i = kmap_table_get(&p->member, (struct kmap_key){ unit, what, kind }, &fresh);

	if (i < 0 || !fresh)
		return i >= 0;
	v = p->member.v;
	v[i].next = *end ? v[*end - 1].next : (uint32_t)i + 1;
	if (*end)
		v[*end - 1].next = (uint32_t)i + 1;
	*end = (uint32_t)i + 1;
	return true;
}

static int compartments_parts_init(struct compartments_parts *p, const struct kmap_query *a,
				   const struct kmap_units *u, struct atw_err *err)
{
	int r;
	bool ok;

	*p = (struct compartments_parts){.a = a, .u = u};
	r = kmap_units_init(&p->functions, a->m, a->n, KMAP_FUNCTION, err);
	if (r < 0)
		return r;
	kmap_table_init(&p->member, sizeof(struct member));
	for (unsigned k = 0; k < IN_KINDS; k++)
		p->ends[k] = calloc(u->n + 1, sizeof(*p->ends[k]));
	ok = p->ends[IN_FUNCTIONS] && p->ends[IN_TOUCHED];
	for (size_t i = 0; ok && i < a->m->code.n; i++)
		ok = compartments_add_member(p, IN_FUNCTIONS, u->of[i],
					     p->functions.of[i]);
	for (size_t i = 0; ok && i < a->m->edge.n; i++) {
		const struct kmap_edge *e = kmap_edge(a->m, i);

		if (e->reads || e->writes || e->frees)
			ok = compartments_add_member(p, IN_TOUCHED, u->of[e->key.b],
						     kmap_site(a->m, e->key.a)->cache);
	}
	return ok ? ATW_OK : atw_err_nomem(err);
}

static void compartments_parts_deinit(struct compartments_parts *p)
{
	kmap_units_deinit(&p->functions);
	kmap_table_deinit(&p->member);
	for (unsigned k = 0; k < IN_KINDS; k++) {
		free(p->ends[k]);
		buf_deinit(&p->text[k]);
	}
}

/* "vfs_read,vfs_write"; NULL: no memory. */
static const char *compartments_members(struct compartments_parts *p, unsigned kind,
					size_t unit)
{
	const struct member *v = p->member.v;
	uint32_t end = p->ends[kind][unit], at = end;
	struct buf *b = &p->text[kind];
	char word[80];

	b->len = 0;
	while (at) {
		const struct member *one;

		at = v[at - 1].next;
		one = &v[at - 1];
		if (b->len)
			buf_char(b, ',');
		buf_str(b, kind == IN_TOUCHED ?
			kmap_cache_word(kmap_cache(p->a->m, one->key.b), word) :
			p->functions.v[one->key.b].name);
		if (at == end)
			break;
	}
	buf_char(b, '\0');
	return b->failed ? NULL : b->data;
}

/* ---- rows ---- */

static int compartments_part_row(struct compartments_parts *x, size_t unit,
				 const struct kmap_compartment *c, unsigned known,
				 const struct census_out *out, struct atw_err *err)
{
	const char *functions = compartments_members(x, IN_FUNCTIONS, unit);
	const char *touched = compartments_members(x, IN_TOUCHED, unit);
	struct report_row row = { 0 };
	struct kmap_privilege p;
	uint64_t total;

	if (!functions || !touched)
		return atw_err_nomem(err);
	row_s(&row, C_CODE, x->u->v[unit].name);
	row_u(&row, C_SITES, c->sites);
	row_u(&row, C_READERS, c->instructions[KMAP_READ]);
	row_u(&row, C_READABLE, c->reach[KMAP_READ]);
	row_u(&row, C_WRITERS, c->instructions[KMAP_WRITE]);
	row_u(&row, C_WRITABLE, c->reach[KMAP_WRITE]);
	kmap_ps_cut(c, 1, known, &p);
	if (kmap_ps_total(&p, known, &total))
		row_u(&row, C_PS, total);
	if (x->a->m->call.n) {
		row_u(&row, C_INSIDE, c->inside);
		row_u(&row, C_IN, c->in);
		row_u(&row, C_OUT, c->out);
	}
	row_s(&row, C_FUNCTIONS, functions);
	row_s(&row, C_TOUCHED, touched);
	return row_out(&row, out, err);
}

/* What orders them. */
struct compartments_order {
	const struct kmap_compartment *c;
	unsigned known;
};

static uint64_t compartments_weight(const void *of, size_t i)
{
	const struct compartments_order *o = of;
	struct kmap_privilege ps;
	uint64_t total;

	kmap_ps_cut(&o->c[i], 1, o->known, &ps);
	return kmap_ps_total(&ps, o->known, &total) ? total : UINT64_MAX;
}

static int compartments_part_all(struct compartments_parts *p,
				 const struct census_out *out, struct atw_err *err)
{
	const struct kmap_query *a = p->a;
	unsigned known = kmap_ops_known(a->m, a->n, NULL);
	_auto_free struct kmap_compartment *c = NULL;
	int r = kmap_compartments(a->m, p->u, &c, err);
	const struct compartments_order by = { c, known };
	_auto_free struct chart_order *order =
		r == ATW_OK ? kmap_by_weight(p->u->n, compartments_weight, &by, err) : NULL;

	if (r == ATW_OK && !order)
		r = ATW_E_NOMEM;
	for (size_t i = 0; r == ATW_OK && i < p->u->n; i++) {
		const struct kmap_compartment *x = &c[order[i].at];

		/* Code that only allocates has no privilege of these kinds. */
		if (kmap_compartment_works(x) || x->in)
			r = compartments_part_row(p, order[i].at, x, known, out, err);
	}
	return r;
}

static int compartments_emit(const struct kmap_query *a, const struct kmap_units *u,
			     const struct census_out *out, struct atw_err *err)
{
	struct compartments_parts p;
	int r = compartments_parts_init(&p, a, u, err) ?:
		compartments_part_all(&p, out, err);

	if (kmap_timed(a->m))
		kmap_note_timeless(a, "weigh nothing", out);
	compartments_parts_deinit(&p);
	return r;
}

static int compartments_part_rows(const struct kmap_query *a, const struct census_out *out,
				  struct atw_err *err)
{
	struct kmap_clusters c;
	_auto_view struct kmap_view v = { 0 };
	int r;

	if (a->cuts) {
		r = kmap_clusters_init(&c, a->m, a->n, a->cut, err);
		if (r < 0)
			return r;
		r = compartments_emit(a, &c.units, out, err);
		kmap_clusters_deinit(&c);
		return r;
	}
	r = kmap_view_init(&v, a, KMAP_FILE, err);
	if (r < 0)
		return r;
	r = compartments_emit(a, &v.units, out, err);
	kmap_view_note(&v, a, out);
	return r;
}

const struct kmap_report kmap_report_compartments = {
	.name = "compartments",
	.title = "Compartments: privilege of each part of the kernel",
	.help = "A file in one row, or a compartment of the level or cut that is chosen; "
		"the most privilege first.",
	.schema = &part_schema,
	.level = KMAP_FILE,
	.rows = compartments_part_rows,
	.cuts = 1,
	.cut_columns = "+functions,touched",
};
