/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kmap/lib/privilege.h"
#include "base/message.h"

typedef unsigned __int128 wide;

static uint64_t privilege_count_of(const struct kmap_edge *e, enum kmap_op op)
{
	return op == KMAP_READ ? e->reads : op == KMAP_WRITE ? e->writes : e->frees;
}

bool kmap_code_does(const struct kmap_code *c, enum kmap_op op)
{
	return op == KMAP_READ ? c->reads : op == KMAP_WRITE ? c->writes :
	       op == KMAP_FREE ? c->frees : c->calls;
}

unsigned kmap_ops_known(const struct kmap_model *m, const struct kmap_names *n,
			const char **why)
{
	unsigned known = 1 << KMAP_READ | 1 << KMAP_WRITE;
	bool sizes = m->call.n;

	if (m->has_frees)
		known |= 1 << KMAP_FREE;
	for (size_t i = 0; sizes && i < m->call.n; i++)
		sizes = kmap_name(n, kmap_call(m, i)->key.b)->size;
	if (sizes)
		known |= 1 << KMAP_CALLS;
	if (why)
		*why = sizes ? NULL : !m->call.n ? N_("the recording has no calls") :
		       N_("the sizes of all functions that are called are not known without symbols or a vmlinux");
	return known;
}

static void privilege_set(struct kmap_privilege *p, enum kmap_op op, wide v)
{
	if (v > UINT64_MAX)
		return;
	p->v[op] = (uint64_t)v;
	p->have |= 1u << op;
}

/* ---- with no cut, and with the finest ---- */

struct kmap_privilege kmap_ps_min(const struct kmap_model *m, const struct kmap_names *n)
{
	unsigned known = kmap_ops_known(m, n, NULL);
	struct kmap_privilege ret = { 0 };
	wide sum[KMAP_OPS] = { 0 };

	for (size_t i = 0; i < m->edge.n; i++)
		for (unsigned op = 0; op < KMAP_CALLS; op++)
			if (privilege_count_of(kmap_edge(m, i), op))
				sum[op] += kmap_weight(m, kmap_site(m, kmap_edge(m, i)->key.a));
	for (size_t i = 0; i < m->call.n; i++)
		sum[KMAP_CALLS] += kmap_name(n, kmap_call(m, i)->key.b)->size;
	for (unsigned op = 0; op < KMAP_OPS; op++)
		if (known >> op & 1)
			privilege_set(&ret, op, sum[op]);
	return ret;
}

int kmap_ps_mono(const struct kmap_model *m, const struct kmap_names *n,
		 struct kmap_privilege *ret, struct atw_err *err)
{
	unsigned known = kmap_ops_known(m, n, NULL);
	uint64_t instructions[KMAP_OPS] = { 0 };
	struct kmap_units all;
	wide data = 0, code = 0;
	int r = kmap_units_init(&all, m, n, KMAP_FUNCTION, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < m->site.n; i++)
		data += kmap_weight(m, kmap_site(m, i));
	for (size_t i = 0; i < all.n; i++)
		code += all.v[i].size;
	kmap_units_deinit(&all);
	for (size_t i = 0; i < m->code.n; i++)
		for (unsigned op = 0; op < KMAP_OPS; op++)
			instructions[op] += kmap_code_does(kmap_code(m, i), op);
	*ret = (struct kmap_privilege){ 0 };
	for (unsigned op = 0; op < KMAP_OPS; op++) {
		wide bytes = op == KMAP_CALLS ? code : data;

		/* More than 64 bits of bytes is more than there can be. */
		if (known >> op & 1 && bytes <= UINT64_MAX)
			privilege_set(ret, op, bytes * instructions[op]);
	}
	return ATW_OK;
}

/* ---- with compartments ---- */

struct reach {
	struct kmap_key key;             /* compartment, site or called compartment, call */
	unsigned ops;
};

static struct reach *privilege_reach(struct kmap_table *t, uint64_t unit, uint64_t to,
				     bool call)
{
	return kmap_table_elem(t, (struct kmap_key){ unit, to, call }, NULL);
}

