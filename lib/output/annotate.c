/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate.c - columns that plugins add to the rows of an output. */
#include "output/annotate.h"

#include <stdlib.h>
#include <string.h>

/* One that takes part. */
struct annotate_part {
	const struct annotator *of;
	void *state;
	int in[ATW_PLUGIN_COLUMNS];      /* columns of the rows; -1: not there */
	size_t out;                      /* the first that it adds */
	struct plugin_inputs inputs;
};

/*
 * Rows are kept as they came, with room for what is added; a batch has the columns that
 * plugins read and add.
 */
struct annotation {
	struct atw_schema schema;
	struct atw_column col[SCHEMA_MAX];
	struct atw_names names[SCHEMA_MAX];
	const struct atw_plugin_column *added[SCHEMA_MAX];       /* NULL: not by a plugin */
	size_t own;                      /* columns of the listing */
	uint64_t texts;                  /* those of them that are texts */
	size_t nparts;
	struct row_batch batch;
	uint8_t column[SCHEMA_MAX];      /* 1 + column of the batch; 0: it is not in it */
	uint8_t read[SCHEMA_MAX];        /* columns of the listing that are */
	size_t nread;
	union atw_value *v;              /* schema.ncols of each row */
	uint64_t *have;
	const char *last[SCHEMA_MAX];    /* the last copy of a text; NULL: none */
	size_t most;                     /* rows at a time */
	size_t next;                     /* row to be returned */
	struct annotate_part part[];
};

static int annotate_add_columns(struct annotation *a, const struct annotator *an,
				struct atw_err *err)
{
	for (size_t i = 0; i < an->out.n; i++) {
		const struct atw_plugin_column *c = &an->out.v[i];
		size_t n = a->schema.ncols;

		if (schema_find(&a->schema, c->name, strlen(c->name)) >= 0)
			return atw_err_set(err, ATW_E_USAGE,
					   "it adds the column '%.40s', which rows of '%.40s' have already",
					   c->name, a->schema.name);
		if (n == SCHEMA_MAX)
			return atw_err_set(err, ATW_E_USAGE, "rows of '%.40s' would have more than %d columns",
					   a->schema.name, SCHEMA_MAX);
		a->col[n] = batch_column(c, &a->names[n]);
		a->added[n] = c;
		a->schema.ncols++;
	}
	return ATW_OK;
}

static int annotate_begin(struct annotation *a, const struct annotator *an, uint32_t flags,
			  struct atw_err *err)
{
	struct annotate_part *p = &a->part[a->nparts];
	const struct atw_listing l = {
		.size = sizeof(l), .name = a->schema.name, .flags = flags,
		.ninputs = (uint32_t)an->in.n, .inputs = p->inputs.at,
	};
	struct atw_err why = { 0 };
	int r = batch_find_inputs(&an->in, &a->schema, p->in, &why);

	if (r < 0 && an->lenient)
		return ATW_OK;
	if (r == ATW_OK)
		batch_describe_inputs(&an->in, &a->schema, p->in, &p->inputs);
	p->of = an;
	p->state = an->instance;
	p->out = a->schema.ncols;
	if (r == ATW_OK)
		r = annotate_add_columns(a, an, &why);
	if (r == ATW_OK && an->of.begin)
		r = an->of.begin(an->instance, &l, &p->state, &why);
	if (r != ATW_OK)
		return atw_err_give(err, batch_result(r, an->plugin, &why), &why);
	a->nparts++;
	return ATW_OK;
}

static int annotate_init_batch(struct annotation *a, struct atw_err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < a->nparts; i++)
		for (size_t k = 0; k < a->part[i].of->in.n; k++) {
			int at = a->part[i].in[k];

			if (at < 0 || (size_t)at >= a->own || a->column[at])
				continue;
			a->read[a->nread++] = (uint8_t)at;
			a->column[at] = (uint8_t)++n;
		}
	for (size_t i = a->own; i < a->schema.ncols; i++)
		a->column[i] = (uint8_t)++n;
	a->v = calloc(a->most * (a->schema.ncols + 1), sizeof(*a->v));
	a->have = calloc(a->most, sizeof(*a->have));
	return a->v && a->have ? batch_init(&a->batch, n, err) : atw_err_nomem(err);
}

