/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_privilege.c - privilege of code for each partition of the kernel. */
#include "kmap/lib/privilege.h"
#include "kmap/lib/report.h"
#include "base/message.h"

enum { P_CUT, P_BOUND, P_PARTS, P_OP, P_PS, P_PSR, P_PM, P_PMR1, P_PMR2, P_ECR, P_COUNT };
enum { CUT_MONO = KMAP_LEVELS, CUT_CLUSTERS, CUTS = CUT_CLUSTERS + KMAP_CUTS };
static const char *const cut_words[CUTS] = {
	"instruction", "function", "file", "directory", "topdir", "monolithic",
	[CUT_CLUSTERS + KMAP_CUT_SIZE] = "size", [CUT_CLUSTERS + KMAP_CUT_RATIO] = "ratio",
};
static const struct atw_names cuts = { CUTS, cut_words, NULL };
enum { OP_TOTAL = KMAP_OPS, OPS };
static const char *const op_words[OPS] = { "read", "write", "free", "call", "total" };
static const struct atw_names ops = { OPS, op_words, NULL };

static const struct atw_column columns[P_COUNT] = {
	[P_CUT] = { .key = "cut", .type = ATW_T_ENUM, .width = 11, .names = &cuts,
		    .help = "what is a compartment; instruction: least privilege" },
	[P_BOUND] = HIDDEN_COLUMN("bound", TEXT, 10,
				  "size, ratio: the bound that was given"),
	[P_PARTS] = COLUMN("compartments", COUNT, 12, "how many"),
	[P_OP] = COLUMN("operation", ENUM, 9, "what instructions do", .names = &ops),
	[P_PS] = COLUMN("ps", COUNT, 14,
			"privilege set: instructions times bytes they may do it to"),
	[P_PSR] = COLUMN("psr_ppm", COUNT, 8,
			 "privilege set ratio: ps of the monolithic one, in millionths"),
	[P_PM] = COLUMN("pm", COUNT, 14, "what is more than least privilege"),
	[P_PMR1] = HIDDEN_COLUMN("pmr1_ppm", COUNT, 8,
				 "that, of the monolithic ps, in millionths"),
	[P_PMR2] = HIDDEN_COLUMN("pmr2_ppm", COUNT, 8,
				 "that, of the least ps, in millionths"),
	[P_ECR] = COLUMN("ecr_ppm", COUNT, 8,
			 "external call ratio: calls out of compartments, in millionths"),
};
static const struct atw_schema schema = { "kmap-privilege", columns, P_COUNT };

struct all {
	const struct kmap_query *a;
	const struct census_out *out;
	unsigned known;
	struct kmap_privilege min, mono;
	bool over;                       /* a number has more than 64 bits */
};

struct cut {
	unsigned which;
	const char *bound;               /* NULL: it has none */
	uint64_t parts;
	struct kmap_privilege ps;
	bool have_ecr;
	uint64_t ecr;
};

static bool privilege_value(const struct kmap_privilege *p, unsigned known, unsigned op,
			    uint64_t *ret)
{
	if (op == OP_TOTAL)
		return kmap_ps_total(p, known, ret);
	*ret = p->v[op];
	return p->have >> op & 1;
}

static void privilege_set_ratio(struct report_row *r, unsigned column, uint64_t a,
				uint64_t b)
{
	uint64_t ppm;

	if (kmap_ppm(a, b, &ppm))
		row_u(r, column, ppm);
}

static int privilege_one(struct all *x, const struct cut *c, unsigned op,
			 struct atw_err *err)
{
	struct report_row row = { 0 };
	uint64_t ps, min, mono;
	bool have_min = privilege_value(&x->min, x->known, op, &min);
	bool have_mono = privilege_value(&x->mono, x->known, op, &mono);

	row_u(&row, P_CUT, c->which);
	row_s(&row, P_BOUND, c->bound);
	row_u(&row, P_PARTS, c->parts);
	row_u(&row, P_OP, op);
	if (privilege_value(&c->ps, x->known, op, &ps)) {
		row_u(&row, P_PS, ps);
		if (have_mono)
			privilege_set_ratio(&row, P_PSR, ps, mono);
		row_if(&row, have_min && ps >= min, P_PM, ps - min);
		if (have_min && have_mono && ps >= min)
			privilege_set_ratio(&row, P_PMR1, ps - min, mono);
		if (have_min && ps >= min)
			privilege_set_ratio(&row, P_PMR2, ps - min, min);
	} else if (op == OP_TOTAL || x->known >> op & 1) {
		x->over = true;
	}
	row_if(&row, c->have_ecr && (op == KMAP_CALLS || op == OP_TOTAL), P_ECR, c->ecr);
	return row_out(&row, x->out, err);
}