static bool privilege_add_reaches(struct kmap_table *t, const struct kmap_model *m,
				  const struct kmap_units *u)
{
	for (size_t i = 0; i < m->edge.n; i++) {
		const struct kmap_edge *e = kmap_edge(m, i);
		struct reach *r = privilege_reach(t, u->of[e->key.b], e->key.a, false);

		if (!r)
			return false;
		for (unsigned op = 0; op < KMAP_CALLS; op++)
			r->ops |= (privilege_count_of(e, op) != 0) << op;
	}
	for (size_t i = 0; i < m->call.n; i++)
		if (!privilege_reach(t, u->of[kmap_call(m, i)->key.a],
				     u->of[kmap_call(m, i)->key.b], true))
			return false;
	return true;
}

static void privilege_add_calls(const struct kmap_model *m, const struct kmap_units *u,
				struct kmap_compartment *c)
{
	for (size_t i = 0; i < m->call.n; i++) {
		const struct kmap_call_edge *e = kmap_call(m, i);
		uint32_t from = u->of[e->key.a], to = u->of[e->key.b];

		if (from == to) {
			kmap_add(&c[from].inside, e->count);
			continue;
		}
		kmap_add(&c[from].out, e->count);
		kmap_add(&c[to].in, e->count);
	}
}

int kmap_compartments(const struct kmap_model *m, const struct kmap_units *u,
		      struct kmap_compartment **ret, struct atw_err *err)
{
	_auto_free struct kmap_compartment *c = calloc(u->n + 1, sizeof(*c));
	struct kmap_table t;
	bool ok;

	if (!c)
		return atw_err_nomem(err);
	for (size_t i = 0; i < m->code.n; i++)
		for (unsigned op = 0; op < KMAP_OPS; op++)
			c[u->of[i]].instructions[op] += kmap_code_does(kmap_code(m, i), op);
	kmap_table_init(&t, sizeof(struct reach));
	ok = privilege_add_reaches(&t, m, u);
	for (size_t i = 0; ok && i < t.n; i++) {
		const struct reach *r = (struct reach *)t.v + i;
		struct kmap_compartment *to = &c[r->key.a];

		if (r->key.c) {
			kmap_add(&to->reach[KMAP_CALLS], u->v[r->key.b].size);
			continue;
		}
		to->sites++;
		for (unsigned op = 0; op < KMAP_CALLS; op++)
			if (r->ops >> op & 1)
				kmap_add(&to->reach[op], kmap_weight(m, kmap_site(m, r->key.b)));
	}
	kmap_table_deinit(&t);
	privilege_add_calls(m, u, c);
	if (!ok)
		return atw_err_nomem(err);
	*ret = take_ptr(c);
	return ATW_OK;
}

bool kmap_compartment_works(const struct kmap_compartment *c)
{
	bool any = false;

	for (unsigned op = 0; op < KMAP_OPS; op++)
		any |= c->instructions[op] != 0;
	return any;
}

void kmap_ps_cut(const struct kmap_compartment *c, size_t n, unsigned known,
		 struct kmap_privilege *ret)
{
	*ret = (struct kmap_privilege){ 0 };
	for (unsigned op = 0; op < KMAP_OPS; op++) {
		wide sum = 0;

		for (size_t i = 0; i < n && sum <= UINT64_MAX; i++)
			sum += (wide)c[i].instructions[op] * c[i].reach[op];
		if (known >> op & 1)
			privilege_set(ret, op, sum);
	}
}

bool kmap_ps_total(const struct kmap_privilege *p, unsigned known, uint64_t *ret)
{
	wide sum = 0;

	if ((p->have & known) != known)
		return false;
	for (unsigned op = 0; op < KMAP_OPS; op++)
		if (known >> op & 1)
			sum += p->v[op];
	*ret = (uint64_t)sum;
	return known && sum <= UINT64_MAX;
}

bool kmap_ppm(uint64_t a, uint64_t b, uint64_t *ret)
{
	wide v;

	if (!b)
		return false;
	v = ((wide)a * 1000000 + b / 2) / b;
	*ret = v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
	return true;
}