int annotate_open(const struct annotator *v, size_t n, const struct atw_schema *sc,
		  uint32_t flags, struct annotation **ret, struct atw_err *err)
{
	struct annotation *a = calloc(1, sizeof(*a) + n * sizeof(a->part[0]));
	int r = ATW_OK;

	if (!a)
		return atw_err_nomem(err);
	a->schema = (struct atw_schema){ .name = sc->name, .col = a->col, .ncols = sc->ncols };
	a->own = sc->ncols;
	a->most = ROW_BATCH_ROWS;
	for (size_t i = 0; i < sc->ncols; i++) {
		a->col[i] = sc->col[i];
		if (sc->col[i].type == ATW_T_TEXT)
			a->texts |= UINT64_C(1) << i;
		/* A list is there until the call that brings it returns. */
		if (sc->col[i].type == ATW_T_LIST)
			a->most = 1;
	}
	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = annotate_begin(a, &v[i], flags, err);
	if (r == ATW_OK && a->nparts)
		r = annotate_init_batch(a, err);
	if (r < 0 || !a->nparts) {
		annotate_close(a);
		a = NULL;
	}
	if (r == ATW_OK)
		*ret = a;
	return r;
}

const struct atw_schema *annotate_schema(const struct annotation *a)
{
	return &a->schema;
}

int annotate_add(struct annotation *a, const struct atw_row *row, bool *full,
		 struct atw_err *err)
{
	size_t n = a->batch.n;
	union atw_value *v = a->v + n * a->schema.ncols;

	memcpy(v, row->v, a->own * sizeof(*v));
	a->have[n] = row->have;
	for (uint64_t left = row->have & a->texts; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		a->last[i] = batch_text(&a->batch, a->last[i], v[i].s);
		if (!a->last[i])
			return atw_err_nomem(err);
		v[i].s = a->last[i];
	}
	for (size_t i = 0; i < a->nread; i++) {
		unsigned at = a->read[i];
		size_t to = a->column[at] - 1u;

		memcpy(&batch_cells(&a->batch, to)[n], &v[at], sizeof(*v));
		batch_known(&a->batch, to)[n / 64] |= (row->have >> at & 1) << n % 64;
	}
	batch_added(&a->batch);
	*full = a->batch.n == a->most;
	return ATW_OK;
}

static int annotate_run_part(struct annotation *a, const struct annotate_part *p,
			     struct atw_err *err)
{
	const union atw_cell *in[ATW_PLUGIN_COLUMNS];
	const uint64_t *in_known[ATW_PLUGIN_COLUMNS];
	union atw_cell *out[ATW_PLUGIN_COLUMNS];
	uint64_t *out_known[ATW_PLUGIN_COLUMNS];
	const struct atw_batch b = {
		.size = sizeof(b), .nrows = (uint32_t)a->batch.n,
		.in = in, .in_known = in_known, .out = out, .out_known = out_known,
	};
	struct atw_err why = { 0 };
	int r;

	for (size_t i = 0; i < p->of->in.n; i++) {
		bool there = p->in[i] >= 0;
		size_t at = there ? a->column[p->in[i]] - 1u : 0;

		in[i] = there ? batch_cells(&a->batch, at) : NULL;
		in_known[i] = there ? batch_known(&a->batch, at) : NULL;
	}
	for (size_t i = 0; i < p->of->out.n; i++) {
		size_t at = a->column[p->out + i] - 1u;

		out[i] = batch_cells(&a->batch, at);
		out_known[i] = batch_known(&a->batch, at);
	}
	r = p->of->of.rows(p->state, &b, &why);
	return atw_err_give(err, batch_result(r, p->of->plugin, &why), &why);
}

int annotate_run(struct annotation *a, struct atw_err *err)
{
	int r = ATW_OK;

	for (size_t i = 0; a->batch.n && i < a->nparts && r == ATW_OK; i++)
		r = annotate_run_part(a, &a->part[i], err);
	a->next = 0;
	return r;
}

bool annotate_next(struct annotation *a, struct atw_row *ret)
{
	size_t row = a->next;
	union atw_value *v = a->v + row * a->schema.ncols;

	if (row == a->batch.n) {
		batch_clear(&a->batch);
		memset(a->last, 0, sizeof(a->last));
		a->next = 0;
		return false;
	}
	for (size_t i = a->own; i < a->schema.ncols; i++) {
		size_t at = a->column[i] - 1u;
		const union atw_cell *cell = &batch_cells(&a->batch, at)[row];

		if (!batch_knows(&a->batch, at, row) || !batch_value_is_valid(a->added[i], cell))
			continue;
		memcpy(&v[i], cell, sizeof(*v));
		a->have[row] |= UINT64_C(1) << i;
	}
	*ret = (struct atw_row){ v, a->have[row] };
	a->next++;
	return true;
}

void annotate_close(struct annotation *a)
{
	if (!a)
		return;
	for (size_t i = a->nparts; i-- > 0;)
		if (a->part[i].of->of.end)
			a->part[i].of->of.end(a->part[i].state);
	batch_deinit(&a->batch);
	free(a->v);
	free(a->have);
	free(a);
}
