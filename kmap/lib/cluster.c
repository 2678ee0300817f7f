/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster.c - greedy clustering of functions.
 *
 * Initially each function is a cluster. The pair of clusters with calls between them and
 * the largest gain is merged, until no merge is allowed. A heap holds all such pairs by
 * gain; a merge changes only the pairs of one cluster, so only these are recomputed.
 */
#include "kmap/lib/cluster_work.h"

/* ---- merging ---- */

static bool cluster_add_touch(const struct work *w, struct cluster_group *g,
			      uint32_t site, uint32_t ops)
{
	uint32_t *at = &w->at[site], fresh;
	struct touch *t;

	if (!*at) {
		if (!array_reserve((void **)&g->touch, &g->cap_touch, g->touches + 1, sizeof(*t)))
			return false;
		g->touch[g->touches] = (struct touch){ site, 0 };
		*at = (uint32_t)++g->touches;
	}
	t = &g->touch[*at - 1];
	fresh = ops & ~t->ops;
	t->ops |= ops;
	for (unsigned op = 0; op < KMAP_CALLS; op++)
		if (fresh >> op & 1)
			g->weight[op] += w->weight[site];
	return true;
}

static bool cluster_add_pair(struct cluster_group *g, uint32_t i)
{
	if (!array_reserve((void **)&g->pair, &g->cap_pair, g->pairs + 1, sizeof(*g->pair)))
		return false;
	g->pair[g->pairs++] = i;
	return true;
}

static bool cluster_merge_touches(struct work *w, struct cluster_group *to,
				  const struct cluster_group *from)
{
	bool ok = true;

	for (size_t i = 0; i < to->touches; i++)
		w->at[to->touch[i].site] = (uint32_t)i + 1;
	for (size_t i = 0; ok && i < from->touches; i++)
		ok = cluster_add_touch(w, to, from->touch[i].site, from->touch[i].ops);
	for (size_t i = 0; i < to->touches; i++)
		w->at[to->touch[i].site] = 0;
	return ok;
}

/* Functions that call, or are called by, both groups become pairs of the merged one. */
static bool cluster_merge_pairs(struct work *w, uint32_t to,
				const struct cluster_group *from, uint32_t gone)
{
	struct cluster_group *g = &w->g[to];
	size_t had = g->pairs;
	bool ok = true;

	for (size_t i = 0; i < had; i++) {
		const struct pair *p = pair(w, g->pair[i]);

		if (!p->dead)
			w->with[p->a == to ? p->b : p->a] = g->pair[i] + 1;
	}
	for (size_t i = 0; ok && i < from->pairs; i++) {
		struct pair *p = pair(w, from->pair[i]);
		uint32_t other = p->a == gone ? p->b : p->a, same = w->with[other];

		if (p->dead)
			continue;
		if (same) {
			kmap_add(&pair(w, same - 1)->calls, p->calls);
			cluster_take_out(w, from->pair[i]);
			p->dead = true;
			continue;
		}
		*(p->a == gone ? &p->a : &p->b) = to;
		ok = cluster_add_pair(g, from->pair[i]);
	}
	for (size_t i = 0; i < had; i++) {
		const struct pair *p = pair(w, g->pair[i]);

		w->with[p->a == to ? p->b : p->a] = 0;
	}
	return ok;
}

static void cluster_empty(struct cluster_group *g)
{
	free(g->touch);
	free(g->pair);
	g->touch = NULL;
	g->pair = NULL;
	g->touches = g->pairs = 0;
}

static bool cluster_merge(struct work *w, uint32_t i)
{
	struct pair *p = pair(w, i);
	bool swap = w->g[p->a].touches + w->g[p->a].pairs < w->g[p->b].touches + w->g[p->b].pairs;
	uint32_t to = swap ? p->b : p->a, gone = swap ? p->a : p->b;
	struct cluster_group *x = &w->g[to], *y = &w->g[gone];

	cluster_take_out(w, i);
	p->dead = true;
	if (!cluster_merge_touches(w, x, y) || !cluster_merge_pairs(w, to, y, gone))
		return false;
	x->first = y->first < x->first ? y->first : x->first;
	kmap_add(&x->size, y->size);
	for (unsigned op = 0; op < KMAP_OPS; op++)
		kmap_add(&x->instructions[op], y->instructions[op]);
	w->into[gone] = to;
	cluster_empty(y);
	cluster_weigh(w, to);
	return true;
}

/* ---- as they are before ---- */

