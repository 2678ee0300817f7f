/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.c - the way from rows to bytes.
 *
 *	row -> filter -> group \
 *	              `-> sort  -> columns -> sink -> writer -> target
 *
 * Rows stream through all of it, except that groups are known when the last
 * row was seen, and so is the order of sorted ones.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <atwalk/record.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "output/sink.h"
#include "output/target.h"
#include "record/filter.h"
#include "record/group.h"
#include "record/sort.h"

enum state { TAKING, COMMITTED, FAILED };

struct atw_output {
	struct filter *filter;           /* NULL: every row */
	struct group *group;             /* NULL: rows as they are */
	struct sorter *sorter;           /* NULL: in the order they come */

	struct columns shown;            /* of what reaches the sink */
	bool as_is;                      /* all of them, in their order */
	struct atw_column col[SCHEMA_MAX];
	struct atw_schema schema;
	union atw_value v[SCHEMA_MAX];

	struct atw_sink sink;
	struct writer w;
	struct target target;
	struct buf notes;
	struct buf heading;              /* for the next row; empty: none */
	uint64_t rows;                   /* past the filter */
	bool dropped;                    /* the last one was not */

	enum state state;
	struct atw_err failure;          /* FAILED: why */
};

/* An empty option takes back one that was configured. */
static bool given(const char *option)
{
	return option && *option;
}

static int open_sorter(struct atw_output *out, const struct atw_output_opts *o,
		       const struct atw_schema *sc, struct atw_err *err)
{
	struct sort_keys keys = { .n = 1 };      /* by the grouped value */
	int rc;

	if (!out->group && !given(o->sort))
		return ATW_OK;
	if (given(o->sort)) {
		rc = sort_parse(o->sort, sc, &keys, err);
		if (rc < 0)
			return rc;
	}
	return sorter_create(sc, &keys, &out->shown, &out->sorter, err);
}

static void choose(struct atw_output *out, const struct atw_schema *sc)
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

/* Everything that can be wrong about what was typed is found out here. */
static int check(struct atw_output *out, const struct atw_output_opts *o,
		 const struct atw_schema *sc, const struct atw_sink_ops **ops,
		 struct atw_err *err)
{
	int rc = *ops ? ATW_OK : sink_find(o->format, ops, err);

	if (rc == ATW_OK && o->page_shift > 32)
		rc = atw_err_set(err, ATW_E_USAGE,
				 "pages of 2^%u bytes are not pages",
				 o->page_shift);
	if (rc == ATW_OK && sc->ncols > SCHEMA_MAX)
		rc = atw_err_set(err, ATW_E_USAGE,
				 "schema '%s' has more than %d columns",
				 sc->name, SCHEMA_MAX);
	if (rc == ATW_OK && given(o->filter))
		rc = filter_create(o->filter, sc, &out->filter, err);
	if (rc == ATW_OK && given(o->group)) {
		rc = group_create(o->group, sc, &out->group, err);
		/* From here on, columns are those of the groups. */
		if (rc == ATW_OK)
			sc = group_schema(out->group);
	}
	if (rc == ATW_OK)
		rc = schema_choose(sc, "--columns", o->columns, &out->shown, err);
	if (rc == ATW_OK)
		rc = open_sorter(out, o, sc, err);
	if (rc == ATW_OK)
		choose(out, sc);
	return rc;
}

static int write_failed(struct atw_output *out, struct atw_err *err)
{
	int status = out->w.error == ENOMEM ? ATW_E_NOMEM : ATW_E_IO;

	errno = out->w.error;
	return atw_err_set(err, status, "%s: cannot write: %m",
			   target_name(&out->target));
}

static int open_target(struct atw_output *out, const struct atw_output_opts *o, int fd,
		       struct atw_err *err)
{
	if (fd < 0)
		return target_open(o->path, &out->target, err);
	out->target.fd = fd;
	if (o->path) {
		out->target.path = strdup(o->path);
		if (!out->target.path)
			return atw_err_set(err, ATW_E_NOMEM,
					   "not enough memory for the output");
	}
	return ATW_OK;
}

static int start(struct atw_output *out, const struct atw_output_opts *o,
		 const struct atw_sink_ops *ops, int fd, struct atw_err *err)
{
	int rc = open_target(out, o, fd, err);

	if (rc == ATW_OK)
		rc = writer_init(&out->w, out->target.fd, err);
	if (rc == ATW_OK)
		rc = sink_init(&out->sink, ops, &out->schema, &out->w, err);
	if (rc < 0)
		return rc;
	out->sink.units = o->units;
	out->sink.page_shift = o->page_shift ? o->page_shift : 12;
	out->sink.color = o->color;
	out->sink.bare = o->bare;
	rc = ops->begin(&out->sink, &out->schema, err);
	if (rc < 0)
		return rc;
	writer_row_end(&out->w);
	return out->w.error ? write_failed(out, err) : ATW_OK;
}

int output_open_part(const struct atw_output_opts *o, const struct atw_schema *sc,
		     const struct atw_sink_ops *ops, int fd, struct atw_output **ret,
		     struct atw_err *err)
{
	struct atw_output *out = calloc(1, sizeof(*out));
	int rc;

	if (!out)
		return atw_err_set(err, ATW_E_NOMEM,
				   "not enough memory for the output");
	out->target.fd = -1;
	rc = check(out, o, sc, &ops, err);
	if (rc == ATW_OK)
		rc = start(out, o, ops, fd, err);
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
		return atw_err_set(err, ATW_E_NOMEM, "not enough memory for the output");
	out->target.fd = -1;
	rc = check(out, o, sc, &ops, err);
	atw_output_close(out);
	return rc;
}

int atw_output_open(const struct atw_output_opts *o,
		    const struct atw_schema *sc, struct atw_output **ret,
		    struct atw_err *err)
{
	return output_open_part(o, sc, NULL, -1, ret, err);
}

static void put_heading(struct atw_output *out)
{
	writer_char(&out->w, '\n');
	sink_put(&out->sink, &out->heading);
	writer_char(&out->w, '\n');
	out->heading.len = 0;
}

/* The columns that are shown, to the sink. */
static int emit(struct atw_output *out, const struct atw_row *row,
		struct atw_err *err)
{
	struct atw_row chosen = { .v = out->v };
	int rc;

	if (!out->as_is) {
		for (size_t i = 0; i < out->shown.n; i++) {
			unsigned at = out->shown.at[i];

			out->v[i] = row->v[at];
			chosen.have |= (row->have >> at & 1) << i;
		}
		row = &chosen;
	}
	if (out->heading.len)
		put_heading(out);
	rc = out->sink.ops->row(&out->sink, row, err);
	if (rc < 0)
		return rc;
	out->sink.rows++;
	writer_row_end(&out->w);
	return out->w.error ? write_failed(out, err) : ATW_OK;
}

/* The first failure stays: nothing may be put in place after it. */
static int fail(struct atw_output *out, int rc, struct atw_err *err)
{
	if (rc < 0) {
		out->state = FAILED;
		if (err)
			*err = out->failure;
	}
	return rc;
}

static int not_taking(struct atw_output *out, struct atw_err *err)
{
	if (out->state == FAILED)
		return fail(out, out->failure.status, err);
	return atw_err_set(err, ATW_E_USAGE, "the output is already complete");
}

int atw_output_row(struct atw_output *out, const struct atw_row *row,
		   struct atw_err *err)
{
	int rc;

	if (out->state != TAKING)
		return not_taking(out, err);
	out->dropped = out->filter && !filter_match(out->filter, row);
	if (out->dropped)
		return ATW_OK;
	out->rows++;
	if (out->group)
		rc = group_add(out->group, row, &out->failure);
	else if (out->sorter)
		rc = sorter_add(out->sorter, row, &out->failure);
	else
		rc = emit(out, row, &out->failure);
	return rc < 0 ? fail(out, rc, err) : ATW_OK;
}

uint64_t atw_output_rows(const struct atw_output *out)
{
	return out->rows;
}

/* NULL: no memory. */
static char *formatted(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

int atw_output_heading(struct atw_output *out, const char *fmt, ...)
{
	_auto_free char *text = NULL;
	va_list ap;

	if (out->state != TAKING)
		return not_taking(out, NULL);
	if (!out->sink.notes || out->sink.put_notes || out->sorter || out->group)
		return ATW_OK;
	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (!text)
		return ATW_E_NOMEM;
	out->heading.len = 0;
	text_plain(&out->heading, text);
	return out->heading.failed ? ATW_E_NOMEM : ATW_OK;
}

int atw_output_text(struct atw_output *out, const char *fmt, ...)
{
	_auto_free char *text = NULL;
	struct buf safe = { 0 };
	va_list ap;

	if (out->state != TAKING)
		return not_taking(out, NULL);
	if (!out->sink.notes || out->sorter || out->group || out->dropped)
		return ATW_OK;
	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (text)
		text_lines(&safe, text);
	/* It is part of the answer: without it nothing may be put in place. */
	if (!text || safe.failed)
		fail(out, atw_err_set(&out->failure, ATW_E_NOMEM,
				      "not enough memory for the output"), NULL);
	else
		sink_put(&out->sink, &safe);
	writer_row_end(&out->w);
	buf_deinit(&safe);
	return out->state == FAILED ? out->failure.status : ATW_OK;
}

int atw_output_note(struct atw_output *out, const char *fmt, ...)
{
	_auto_free char *text = NULL;
	va_list ap;

	if (out->state != TAKING)
		return not_taking(out, NULL);
	if (!out->sink.notes)
		return ATW_OK;
	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (!text)
		return ATW_E_NOMEM;
	/* A blank line parts them from the table. */
	if (!out->notes.len && !out->sink.put_notes)
		buf_char(&out->notes, '\n');
	text_lines(&out->notes, text);
	if (!*text || text[strlen(text) - 1] != '\n')
		buf_char(&out->notes, '\n');
	return out->notes.failed ? ATW_E_NOMEM : ATW_OK;
}

/* What had to wait for the last row. */
static int drain(struct atw_output *out, struct atw_err *err)
{
	struct atw_row row;
	int rc = ATW_OK;

	while (rc == ATW_OK && out->group && group_next(out->group, &row))
		rc = sorter_add(out->sorter, &row, err);
	if (rc == ATW_OK && out->sorter)
		rc = sorter_finish(out->sorter, err);
	while (rc == ATW_OK && out->sorter && sorter_next(out->sorter, &row))
		rc = emit(out, &row, err);
	return rc;
}

static int finish(struct atw_output *out, struct atw_err *err)
{
	int rc = drain(out, err);

	if (rc == ATW_OK && out->sink.put_notes && out->notes.len) {
		out->sink.put_notes(&out->sink, out->notes.data);
		sink_check(&out->sink, &out->notes);
		out->notes.len = 0;
	}
	if (rc == ATW_OK)
		rc = out->sink.ops->end(&out->sink, err);
	if (rc < 0)
		return rc;
	sink_put(&out->sink, &out->notes);
	if (!writer_flush(&out->w))
		return write_failed(out, err);
	return target_commit(&out->target, err);
}

int atw_output_flush(struct atw_output *out, struct atw_err *err)
{
	int rc = ATW_OK;

	if (out->state != TAKING)
		return not_taking(out, err);
	if (!writer_flush(&out->w))
		rc = write_failed(out, &out->failure);
	return fail(out, rc, err);
}

int atw_output_commit(struct atw_output *out, struct atw_err *err)
{
	int rc;

	if (out->state != TAKING)
		return not_taking(out, err);
	rc = finish(out, &out->failure);
	if (rc < 0)
		return fail(out, rc, err);
	out->state = COMMITTED;
	return ATW_OK;
}

void atw_output_close(struct atw_output *out)
{
	if (!out)
		return;
	sink_deinit(&out->sink);
	writer_deinit(&out->w);
	target_close(&out->target);
	buf_deinit(&out->notes);
	buf_deinit(&out->heading);
	sorter_destroy(out->sorter);
	group_destroy(out->group);
	filter_destroy(out->filter);
	free(out);
}
