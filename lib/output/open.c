/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - creation of an output, validation of its options, list of its formats. */
#include <unistd.h>

#include "base/cleanup.h"
#include "output/stream.h"

static const struct atw_sink_ops *const kinds[] = {
#define SINK(name) &sink_##name,
#include "output/sinks.def"
#undef SINK
};

const struct atw_sink_ops *atw_sink_kind(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? kinds[i] : NULL;
}

/* By its name; fails with the list of existing ones. */
static int open_find_sink(const char *format, const struct atw_sink_ops **ret,
			  struct atw_err *err)
{
	struct buf known = { 0 };
	int rc;

	if (!format || !*format) {
		*ret = kinds[0];
		return ATW_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i]->name, format)) {
			buf_deinit(&known);
			*ret = kinds[i];
			return ATW_OK;
		}
		if (i)
			buf_str(&known, ", ");
		buf_str(&known, kinds[i]->name);
	}
	rc = atw_err_set_param(err, ATW_E_USAGE, ATW_PARAM_FORMAT,
			       "unknown format '%.64s'; known: %s", format,
			       known.data ? known.data : "");
	buf_deinit(&known);
	return rc;
}

/* An empty option cancels one from the configuration. */
static bool open_given(const char *option)
{
	return option && *option;
}

static int open_sorter(struct atw_output *out, const struct atw_output_opts *o,
		       const struct atw_schema *sc, struct atw_err *err)
{
	struct sort_keys keys = { .n = 1 };      /* by the grouped value */
	int rc;

	if (!out->group && !open_given(o->sort))
		return ATW_OK;
	if (open_given(o->sort)) {
		rc = sort_parse(o->sort, sc, &keys, err);
		if (rc < 0)
			return rc;
	}
	return sorter_create(sc, &keys, &out->shown, &out->sorter, err);
}

static void open_choose(struct atw_output *out, const struct atw_schema *sc)
{
	out->as_is = out->shown.n == sc->ncols;
	for (size_t i = 0; i < out->shown.n; i++) {
		out->col[i] = sc->col[out->shown.at[i]];
		if (out->shown.at[i] != i)
			out->as_is = false;
	}
	out->schema = (struct atw_schema){
		.name = sc->name, .col = out->col, .ncols = out->shown.n,
	};
}

/* All options are validated here, before any row. */
static const struct atw_output_opts usual;       /* all zero */

/*
 * The filter, and what plugins add. A filter about the columns of the listing alone is
 * applied first: rows that it drops need no others.
 */
static int open_rows(struct atw_output *out, const struct atw_output_opts *o,
		     const struct atw_schema **sc, struct atw_err *err)
{
	struct atw_err early = { 0 };
	bool filters = open_given(o->filter);
	int rc = filters ? filter_create(o->filter, *sc, &out->filter, &early) : ATW_OK;

	if (rc < 0 && (rc == ATW_E_NOMEM || !o->nannotators))
		return atw_err_give(err, rc, &early);
	out->late = rc < 0;
	rc = o->nannotators ? annotate_open(o->annotators, o->nannotators, *sc,
					    o->listing, &out->annotate, err) : ATW_OK;
	if (rc == ATW_OK && out->annotate)
		*sc = annotate_schema(out->annotate);
	if (rc == ATW_OK && out->late)
		rc = filter_create(o->filter, *sc, &out->filter, err);
	if (rc == ATW_OK && out->filter && o->page_shift)
		filter_page(out->filter, o->page_shift);
	return rc;
}

static int open_check(struct atw_output *out, const struct atw_output_opts *o,
		      const struct atw_schema *sc, const struct atw_sink_ops **ops,
		      struct atw_err *err)
{
	int rc = ATW_OK;

	if (!*ops && o->sink)
		*ops = o->sink;
	else if (!*ops)
		rc = open_find_sink(o->format, ops, err);
	if (rc == ATW_OK && (!sc || !sc->col || !sc->ncols))
		rc = atw_err_set(err, ATW_E_USAGE, "a schema without columns");
	if (rc == ATW_OK && (unsigned)o->units > ATW_UNITS_PAGES)
		rc = atw_err_set(err, ATW_E_USAGE, "units of no known kind (%d)", (int)o->units);
	if (rc == ATW_OK && o->page_shift > 32)
		rc = atw_err_set(err, ATW_E_USAGE,
				 "pages of 2^%u bytes are not pages",
				 o->page_shift);
	if (rc == ATW_OK && sc->ncols > SCHEMA_MAX)
		rc = atw_err_set(err, ATW_E_USAGE,
				 "schema '%s' has more than %d columns",
				 sc->name, SCHEMA_MAX);
	if (rc == ATW_OK)
		rc = open_rows(out, o, &sc, err);
	if (rc == ATW_OK && open_given(o->group)) {
		rc = group_create(o->group, sc, &out->group, err);
		/* From here on, columns are those of the groups. */
		if (rc == ATW_OK)
			sc = group_schema(out->group);
	}
	if (rc == ATW_OK)
		rc = schema_choose(sc, ATW_PARAM_COLUMNS, o->columns, &out->shown, err) ?:
		     open_sorter(out, o, sc, err);
	if (rc == ATW_E_USAGE && out->group)
		atw_err_hint(err, "rows are grouped by '%s': they have the columns of groups alone",
			     o->group);
	if (rc == ATW_OK)
		open_choose(out, sc);
	return rc;
}

