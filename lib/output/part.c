/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output/part.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/stream.h"

struct output_part {
	const struct atw_output *of;     /* nothing is read of it that changes */
	int (*send)(void *arg, const void *data, size_t len, struct atw_err *err);
	void *arg;
	struct atw_sink sink;
	struct writer w;
	union atw_value v[SCHEMA_MAX];
	struct tally tally;
	struct atw_err failure;
};

bool output_parts(const struct atw_output *out)
{
	return out->state == TAKING && out->sink.ops && out->sink.ops->apart && !out->waits &&
	       out->given && !out->tap && !out->sorter && !out->group && !out->annotate &&
	       !out->limit && !out->w.prompt && !out->sumless;
}

/* In place of the file: the writer's buffer is full. */
static bool part_send(void *arg, const char *data, size_t len)
{
	struct output_part *p = arg;

	return p->send(p->arg, data, len, &p->failure) == ATW_OK;
}

/* What begin() chose for the columns. */
static int part_copy_cells(struct output_part *p, struct atw_err *err)
{
	for (size_t i = 0; i < p->sink.sc->ncols; i++) {
		const struct cell *from = &p->of->sink.cell[i];
		struct cell *to = &p->sink.cell[i];

		to->width = from->width;
		to->widest = from->widest;
		to->right = from->right;
		if (from->lead.data)
			buf_add(&to->lead, from->lead.data, from->lead.len);
		if (to->lead.failed)
			return atw_err_nomem(err);
	}
	return ATW_OK;
}

int output_part_open(const struct atw_output *out,
		     int (*send)(void *arg, const void *data, size_t len, struct atw_err *err),
		     void *arg, struct output_part **ret, struct atw_err *err)
{
	struct output_part *p = calloc(1, sizeof(*p));
	const struct atw_sink *of = &out->sink;
	int rc;

	if (!p)
		return atw_err_nomem(err);
	p->of = out;
	p->send = send;
	p->arg = arg;
	rc = writer_init_fn(&p->w, part_send, p, err) ?:
	     sink_init(&p->sink, of->ops, &out->schema, &p->w, err) ?:
	     part_copy_cells(p, err);
	if (rc < 0) {
		output_part_close(p);
		return rc;
	}
	p->sink.units = of->units;
	p->sink.page_shift = of->page_shift;
	p->sink.color = of->color;
	p->sink.bare = of->bare;
	p->sink.page_units = of->page_units;
	p->sink.ahead = of->ahead;
	p->sink.listing = of->listing;
	p->sink.rows = 1;                /* it is never the first */
	*ret = p;
	return ATW_OK;
}

void output_part_close(struct output_part *p)
{
	if (!p)
		return;
	sink_deinit(&p->sink);
	writer_deinit(&p->w);
	free(p);
}

static int part_result(const struct output_part *p, struct atw_err *err)
{
	if (!p->w.error)
		return ATW_OK;
	if (p->failure.status)
		return atw_err_give(err, p->failure.status, &p->failure);
	return writer_failed(&p->w, outfile_name(&p->of->target), err);
}

int output_part_row(struct output_part *p, const struct atw_row *row, struct atw_err *err)
{
	struct atw_row shown = columns_of(&p->of->shown, p->of->as_is, row, p->v);
	int rc;

	if (p->sink.ops->sum)
		tally_add(&p->tally, p->sink.sc, &shown);
	else
		p->tally.rows++;
	rc = p->sink.ops->row(&p->sink, &shown, err);
	writer_row_end(&p->w);
	return rc < 0 ? rc : part_result(p, err);
}

int output_part_heading(struct output_part *p, const char *text, struct atw_err *err)
{
	struct buf b = { 0 };

	buf_char(&b, '\n');
	text_plain(&b, text);
	buf_char(&b, '\n');
	writer_buf(&p->w, &b);
	buf_deinit(&b);
	return part_result(p, err);
}

int output_part_flush(struct output_part *p, struct output_part_sums *ret, struct atw_err *err)
{
	if (p->w.len)
		writer_flush(&p->w);
	ret->rows = p->tally.rows;
	ret->unknown = p->tally.unknown;
	memcpy(ret->v, p->tally.v, sizeof(ret->v));
	p->tally = (struct tally){ .rows = 0 };
	return part_result(p, err);
}

/* ---- in the owner's thread ---- */

int output_take(struct atw_output *out, const void *data, size_t len, struct atw_err *err)
{
	int rc = out->state != TAKING ? out->failure.status :
		 out->behind ? behind_wait(out->behind, &out->failure) : ATW_OK;

	if (rc == ATW_OK) {
		writer_pass(&out->w, data, len);
		rc = out->w.error ? output_write_failed(out, &out->failure) : ATW_OK;
	}
	if (rc < 0)
		out->state = FAILED;
	return atw_err_give(err, rc, &out->failure);
}

void output_take_sums(struct atw_output *out, const struct output_part_sums *s)
{
	out->rows += s->rows;
	out->given += s->rows;
	if (!out->sink.ops->sum)
		return;
	out->tally.rows += s->rows;
	out->tally.unknown |= s->unknown;
	for (size_t i = 0; i < out->schema.ncols; i++)
		if (__builtin_add_overflow(out->tally.v[i], s->v[i], &out->tally.v[i]))
			out->tally.unknown |= (uint64_t)1 << i;
}