static bool cluster_fill_touches(struct work *w)
{
	struct touched {
		struct kmap_key key;     /* unit, site */
		uint32_t ops;
	} *v;
	struct kmap_table t;
	bool ok = true;

	kmap_table_init(&t, sizeof(*v));
	for (size_t i = 0; ok && i < w->m->edge.n; i++) {
		const struct kmap_edge *e = kmap_edge(w->m, i);
		uint32_t ops = (e->reads != 0) << KMAP_READ | (e->writes != 0) << KMAP_WRITE |
			       (e->frees != 0) << KMAP_FREE;
		struct touched *to;

		if (!ops)
			continue;
		to = kmap_table_elem(&t, (struct kmap_key){ w->u->of[e->key.b], e->key.a, 0 }, NULL);
		ok = to;
		if (ok)
			to->ops |= ops;
	}
	v = t.v;
	for (size_t i = 0; ok && i < t.n; i++) {
		ok = cluster_add_touch(w, &w->g[v[i].key.a], (uint32_t)v[i].key.b,
				       v[i].ops);
		w->at[v[i].key.b] = 0;
	}
	kmap_table_deinit(&t);
	return ok;
}

static bool cluster_fill_pairs(struct work *w)
{
	for (size_t i = 0; i < w->m->call.n; i++) {
		const struct kmap_call_edge *e = kmap_call(w->m, i);
		uint32_t a = w->u->of[e->key.a], b = w->u->of[e->key.b];
		struct kmap_key k = { a < b ? a : b, a < b ? b : a, 0 };
		bool fresh;
		int64_t at;

		kmap_add(&w->calls, e->count);
		if (a == b)
			continue;
		at = kmap_table_get(&w->pair, k, &fresh);
		if (at < 0)
			return false;
		pair(w, (size_t)at)->a = (uint32_t)k.a;
		pair(w, (size_t)at)->b = (uint32_t)k.b;
		kmap_add(&pair(w, (size_t)at)->calls, e->count);
		if (fresh && (!cluster_add_pair(&w->g[a], (uint32_t)at) ||
			      !cluster_add_pair(&w->g[b], (uint32_t)at)))
			return false;
	}
	return true;
}

static bool cluster_begin(struct work *w)
{
	size_t n = w->u->n, sites = w->m->site.n;

	kmap_table_init(&w->pair, sizeof(struct pair));
	w->g = calloc(n + 1, sizeof(*w->g));
	w->into = calloc(n + 1, sizeof(*w->into));
	w->with = calloc(n + 1, sizeof(*w->with));
	w->weight = calloc(sites + 1, sizeof(*w->weight));
	w->at = calloc(sites + 1, sizeof(*w->at));
	if (!w->g || !w->into || !w->with || !w->weight || !w->at)
		return false;
	for (size_t i = 0; i < sites; i++)
		w->weight[i] = kmap_weight(w->m, kmap_site(w->m, i));
	for (uint32_t i = 0; i < n; i++) {
		w->into[i] = w->g[i].first = i;
		w->g[i].size = w->u->v[i].size;
	}
	for (size_t i = 0; i < w->m->code.n; i++)
		for (unsigned op = 0; op < KMAP_OPS; op++)
			w->g[w->u->of[i]].instructions[op] += kmap_code_does(kmap_code(w->m, i), op);
	if (!cluster_fill_touches(w) || !cluster_fill_pairs(w))
		return false;
	w->heap = calloc(w->pair.n + 1, sizeof(*w->heap));
	return w->heap;
}

static void cluster_last(struct work *w)
{
	for (size_t i = 0; w->g && i < w->u->n; i++)
		cluster_empty(&w->g[i]);
	kmap_table_deinit(&w->pair);
	free(w->g);
	free(w->into);
	free(w->with);
	free(w->weight);
	free(w->at);
	free(w->heap);
}

/* Numbers in the order of their first units: a group's is met before its others. */
static uint32_t *cluster_number(struct work *w, size_t *ret)
{
	uint32_t *to = calloc(w->u->n + 1, sizeof(*to)), *of_group = w->with;
	size_t n = 0;

	for (uint32_t i = 0; to && i < w->u->n; i++) {
		uint32_t g = i;

		while (w->into[g] != g)
			g = w->into[g] = w->into[w->into[g]];
		if (!of_group[g])
			of_group[g] = (uint32_t)++n;
		to[i] = of_group[g] - 1;
	}
	*ret = n;
	return to;
}

