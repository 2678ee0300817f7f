/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/diff.h"

#include "plot/chart.h"

static int diff_no_memory(struct atw_err *err)
{
	return atw_err_nomem(err);
}

struct adding {
	struct kmap_diff *d;
	const struct kmap_model *m;
	const struct kmap_units *u;
	unsigned side;
	bool failed;
};

/* One copy for both sides. */
static const char *diff_text(struct adding *x, const char *s)
{
	const char *kept = s ? intern_text(&x->d->texts, s, strlen(s)) : NULL;

	x->failed |= s && !kept;
	return kept;
}

static struct kmap_counts *diff_row(struct adding *x, enum kmap_diff_what what,
				    const struct kmap_cache *c, const char *code)
{
	const char *name = diff_text(x, c->name), *type = diff_text(x, c->type);
	struct kmap_diff_row *r;
	bool fresh;
	int64_t i;

	code = diff_text(x, code);
	i = kmap_table_get(&x->d->row[what], (struct kmap_key){ (uintptr_t)name, (uintptr_t)type,
			   (uintptr_t)code }, &fresh);
	x->failed |= i < 0;
	if (x->failed)
		return NULL;
	r = (struct kmap_diff_row *)x->d->row[what].v + i;
	r->what = what;
	r->cache = name;
	r->type = type;
	r->code = code;
	r->in[x->side] = true;
	return &r->n[x->side];
}

static void diff_add_sums(struct kmap_counts *n, const struct kmap_sums *s)
{
	if (!n)
		return;
	kmap_add(&n->objects, s->objects);
	kmap_add(&n->size, s->bytes);
	kmap_add(&n->reads, s->reads);
	kmap_add(&n->writes, s->writes);
}

static void diff_add_all(struct adding *x)
{
	for (size_t i = 0; i < x->m->cache.n && !x->failed; i++)
		diff_add_sums(diff_row(x, KMAP_DIFF_CACHE, kmap_cache(x->m, i), NULL),
			      &kmap_cache(x->m, i)->s);
	for (size_t i = 0; i < x->m->site.n && !x->failed; i++) {
		const struct kmap_site *s = kmap_site(x->m, i);

		diff_add_sums(diff_row(x, KMAP_DIFF_SITE, kmap_cache(x->m, s->cache),
				       s->name ? s->name
				       : s->code == KMAP_NONE
					       ? NULL
					       : x->u->v[x->u->of[s->code]].name),
			      &s->s);
	}
	for (size_t i = 0; i < x->m->edge.n && !x->failed; i++) {
		const struct kmap_edge *e = kmap_edge(x->m, i);
		struct kmap_counts *n;

		/* A free is part of an object, not an access to it. */
		if (!e->reads && !e->writes)
			continue;
		n = diff_row(x, KMAP_DIFF_EDGE,
			     kmap_cache(x->m, kmap_site(x->m, e->key.a)->cache),
			     x->u->v[x->u->of[e->key.b]].name);
		if (n) {
			kmap_add(&n->reads, e->reads);
			kmap_add(&n->writes, e->writes);
		}
	}
}

int kmap_diff_init(struct kmap_diff *d, const struct kmap_side side[2], struct atw_err *err)
{
	*d = (struct kmap_diff){ 0 };
	for (unsigned i = 0; i < KMAP_DIFFS; i++)
		kmap_table_init(&d->row[i], sizeof(struct kmap_diff_row));
	for (unsigned i = 0; i < 2; i++) {
		struct adding x = { .d = d, .m = side[i].m, .side = i };
		struct kmap_units u;
		int r = kmap_units_init(&u, side[i].m, side[i].names, side[i].level, err);

		if (r < 0)
			return r;
		x.u = &u;
		diff_add_all(&x);
		kmap_units_deinit(&u);
		if (x.failed)
			return diff_no_memory(err);
	}
	for (unsigned i = 0; i < KMAP_DIFFS; i++)
		d->compared += d->row[i].n;
	return ATW_OK;
}

void kmap_diff_deinit(struct kmap_diff *d)
{
	for (unsigned i = 0; i < KMAP_DIFFS; i++)
		kmap_table_deinit(&d->row[i]);
	intern_deinit(&d->texts);
}

/* What one side lacks is 0 there, which is any ratio less. */
static bool diff_is_enough(uint64_t a, uint64_t b, const struct kmap_diff_opts *o)
{
	uint64_t more = a > b ? a : b, less = a > b ? b : a;

	return more > less && more - less >= o->least &&
	       (unsigned __int128)more * 1000 >= (unsigned __int128)less * o->ratio;
}

static bool diff_differs(const struct kmap_diff_row *r, const struct kmap_diff_opts *o)
{
	const struct kmap_counts *a = &r->n[0], *b = &r->n[1];
	bool one_sided = r->in[0] != r->in[1];

	if (o->no_counts && !one_sided)
		return false;
	if (!o->least && !o->ratio)
		return one_sided || a->size != b->size || a->objects != b->objects ||
		       a->reads != b->reads || a->writes != b->writes;
	return diff_is_enough(a->objects, b->objects, o) ||
	       diff_is_enough(a->reads, b->reads, o) ||
	       diff_is_enough(a->writes, b->writes, o);
}

static uint64_t diff_weight(const struct kmap_diff_row *r)
{
	uint64_t a = chart_add(r->n[0].reads, r->n[0].writes);
	uint64_t b = chart_add(r->n[1].reads, r->n[1].writes);

	return a > b ? a : b;
}

int kmap_diff_each(const struct kmap_diff *d, const struct kmap_diff_opts *opts,
		   int (*fn)(void *arg, const struct kmap_diff_row *r, struct atw_err *err),
		   void *arg, struct atw_err *err)
{
	int status = ATW_OK;

	for (unsigned i = 0; i < KMAP_DIFFS && status == ATW_OK; i++) {
		const struct kmap_diff_row *v = d->row[i].v;
		_auto_free struct chart_order *o = calloc(d->row[i].n + 1, sizeof(*o));

		if (!o)
			return diff_no_memory(err);
		for (size_t k = 0; k < d->row[i].n; k++)
			o[k] = (struct chart_order){diff_weight(&v[k]), k};
		qsort(o, d->row[i].n, sizeof(*o), chart_heavier);
		for (size_t k = 0; k < d->row[i].n && status == ATW_OK; k++)
			if (diff_differs(&v[o[k].at], opts))
				status = fn(arg, &v[o[k].at], err);
	}
	return status;
}
