/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cut.c - partition of the kernel into clusters of functions. */
#include "kmap/lib/cluster.h"
#include "kmap/lib/privilege.h"

const char *const kmap_cut_words[KMAP_CUTS] = { "size", "ratio" };

/* Without sizes the code of a cluster, or what it may call, cannot be measured. */
static int cut_check(const struct kmap_model *m, const struct kmap_units *u,
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
static const char *cut_name_of(struct kmap_units *u, const char *first, size_t others)
{
	char buf[640];

	if (!others && first)
		return intern_text(&u->texts, first, strlen(first));
	snprintf(buf, sizeof(buf), "%.600s +%zu", first ? first : "", others);
	return intern_text(&u->texts, buf, strlen(buf));
}

static int cut_name_all(struct kmap_clusters *c, struct atw_err *err)
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
			cut_name_of(&c->units, c->units.v[i].name, others[i]);
		ok = c->units.v[i].name;
	}
	return ok ? ATW_OK : atw_err_nomem(err);
}

static int cut_fill(struct kmap_clusters *c, const struct kmap_model *m,
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
	return cut_name_all(c, err);
}

int kmap_clusters_init(struct kmap_clusters *c, const struct kmap_model *m,
		       const struct kmap_names *n, const struct kmap_cut *cut,
		       struct atw_err *err)
{
	int r;

	*c = (struct kmap_clusters){ 0 };
	r = kmap_units_init(&c->functions, m, n, KMAP_FUNCTION, err);
	if (r == ATW_OK)
		r = cut_check(m, &c->functions, err);
	if (r == ATW_OK)
		r = kmap_cluster(m, &c->functions, cut, &c->to, &c->units.n, err);
	if (r == ATW_OK)
		r = cut_fill(c, m, err);
	if (r < 0) {
		kmap_clusters_deinit(c);
		atw_err_wrap(err, "%s:%s", kmap_cut_words[cut->by], cut->text);
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