int kmap_cluster(const struct kmap_model *m, const struct kmap_units *functions,
		 const struct kmap_cut *cut, uint32_t **to, size_t *n, struct atw_err *err)
{
	struct work w = { .m = m, .u = functions, .cut = cut };
	bool ok = cluster_begin(&w);

	for (uint32_t i = 0; ok && i < w.u->n; i++)
		cluster_weigh(&w, i);
	while (ok && w.heaped)
		ok = cluster_merge(&w, w.heap[0]);
	*to = ok ? cluster_number(&w, n) : NULL;
	cluster_last(&w);
	return *to ? ATW_OK : atw_err_nomem(err);
}

/* ---- partition of the kernel into clusters of functions ---- */

static const char *const cluster_cut_words[KMAP_CUTS] = { "size", "ratio" };

/* Without sizes the code of a cluster, or what it may call, cannot be measured. */
static int cluster_check(const struct kmap_model *m, const struct kmap_units *u,
			 struct atw_err *err)
{
	if (!m->call.n)
		return atw_err_set(err, ATW_E_MISSING,
				   "the recording has no calls, from which clusters are formed");
	for (size_t i = 0; i < m->call.n; i++) {
		const struct kmap_unit *from = &u->v[u->of[kmap_call(m, i)->key.a]];
		const struct kmap_unit *to = &u->v[u->of[kmap_call(m, i)->key.b]];

		if (!from->size || !to->size)
			return atw_err_set(err, ATW_E_MISSING, "the size of %.100s is not known, but "
					   "the recording has calls of it", (from->size ? to : from)->name);
	}
	return ATW_OK;
}

/* "vfs_read +3": its first function, and how many there are besides. */
static const char *cluster_name_of(struct kmap_units *u, const char *first, size_t others)
{
	char buf[640];

	if (!others && first)
		return intern_text(&u->texts, first, strlen(first));
	snprintf(buf, sizeof(buf), "%.600s +%zu", first ? first : "", others);
	return intern_text(&u->texts, buf, strlen(buf));
}

static int cluster_name_all(struct kmap_clusters *c, struct atw_err *err)
{
	_auto_free size_t *others = calloc(c->units.n + 1, sizeof(*others));
	bool ok = others;

	for (size_t i = 0; ok && i < c->functions.n; i++) {
		struct kmap_unit *v = &c->units.v[c->to[i]];

		others[c->to[i]] += v->name != NULL;
		v->name = v->name ? v->name : c->functions.v[i].name;
	}
	for (size_t i = 0; ok && i < c->units.n; i++) {
		c->units.v[i].name =
			cluster_name_of(&c->units, c->units.v[i].name, others[i]);
		ok = c->units.v[i].name;
	}
	return ok ? ATW_OK : atw_err_nomem(err);
}

static int cluster_fill(struct kmap_clusters *c, const struct kmap_model *m,
			struct atw_err *err)
{
	struct kmap_units *u = &c->units;

	u->level = KMAP_FUNCTION;
	u->of = calloc(m->code.n + 1, sizeof(*u->of));
	u->v = calloc(u->n + 1, sizeof(*u->v));
	if (!u->of || !u->v)
		return atw_err_nomem(err);
	for (size_t i = 0; i < m->code.n; i++)
		u->of[i] = c->to[c->functions.of[i]];
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct kmap_unit *f = &c->functions.v[i];
		struct kmap_unit *v = &u->v[c->to[i]];

		kmap_add(&v->reads, f->reads);
		kmap_add(&v->writes, f->writes);
		kmap_add(&v->frees, f->frees);
		kmap_add(&v->size, f->size);
		v->instructions += f->instructions;
	}
	return cluster_name_all(c, err);
}

int kmap_clusters_init(struct kmap_clusters *c, const struct kmap_model *m,
		       const struct kmap_names *n, const struct kmap_cut *cut,
		       struct atw_err *err)
{
	int r;

	*c = (struct kmap_clusters){ 0 };
	r = kmap_units_init(&c->functions, m, n, KMAP_FUNCTION, err) ?:
	    cluster_check(m, &c->functions, err) ?:
	    kmap_cluster(m, &c->functions, cut, &c->to, &c->units.n, err) ?:
	    cluster_fill(c, m, err);
	if (r < 0) {
		kmap_clusters_deinit(c);
		atw_err_wrap(err, "%s:%s", cluster_cut_words[cut->by], cut->text);
		atw_err_param(err, ATW_PARAM_CUT);
		return r;
	}
	return ATW_OK;
}

void kmap_clusters_deinit(struct kmap_clusters *c)
{
	kmap_units_deinit(&c->functions);
	kmap_units_deinit(&c->units);
	free(c->to);
	*c = (struct kmap_clusters){ 0 };
}
