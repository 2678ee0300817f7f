/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_pays.c - gain of merging two clusters, and a heap of pairs by gain. */
#include "kmap/lib/cluster_work.h"

/* ---- which pair is better ---- */

/* The sign of a / b - c / d, exactly: as much of both as is equal is taken away. */
static int cluster_pays_compare_ratios(wide a, wide b, wide c, wide d)
{
	for (int sign = 1;; sign = -sign) {
		wide q, r, t;

		if (!b || !d)
			return !b && !d ? 0 : !b ? sign : -sign;
		q = a / b;
		r = c / d;
		if (q != r)
			return q > r ? sign : -sign;
		/* What is left of them, upside down. */
		t = a - q * b;
		a = b;
		b = t;
		t = c - r * d;
		c = d;
		d = t;
	}
}

static uint32_t cluster_pays_first_of(const struct work *w, const struct pair *p,
				      bool last)
{
	uint32_t a = w->g[p->a].first, b = w->g[p->b].first;

	return (a < b) == last ? b : a;
}

/* Of equal ones that with more calls, then the one that the file has first. */
static bool cluster_pays_better(const struct work *w, uint32_t i, uint32_t k)
{
	const struct pair *x = pair(w, i), *y = pair(w, k);
	int sign = cluster_pays_compare_ratios(x->calls, x->cost, y->calls, y->cost);

	if (sign)
		return sign > 0;
	if (x->calls != y->calls)
		return x->calls > y->calls;
	if (cluster_pays_first_of(w, x, false) != cluster_pays_first_of(w, y, false))
		return cluster_pays_first_of(w, x, false) <
		       cluster_pays_first_of(w, y, false);
	return cluster_pays_first_of(w, x, true) < cluster_pays_first_of(w, y, true);
}

static void cluster_pays_put(struct work *w, size_t at, uint32_t i)
{
	w->heap[at] = i;
	pair(w, i)->heap = (uint32_t)at + 1;
}

/* From `at`, where any pair may stand, to where `i` belongs. */
static void cluster_pays_sift(struct work *w, size_t at, uint32_t i)
{
	for (; at && cluster_pays_better(w, i, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
		cluster_pays_put(w, at, w->heap[(at - 1) / 2]);
	for (size_t next; (next = 2 * at + 1) < w->heaped; at = next) {
		if (next + 1 < w->heaped &&
		    cluster_pays_better(w, w->heap[next + 1], w->heap[next]))
			next++;
		if (!cluster_pays_better(w, w->heap[next], i))
			break;
		cluster_pays_put(w, at, w->heap[next]);
	}
	cluster_pays_put(w, at, i);
}

void cluster_take_out(struct work *w, uint32_t i)
{
	size_t at = pair(w, i)->heap;
	uint32_t last;

	if (!at)
		return;
	pair(w, i)->heap = 0;
	last = w->heap[--w->heaped];
	if (last != i)
		cluster_pays_sift(w, at - 1, last);
}

/* ---- what a merge costs ---- */

/* By how much a cut of this bound lets privilege grow for so many calls. */
static wide cluster_pays_most(const struct work *w, uint64_t calls)
{
	/* Millionths of calls, and 10^12 of the bound: 124 bits. */
	const wide all = (wide)calls * 1000000 * UINT64_C(1000000000000);
	const wide per = (wide)w->cut->bound * w->calls;

	return per ? all / per : ~(wide)0;
}

/* New objects for either side; in less code they weigh more. */
static wide cluster_pays_cost_of_size(const struct work *w, const struct cluster_group *c,
				      const struct cluster_group *d)
{
	size_t both = 0, added;

	for (size_t i = 0; i < d->touches; i++)
		both += w->at[d->touch[i].site] != 0;
	added = c->touches - both + d->touches - both;
	return (wide)(added + 1) * (c->size < d->size ? c->size : d->size);
}

/* Privilege that comes: what each side may do now to what the other could. */
static wide cluster_pays_cost_of_privilege(const struct work *w,
					   const struct cluster_group *c,
					   const struct cluster_group *d)
{
	wide to_c[KMAP_CALLS] = { 0 }, both[KMAP_CALLS] = { 0 };
	wide cost = (wide)c->instructions[KMAP_CALLS] * d->size +
		    (wide)d->instructions[KMAP_CALLS] * c->size;

	for (size_t i = 0; i < d->touches; i++) {
		uint32_t site = d->touch[i].site, at = w->at[site];
		uint32_t has = at ? c->touch[at - 1].ops : 0;

		for (unsigned op = 0; op < KMAP_CALLS; op++)
			if (d->touch[i].ops >> op & 1)
				*(has >> op & 1 ? &both[op] : &to_c[op]) += w->weight[site];
	}
	for (unsigned op = 0; op < KMAP_CALLS; op++)
		cost += c->instructions[op] * to_c[op] +
			d->instructions[op] * (c->weight[op] - both[op]);
	return cost;
}

/* One of the pairs of group `c`; w->at has the sites of that group. */
static void cluster_pays_weigh(struct work *w, uint32_t c, uint32_t i)
{
	struct pair *p = pair(w, i);
	const struct cluster_group *x = &w->g[c], *y = &w->g[p->a == c ? p->b : p->a];
	bool may = p->calls;

	if (w->cut->by == KMAP_CUT_SIZE) {
		/* They never become smaller. */
		if (x->size > w->cut->bound || y->size > w->cut->bound - x->size) {
			cluster_take_out(w, i);
			p->dead = true;
			return;
		}
		p->cost = cluster_pays_cost_of_size(w, x, y);
	} else {
		p->cost = cluster_pays_cost_of_privilege(w, x, y);
		may = may && p->cost <= cluster_pays_most(w, p->calls);
	}
	if (!may)
		cluster_take_out(w, i);
	else
		cluster_pays_sift(w, p->heap ? p->heap - 1 : w->heaped++, i);
}

void cluster_weigh(struct work *w, uint32_t c)
{
	struct cluster_group *g = &w->g[c];
	size_t n = 0;

	for (size_t i = 0; i < g->touches; i++)
		w->at[g->touch[i].site] = (uint32_t)i + 1;
	for (size_t i = 0; i < g->pairs; i++) {
		if (!pair(w, g->pair[i])->dead)
			cluster_pays_weigh(w, c, g->pair[i]);
		if (!pair(w, g->pair[i])->dead)
			g->pair[n++] = g->pair[i];
	}
	g->pairs = n;
	for (size_t i = 0; i < g->touches; i++)
		w->at[g->touch[i].site] = 0;
}
