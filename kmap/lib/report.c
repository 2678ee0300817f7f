/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - tables that analyses share. */
#include "kmap/lib/report.h"

/* ---- caches and code ---- */

static int kmap_report_add_pairs(struct kmap_view *v, const struct kmap_model *m,
				 struct atw_err *err)
{
	kmap_table_init(&v->pair, sizeof(struct kmap_pair));
	for (size_t i = 0; i < m->edge.n; i++) {
		const struct kmap_edge *e = kmap_edge(m, i);
		struct kmap_pair *p = kmap_table_elem(&v->pair, (struct kmap_key){
						      kmap_site(m, e->key.a)->cache,
						      v->units.of[e->key.b], 0 }, NULL);

		if (!p)
			return atw_err_nomem(err);
		kmap_add(&p->reads, e->reads);
		kmap_add(&p->writes, e->writes);
		kmap_add(&p->frees, e->frees);
		p->readers += e->reads != 0;
		p->writers += e->writes != 0;
	}
	return ATW_OK;
}

int kmap_view_init(struct kmap_view *v, const struct kmap_query *a, enum kmap_level level,
		   struct atw_err *err)
{
	bool chosen = a->level != KMAP_LEVELS;
	int r;

	*v = (struct kmap_view){ 0 };
	if (chosen)
		level = a->level;
	v->fallen = !chosen && level >= KMAP_FILE && !kmap_names_files(a->n, NULL);
	r = kmap_units_init(&v->units, a->m, a->n, v->fallen ? KMAP_FUNCTION : level, err);
	if (chosen && r == ATW_E_MISSING) {
		atw_err_wrap(err, "%s", kmap_level_words[level]);
		atw_err_param(err, ATW_PARAM_LEVEL);
	}
	if (r < 0)
		return r;
	r = kmap_report_add_pairs(v, a->m, err);
	if (r < 0)
		kmap_view_deinit(v);
	return r;
}

void kmap_view_deinit(struct kmap_view *v)
{
	kmap_units_deinit(&v->units);
	kmap_table_deinit(&v->pair);
}

void kmap_view_note(const struct kmap_view *v, const struct kmap_query *a,
		    const struct census_out *out)
{
	const char *why;

	kmap_names_files(a->n, &why);
	if (v->fallen)
		out->note(out->arg, "by function: %s", why);
}

void kmap_note_sites(const struct kmap_query *a, const struct census_out *out)
{
	if (a->m->compressed)
		out->note(out->arg, "this recording merged all objects of a site: their number is n/a");
}

void kmap_note_timeless(const struct kmap_query *a, const char *what, const struct census_out *out)
{
	if (a->m->timeless)
		out->note(out->arg, "objects with an implausible time of free, above 10^11, %s: %" PRIu64,
			  what, a->m->timeless);
}

void kmap_note_idle(const struct kmap_query *a, const struct census_out *out)
{
	if (kmap_accesses_sampled(a->m))
		out->note(out->arg, "untouched, only read and only written apply to the time an object was watched; objects that were never watched are not counted");
}

/* ---- columns ---- */

void kmap_row_cache(struct report_row *r, unsigned at, const struct kmap_cache *c)
{
	row_s(r, at, c->name);
	row_s(r, at + 1, c->type);
}

void kmap_row_site(struct report_row *r, unsigned at, const struct kmap_query *a,
		   const struct kmap_site *s)
{
	/* Memorizer has small numbers and words where there is no address. */
	const char *function = s->code == KMAP_NONE ? NULL : kmap_name(a->n, s->code)->function;

	row_s(r, at + 1, function ? function : s->name);
	if (s->code == KMAP_NONE)
		return;
	row_u(r, at, s->key.a);
	row_s(r, at + 2, kmap_name(a->n, s->code)->file);
}

void kmap_row_estimate(struct report_row *r, unsigned at, const struct kmap_query *a,
		       const struct kmap_sums *s)
{
	uint64_t accesses, error;

	if (!kmap_estimate(a->m, s, &accesses, &error))
		return;
	row_u(r, at, accesses);
	row_u(r, at + 1, error);
}

void kmap_site_word(const struct kmap_query *a, const struct kmap_site *s, struct buf *b)
{
	char place[600], word[80];

	if (s->name || s->code != KMAP_NONE)
		buf_printf(b, "%s ", s->name ? s->name : kmap_place(a->n, s->code, place));
	buf_str(b, kmap_cache_word(kmap_cache(a->m, s->cache), word));
}

struct chart_order *kmap_by_weight(size_t n, kmap_weight_fn *weight, const void *of,
				   struct atw_err *err)
{
	struct chart_order *o = calloc(n + 1, sizeof(*o));

	if (!o)
		return atw_err_nomem(err), NULL;
	for (size_t i = 0; i < n; i++)
		o[i] = (struct chart_order){ .weight = weight(of, i), .at = i };
	qsort(o, n, sizeof(*o), chart_heavier);
	return o;
}

int kmap_by_keys(const void *a, const void *b)
{
	const struct kmap_sorted *x = a, *y = b;

	for (size_t i = 0; i < ARRAY_SIZE(x->key); i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* ---- pictures ---- */

const char *kmap_of(const struct kmap_query *a, const char *what, char buf[160])
{
	snprintf(buf, 160, "%s%s%s", what, *a->about ? "; " : "", a->about);
	return buf;
}

const char **kmap_cache_words(const struct kmap_model *m, struct atw_err *err)
{
	const size_t n = m->cache.n, room = 80;
	const char **name = calloc(n + 1, sizeof(*name) + room);
	char *text;

	if (!name) {
		atw_err_nomem(err);
		return NULL;
	}
	text = (char *)(name + n + 1);
	for (size_t i = 0; i < n; i++)
		name[i] = kmap_cache_word(kmap_cache(m, i), text + i * room);
	return name;
}

const char **kmap_unit_words(const struct kmap_units *u, struct atw_err *err)
{
	const char **name = calloc(u->n + 1, sizeof(*name));

	if (!name)
		atw_err_nomem(err);
	for (size_t i = 0; name && i < u->n; i++)
		name[i] = u->v[i].name ? u->v[i].name : "?";
	return name;
}

const struct chart_key kmap_reads_writes[2] = {
	{ "reads", 0x0072b2 }, { "writes", 0xd55e00 },
};

int kmap_draw_bars(const struct kmap_query *a, const struct kmap_bars *b, struct scene *s,
		   struct atw_err *err)
{
	_auto_free struct chart_bar *bar = calloc(b->n + 1, sizeof(*bar));
	_auto_free uint64_t *value = calloc(b->n * b->nkeys + 1, sizeof(*value));
	_auto_free size_t *at = calloc(b->n + 1, sizeof(*at));
	struct buf names = { 0 };
	char of[160];
	const struct chart_bars c = {
		.head = { b->title, kmap_of(a, b->of, of), b->things, b->unit },
		.key = b->key, .nkeys = b->nkeys, .bar = bar, .n = b->n,
	};
	int r;

	if (!bar || !value || !at)
		return atw_err_nomem(err);
	for (size_t i = 0; i < b->n; i++) {
		at[i] = names.len;
		b->bar(a, b->arg, i, &names, value + i * b->nkeys);
		buf_char(&names, '\0');
	}
	for (size_t i = 0; i < b->n && !names.failed; i++)
		bar[i] = (struct chart_bar){ .name = names.data + at[i],
					     .value = value + i * b->nkeys };
	r = names.failed ? atw_err_nomem(err) : chart_bars(&c, s, err);
	buf_deinit(&names);
	return r;
}
