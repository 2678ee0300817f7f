/* SPDX-License-Identifier: GPL-2.0-or-later */
/* group.c - grouping of rows by the value of a column. */
#include "record/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "record/intern.h"
#include "record/schema.h"

/* Words of a group: its value, `have` of the grouped row, count, sums. */
enum { W_VALUE, W_HAVE, W_COUNT, W_SUM };

struct group {
	struct atw_schema schema;
	struct atw_column col[SCHEMA_MAX];
	unsigned from[SCHEMA_MAX];       /* the column that col[i] sums up */
	unsigned key;                    /* the grouped column */
	bool text;                       /* it is a text */

	struct intern texts;
	uint64_t *words;
	size_t nwords, cap, stride;
	struct table table;              /* 1 + number of the group */
	size_t next;
	union atw_value out[SCHEMA_MAX];
};

static void group_add_sum(struct group *g, const struct atw_schema *sc, unsigned from)
{
	struct atw_column *c = &g->col[g->schema.ncols];

	*c = sc->col[from];
	/* A schema may have very many columns of pages. */
	c->hidden = c->hidden && c->type != ATW_T_BYTES && from != g->key;
	if (from == g->key) {
		c->key = "total";
		c->help = "sum over the group";
	}
	g->from[g->schema.ncols++] = from;
}

/* `pages` may be a count that is not converted. */
static bool group_is_size(const struct atw_column *c)
{
	return c->type == ATW_T_BYTES || c->type == ATW_T_PAGES ||
	       (c->type == ATW_T_COUNT && !strcmp(c->key, "pages"));
}

static void group_make_schema(struct group *g, const struct atw_schema *sc)
{
	int size = schema_find(sc, "size", 4);

	g->schema.name = sc->name;
	g->schema.col = g->col;
	g->col[0] = sc->col[g->key];
	g->col[0].hidden = false;
	g->col[1] = (struct atw_column){
		.key = strcmp(g->col[0].key, "count") ? "count" : "rows",
		.help = "rows of the group",
		.type = ATW_T_COUNT,
	};
	g->schema.ncols = 2;
	if (size >= 0 && sc->col[size].type == ATW_T_BYTES) {
		group_add_sum(g, sc, (unsigned)size);
		return;
	}
	for (unsigned i = 0; i < sc->ncols; i++)
		if (group_is_size(&sc->col[i]) && g->schema.ncols < SCHEMA_MAX)
			group_add_sum(g, sc, i);
}

int group_create(const char *key, const struct atw_schema *sc,
		 struct group **ret, struct atw_err *err)
{
	int i = schema_named(sc, key, strlen(key));
	struct group *g;

	if (i < 0)
		return schema_unknown(sc, ATW_PARAM_GROUP, key, strlen(key), err);
	if (sc->col[i].type == ATW_T_LIST)
		return atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_GROUP,
					 "'%s' is a list: no two rows have it in common",
					 sc->col[i].key);
	g = calloc(1, sizeof(*g));
	if (!g)
		return atw_err_nomem(err);
	g->key = (unsigned)i;
	g->text = sc->col[i].type == ATW_T_TEXT;
	group_make_schema(g, sc);
	g->stride = W_SUM + g->schema.ncols - 2;
	*ret = g;
	return ATW_OK;
}

void group_destroy(struct group *g)
{
	if (!g)
		return;
	intern_deinit(&g->texts);
	free(g->words);
	table_deinit(&g->table);
	free(g);
}

const struct atw_schema *group_schema(const struct group *g)
{
	return &g->schema;
}

/* The group of the value, new or known; NULL: no memory. */
static uint64_t *group_find(struct group *g, uint64_t value, bool have)
{
	const uint64_t key = hash_two(value, have);
	const struct table_slot *s = NULL;
	uint64_t *w;

	while ((s = table_next(&g->table, key, s))) {
		w = g->words + (s->value - 1) * g->stride;
		if (w[W_VALUE] == value && (w[W_HAVE] & 1) == have)
			return w;
	}
	if (!array_reserve((void **)&g->words, &g->cap, g->nwords + g->stride,
			   sizeof(*g->words)) ||
	    !table_add(&g->table, key, g->nwords / g->stride + 1))
		return NULL;
	w = g->words + g->nwords;
	memset(w, 0, g->stride * sizeof(*w));
	w[W_VALUE] = value;
	w[W_HAVE] = 2 | have;            /* `count` is never n/a */
	g->nwords += g->stride;
	return w;
}

int group_add(struct group *g, const struct atw_row *row, struct atw_err *err)
{
	bool have = row->have >> g->key & 1;
	uint64_t value = 0, *w = NULL;

	if (have && !g->text) {
		value = row->v[g->key].u;
	} else if (have && row->v[g->key].s) {
		const char *s = row->v[g->key].s;

		value = (uintptr_t)intern_text(&g->texts, s, strlen(s));
		if (!value)
			goto nomem;
	} else {
		have = false;
	}
	w = group_find(g, value, have);
	if (!w)
		goto nomem;
	w[W_COUNT]++;
	for (size_t i = 2; i < g->schema.ncols; i++) {
		uint64_t *sum = &w[W_SUM + i - 2];

		if (!(row->have >> g->from[i] & 1))
			continue;
		sum_u64(sum, row->v[g->from[i]].u);
		w[W_HAVE] |= (uint64_t)1 << i;
	}
	return ATW_OK;
nomem:
	return atw_err_set_param(err, ATW_E_NOMEM, ATW_PARAM_GROUP,
				 "not enough memory for %zu groups",
				 g->nwords / g->stride + 1);
}

bool group_next(struct group *g, struct atw_row *ret)
{
	const uint64_t *w;

	if (g->next == g->nwords / g->stride)
		return false;
	w = g->words + g->next++ * g->stride;
	if (g->text)
		g->out[0].s = (const char *)(uintptr_t)w[W_VALUE];
	else
		g->out[0].u = w[W_VALUE];
	for (size_t i = 1; i < g->schema.ncols; i++)
		g->out[i].u = w[W_COUNT + i - 1];
	*ret = (struct atw_row){ .v = g->out, .have = w[W_HAVE] };
	return true;
}