static int privilege_emit(struct all *x, const struct cut *c, struct atw_err *err)
{
	int r = ATW_OK;

	for (unsigned op = 0; op < OPS && r == ATW_OK; op++)
		r = privilege_one(x, c, op, err);
	return r;
}

static int privilege_cut(struct all *x, const struct kmap_units *u, struct cut *t,
			 struct atw_err *err)
{
	_auto_free struct kmap_compartment *c = NULL;
	uint64_t in = 0, all = 0;
	int r = kmap_compartments(x->a->m, u, &c, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < u->n; i++) {
		t->parts += kmap_compartment_works(&c[i]);
		kmap_add(&in, c[i].out);
		all = kmap_sum(all, kmap_sum(c[i].inside, c[i].out));
	}
	kmap_ps_cut(c, u->n, x->known, &t->ps);
	t->have_ecr = kmap_ppm(in, all, &t->ecr);
	return privilege_emit(x, t, err);
}

static int privilege_cut_level(struct all *x, enum kmap_level level, struct atw_err *err)
{
	struct cut t = { .which = level };
	struct kmap_units u;
	int r = kmap_units_init(&u, x->a->m, x->a->n, level, err);

	if (r < 0)
		return r;
	r = privilege_cut(x, &u, &t, err);
	kmap_units_deinit(&u);
	return r;
}

static int privilege_cut_clusters(struct all *x, const struct kmap_cut *by,
				  struct atw_err *err)
{
	struct cut t = { .which = CUT_CLUSTERS + by->by, .bound = by->text };
	struct kmap_clusters c;
	int r = kmap_clusters_init(&c, x->a->m, x->a->n, by, err);

	if (r < 0)
		return r;
	r = privilege_cut(x, &c.units, &t, err);
	kmap_clusters_deinit(&c);
	return r;
}

static uint64_t privilege_working(const struct kmap_model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->code.n; i++) {
		const struct kmap_code *c = kmap_code(m, i);

		n += c->reads || c->writes || c->frees || c->calls;
	}
	return n;
}

static int privilege_rows(const struct kmap_query *a, const struct census_out *out,
			  struct atw_err *err)
{
	const char *why, *files;
	struct all x = {
		.a = a, .out = out, .known = kmap_ops_known(a->m, a->n, &why),
		.min = kmap_ps_min(a->m, a->n),
	};
	bool have_files = kmap_names_files(a->n, &files);
	struct cut least = {
		.which = KMAP_INSTRUCTION, .parts = privilege_working(a->m), .ps = x.min,
	};
	struct cut none = { .which = CUT_MONO, .parts = 1, .have_ecr = a->m->call.n };
	int r = kmap_ps_mono(a->m, a->n, &x.mono, err);

	none.ps = x.mono;
	if (r == ATW_OK)
		r = privilege_emit(&x, &least, err);
	for (enum kmap_level l = KMAP_FUNCTION; r == ATW_OK && l < KMAP_LEVELS; l++)
		if (l == KMAP_FUNCTION ? kmap_names_symbols(a->n) : have_files)
			r = privilege_cut_level(&x, l, err);
	for (size_t i = 0; r == ATW_OK && i < a->cuts; i++)
		r = privilege_cut_clusters(&x, &a->cut[i], err);
	if (r == ATW_OK)
		r = privilege_emit(&x, &none, err);
	if (!kmap_names_symbols(a->n))
		out->note(out->arg, "functions are not known: that needs symbols");
	if (!have_files)
		out->note(out->arg, "%s", files);
	if (why)
		out->note(out->arg, "calls are n/a: %s", why);
	if (!a->m->has_frees)
		out->note(out->arg, "frees are n/a: the recording does not have the code that frees");
	if (x.over)
		out->note(out->arg, "numbers of more than 64 bits are n/a");
	out->note(out->arg, "instructions are those that were seen to do it; objects weigh %s",
		  kmap_timed(a->m) ? _("what their site has allocated on the average")
				   : _("what their site allocated, for there are no times"));
	if (kmap_timed(a->m))
		kmap_note_timeless(a, "weigh nothing", out);
	return r;
}

const struct kmap_report kmap_report_privilege = {
	.name = "privilege",
	.title = "Privilege: what code may do, by how the kernel is cut",
	.help = "A cut and an operation in one row: uSCOPE's PS, PSR, PM and ECR.",
	.schema = &schema,
	.level = KMAP_LEVELS,
	.rows = privilege_rows,
	.cuts = KMAP_MOST_CUTS,
	.cut_columns = "+bound",
};
