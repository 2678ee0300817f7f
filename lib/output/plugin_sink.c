/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin_sink.c - sinks of plugins: rows are kept by column until there is a batch of them.
 *
 * A plugin and the program call each other from one thread at a time, so rows of such a sink
 * are formatted where they are emitted and not behind (see behind.h).
 */
#include "output/plugin_sink.h"

#include <stdlib.h>

#include "output/batch.h"

struct atw_plugin_stream {
	struct writer *w;
	const char *plugin;
};

/* A table in progress. */
struct sink_table {
	const struct plugin_sink *of;
	struct atw_plugin_stream to;
	void *state;
	bool begun;
	struct row_batch batch;
	struct atw_plugin_column *col;
	const struct atw_plugin_column **in;
	char (*unit)[16];        /* of columns that are rates */
};

int plugin_stream_write(struct atw_plugin_stream *to, const void *data, size_t len,
			struct atw_err *err)
{
	writer_put(to->w, data, len);
	return to->w->error ? writer_failed(to->w, to->plugin, err) : ATW_OK;
}

/*
 * What a function of the plugin returned. Where writing failed, the pipeline reports that,
 * whatever the plugin made of it.
 */
static int sink_result(const struct sink_table *t, int r, struct atw_err *why,
		       struct atw_err *err)
{
	if (t->to.w->error)
		return ATW_OK;
	return atw_err_give(err, batch_result(r, t->of->plugin, why), why);
}

static int sink_pass(struct sink_table *t, struct atw_err *err)
{
	const union atw_cell *in[SCHEMA_MAX];
	const uint64_t *known[SCHEMA_MAX];
	const struct atw_batch b = {
		.size = sizeof(b), .nrows = (uint32_t)t->batch.n, .in = in, .in_known = known,
	};
	struct atw_err why = { 0 };
	int r;

	if (!t->batch.n)
		return ATW_OK;
	for (size_t i = 0; i < t->batch.ncols; i++) {
		in[i] = batch_cells(&t->batch, i);
		known[i] = batch_known(&t->batch, i);
	}
	r = sink_result(t, t->of->of.rows(t->state, &b, &why), &why, err);
	batch_clear(&t->batch);
	return r;
}

static int sink_plugin_row(struct atw_sink *k, const struct atw_row *row, struct atw_err *err)
{
	struct sink_table *t = k->own;
	bool done = true;

	for (size_t i = 0; i < k->sc->ncols; i++) {
		union atw_value v = row->v[i];

		/* A list is its length, as in every format but JSON. */
		if (k->sc->col[i].type == ATW_T_LIST && row_has(row, i))
			v.u = row->v[i].list->n;
		done &= batch_set(&t->batch, i, &k->sc->col[i], v, row_has(row, i));
	}
	if (!done)
		return atw_err_nomem(err);
	batch_added(&t->batch);
	/* On a terminal a row is seen when it is emitted. */
	return t->batch.n == ROW_BATCH_ROWS || k->w->prompt ? sink_pass(t, err) : ATW_OK;
}

static int sink_plugin_flush(struct atw_sink *k, struct atw_err *err)
{
	return sink_pass(k->own, err);
}

static int sink_plugin_end(struct atw_sink *k, struct atw_err *err)
{
	struct sink_table *t = k->own;
	struct atw_err why = { 0 };
	int r = sink_pass(t, err);

	if (r < 0 || !t->of->of.finish)
		return r;
	return sink_result(t, t->of->of.finish(t->state, &why), &why, err);
}

static void sink_plugin_drop(struct atw_sink *k)
{
	struct sink_table *t = k->own;

	if (!t)
		return;
	if (t->begun && t->of->of.end)
		t->of->of.end(t->state);
	batch_deinit(&t->batch);
	free(t->col);
	free(t->in);
	free(t->unit);
	free(t);
}

/* What the plugin learns of the columns. */
static bool sink_describe(struct sink_table *t, const struct atw_schema *sc)
{
	t->col = calloc(sc->ncols, sizeof(*t->col));
	t->in = calloc(sc->ncols, sizeof(*t->in));
	t->unit = calloc(sc->ncols, sizeof(*t->unit));
	if (!t->col || !t->in || !t->unit)
		return false;
	for (size_t i = 0; i < sc->ncols; i++) {
		t->in[i] = &t->col[i];
		batch_describe(&sc->col[i], &t->col[i], t->unit[i]);
	}
	return true;
}

static int sink_plugin_begin(struct atw_sink *k, const struct atw_schema *sc,
			     struct atw_err *err)
{
	const struct plugin_sink *of = (const struct plugin_sink *)k->ops;
	struct sink_table *t = k->own = calloc(1, sizeof(*t));
	struct atw_listing l = {
		.size = sizeof(l), .name = sc->name, .flags = k->listing,
		.ninputs = (uint32_t)sc->ncols,
	};
	struct atw_err why = { 0 };
	int r;

	if (!t)
		return atw_err_nomem(err);
	t->of = of;
	t->to = (struct atw_plugin_stream){ k->w, of->plugin };
	if (!sink_describe(t, sc))
		return atw_err_nomem(err);
	r = batch_init(&t->batch, sc->ncols, err);
	if (r < 0)
		return r;
	l.inputs = t->in;
	r = sink_result(t, of->of.begin(of->instance, &l, &t->to, &t->state, &why), &why, err);
	t->begun = r == ATW_OK;
	return r;
}

void plugin_sink_init(struct plugin_sink *s)
{
	s->ops = (struct atw_sink_ops){
		.name = s->of.name,
		.help = s->of.help ? s->of.help : "",
		.binary = s->of.flags & ATW_SINK_BINARY,
		.here = true,
		.begin = sink_plugin_begin,
		.row = sink_plugin_row,
		.flush = sink_plugin_flush,
		.end = sink_plugin_end,
		.drop = sink_plugin_drop,
	};
}