int output_write_failed(struct atw_output *out, struct atw_err *err)
{
	return writer_failed(&out->w, outfile_name(&out->target), err);
}

static int open_target(struct atw_output *out, const struct atw_output_opts *o, int fd,
		       struct atw_err *err)
{
	if (fd < 0)
		return o->private ? outfile_open_private(o->path, &out->target, err)
				  : outfile_open(o->path, &out->target, err);
	out->target.fd = fd;
	if (o->path) {
		out->target.path = strdup(o->path);
		if (!out->target.path)
			return atw_err_nomem(err);
	}
	return ATW_OK;
}

int output_begin(struct atw_output *out, struct atw_err *err)
{
	int rc = out->sink.ops->begin(&out->sink, &out->schema, err);

	if (rc < 0)
		return rc;
	writer_row_end(&out->w);
	return out->w.error ? output_write_failed(out, err) : ATW_OK;
}

/* Rows are kept without them. */
static bool open_has_list(const struct atw_schema *sc)
{
	for (size_t i = 0; i < sc->ncols; i++)
		if (sc->col[i].type == ATW_T_LIST)
			return true;
	return false;
}

static int open_check_terminal(const struct atw_output *out, const struct atw_sink_ops *ops,
			       struct atw_err *err)
{
	if (!ops->binary || !isatty(out->target.fd))
		return ATW_OK;
	atw_err_set(err, ATW_E_USAGE, "refusing to write %s to a terminal", ops->name);
	atw_err_hint(err, "write it to a file or a pipe");
	return ATW_E_USAGE;
}

static int open_start(struct atw_output *out, const struct atw_output_opts *o,
		      const struct atw_sink_ops *ops, int fd, struct atw_err *err)
{
	int rc = open_target(out, o, fd, err) ?:
		 open_check_terminal(out, ops, err) ?:
		 writer_init(&out->w, out->target.fd, err) ?:
		 sink_init(&out->sink, ops, &out->schema, &out->w, err);
	bool lists;

	if (rc < 0)
		return rc;
	out->sink.units = o->units;
	out->sink.page_shift = o->page_shift ? o->page_shift : 12;
	out->sink.color = o->color;
	out->sink.bare = o->bare;
	out->sink.page_units = o->page_units;
	out->sink.listing = o->listing;
	out->limit = o->limit;
	out->sum = o->sum;
	out->sumless = o->sumless;
	lists = open_has_list(&out->schema);
	/* Groups come all at once, after the last row. */
	out->waits = (o->ahead || out->group) && ops->measure && !lists;
	/* On a terminal a row is seen when it is emitted. */
	if (o->threads && !lists && !out->w.prompt && !ops->here)
		out->behind = behind_open(out);
	if (!out->waits)
		return output_begin(out, err);
	out->sink.ahead = o->ahead;
	out->sink.notes = true;
	return ATW_OK;
}

/* Rows that go to a function need neither columns nor a sink. */
static int open_tap(struct atw_output *out, const struct atw_output_opts *o,
		    const struct atw_schema *sc, struct atw_err *err)
{
	int rc = open_rows(out, o, &sc, err);

	out->tap = o->tap;
	return rc == ATW_OK ? o->tap->open(o->tap->arg, sc, err) : rc;
}

int output_open_part(const struct atw_output_opts *o, const struct atw_schema *sc,
		     const struct atw_sink_ops *ops, int fd, struct atw_output **ret,
		     struct atw_err *err)
{
	struct atw_output *out = calloc(1, sizeof(*out));
	int rc;

	if (!out)
		return atw_err_nomem(err);
	out->target.fd = -1;
	o = o ? o : &usual;
	if (o->tap) {
		rc = open_tap(out, o, sc, err);
	} else {
		rc = open_check(out, o, sc, &ops, err) ?:
		     open_start(out, o, ops, fd, err);
	}
	if (rc < 0) {
		atw_output_close(out);
		return rc;
	}
	*ret = out;
	return ATW_OK;
}

int atw_output_check(const struct atw_output_opts *o, const struct atw_schema *sc,
		     struct atw_err *err)
{
	struct atw_output *out = calloc(1, sizeof(*out));
	const struct atw_sink_ops *ops = NULL;
	int rc;

	if (!out)
		return atw_err_nomem(err);
	out->target.fd = -1;
	rc = open_check(out, o ? o : &usual, sc, &ops, err);
	atw_output_close(out);
	return rc;
}

int atw_output_open(const struct atw_output_opts *o,
		    const struct atw_schema *sc, struct atw_output **ret,
		    struct atw_err *err)
{
	return output_open_part(o, sc, NULL, -1, ret, err);
}
