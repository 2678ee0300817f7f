/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.c - pipeline from rows to bytes.
 *
 *	row -> filter -> annotate -> group \
 *	                          `-> sort  -> columns -> sink -> writer -> target
 *
 * Columns of plugins are added to batches of rows; a filter about these follows then.
 * Rows are streamed through all of it, with these exceptions: groups are complete after
 * the last row, sorted rows are emitted then, and the first rows may be buffered to find
 * column widths.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/message.h"
#include "output/stream.h"

/* ---- sums ---- */

/* Add a row of that schema. */
void tally_add(struct tally *t, const struct atw_schema *sc, const struct atw_row *row)
{
	t->rows++;
	for (size_t i = 0; i < sc->ncols; i++)
		if (sc->col[i].sum &&
		    (!(row->have >> i & 1) ||
		     __builtin_add_overflow(t->v[i], row->v[i].u, &t->v[i])))
			t->unknown |= (uint64_t)1 << i;
}

/*
 * The row of sums with the columns of the schema, labelled in the first text column;
 * *ret_blank are the columns without a sum. false: no such row, because there was only
 * one row, or there is no text column for the label.
 */
static bool output_sum_row(const struct tally *t, const struct atw_schema *sc,
			   union atw_value *v, struct atw_row *ret, uint64_t *ret_blank)
{
	bool named = false, any = false;

	*ret = (struct atw_row){ .v = v };
	*ret_blank = 0;
	for (size_t i = 0; i < sc->ncols; i++) {
		uint64_t bit = (uint64_t)1 << i;

		if (sc->col[i].sum) {
			any = true;
			v[i].u = t->v[i];
			ret->have |= t->unknown & bit ? 0 : bit;
		} else if (sc->col[i].type == ATW_T_TEXT && !named) {
			named = true;
			v[i].s = "(sum)";
			ret->have |= bit;
		} else {
			*ret_blank |= bit;
		}
	}
	return t->rows > 1 && named && any;
}

/* ---- rows ---- */

/* Text between rows, buffered like them. */
static int output_put_between(struct atw_output *out, const struct buf *b, struct atw_err *err)
{
	const char *text = b->data ? b->data : "";

	if (b->failed)
		return atw_err_nomem(err);
	if (out->behind && !out->waits)
		return behind_text(out->behind, text, b->len, err);
	if (out->waits)
		kept_text(&out->kept, text, b->len);
	else
		writer_put(&out->w, text, b->len);
	return ATW_OK;
}

static int output_put_heading(struct atw_output *out, struct atw_err *err)
{
	struct buf b = { 0 };
	int rc;

	buf_char(&b, '\n');
	buf_add(&b, out->heading.data, out->heading.len);
	buf_char(&b, '\n');
	rc = output_put_between(out, &b, err);
	buf_deinit(&b);
	out->heading.len = 0;
	return rc;
}

static int output_show(struct atw_output *out, const struct atw_row *row,
		       struct atw_err *err)
{
	int rc = out->sink.ops->row(&out->sink, row, err);

	if (rc < 0)
		return rc;
	out->sink.rows++;
	writer_row_end(&out->w);
	return out->w.error ? output_write_failed(out, err) : ATW_OK;
}

int output_show_kept(struct atw_output *out, struct kept_rows *k, union atw_value *v,
		     struct atw_err *err)
{
	struct kept_item item;
	int rc = k->failed ? atw_err_nomem(err) : ATW_OK;

	while (rc == ATW_OK && kept_next(k, &out->schema, v, &item)) {
		if (item.is_row)
			rc = output_show(out, &item.row, err);
		else
			writer_put(&out->w, item.text, item.len);
	}
	return rc;
}

/* Column widths are final: emits the buffered rows. */
static int output_settle(struct atw_output *out, struct atw_err *err)
{
	int rc;

	if (!out->waits)
		return ATW_OK;
	out->waits = false;
	rc = output_begin(out, err) ?: output_show_kept(out, &out->kept, out->v, err);
	kept_deinit(&out->kept);
	return rc;
}

struct atw_row columns_of(const struct columns *shown, bool as_is, const struct atw_row *row,
			  union atw_value *v)
{
	struct atw_row chosen = { .v = v };

	if (as_is)
		return *row;
	for (size_t i = 0; i < shown->n; i++) {
		v[i] = row->v[shown->at[i]];
		chosen.have |= (row->have >> shown->at[i] & 1) << i;
	}
	return chosen;
}

/* The shown columns of a row. */
static struct atw_row output_chosen(struct atw_output *out, const struct atw_row *row)
{
	return columns_of(&out->shown, out->as_is, row, out->v);
}

/* Passes the shown columns to the sink. */
static int output_emit(struct atw_output *out, const struct atw_row *row,
		       struct atw_err *err)
{
	enum { ROWS = 4096, WORDS = 512 << 10 };         /* that are kept at first */
	struct atw_row chosen;
	int rc = ATW_OK;

	/* Text below a row that is left out is left out as well. */
	out->dropped = out->limit && out->given - out->before >= out->limit;
	if (out->dropped) {
		out->left_out++;
		return ATW_OK;
	}
	out->given++;
	if (out->heading.len)
		rc = output_put_heading(out, err);
	if (rc < 0)
		return rc;
	if (!out->waits && out->behind)
		return behind_row(out->behind, row, err);
	chosen = output_chosen(out, row);
	if (!out->waits)
		return output_show(out, &chosen, err);
	out->sink.ops->measure(&out->sink, &chosen);
	kept_row(&out->kept, &out->schema, &chosen, NULL);
	return out->kept.rows >= ROWS || out->kept.len >= WORDS ? output_settle(out, err) : ATW_OK;
}

/* Every row that was emitted has been formatted. */
static int output_wait(struct atw_output *out, struct atw_err *err)
{
	const struct atw_sink_ops *ops = out->sink.ops;

	return output_settle(out, err) ?:
	       (out->behind ? behind_wait(out->behind, err) : ATW_OK) ?:
	       (ops->flush ? ops->flush(&out->sink, err) : ATW_OK);
}

/* The first failure is kept, and prevents the commit. */
static int output_fail(struct atw_output *out, int rc, struct atw_err *err)
{
	if (rc < 0)
		out->state = FAILED;
	return atw_err_give(err, rc, &out->failure);
}

static int output_not_taking(struct atw_output *out, struct atw_err *err)
{
	if (!out)
		return atw_err_set(err, ATW_E_USAGE, "no output is open");
	if (out->state == FAILED)
		return output_fail(out, out->failure.status, err);
	return atw_err_set(err, ATW_E_USAGE, "the output is already complete");
}

/* A row with all of its columns that passed the filter. */
static int output_pass(struct atw_output *out, const struct atw_row *row)
{
	int rc;

	out->dropped = false;
	if (out->tap)
		return out->tap->row(out->tap->arg, row, &out->failure);
	if (out->sink.ops->sum && !out->group) {
		struct atw_row shown = output_chosen(out, row);

		tally_add(&out->tally, &out->schema, &shown);
	}
	if (out->group)
		rc = group_add(out->group, row, &out->failure);
	else if (out->sorter)
		rc = sorter_add(out->sorter, row, &out->failure);
	else
		rc = output_emit(out, row, &out->failure);
	return rc;
}

/* The rows that wait for the columns of plugins. */
static int output_annotate(struct atw_output *out)
{
	struct atw_row row;
	int rc = out->annotate ? annotate_run(out->annotate, &out->failure) : ATW_OK;

	while (rc >= 0 && out->annotate && annotate_next(out->annotate, &row)) {
		out->dropped = out->late && !filter_match(out->filter, &row);
		if (out->dropped)
			continue;
		out->rows += out->late;
		rc = output_pass(out, &row);
	}
	return rc < 0 ? rc : ATW_OK;
}

/* As output_annotate(), in front of something that is no row. */
static bool output_catch_up(struct atw_output *out)
{
	if (out->state == TAKING)
		output_fail(out, output_annotate(out), NULL);
	return out->state == TAKING;
}

static int output_keep(struct atw_output *out, const struct atw_row *row)
{
	bool full = false;
	int rc = annotate_add(out->annotate, row, &full, &out->failure);

	return rc == ATW_OK && full ? output_annotate(out) : rc;
}

int atw_output_row(struct atw_output *out, const struct atw_row *row, struct atw_err *err)
{
	int rc;

	if (!out || out->state != TAKING)
		return output_not_taking(out, err);
	if (!row)
		return atw_err_set(err, ATW_E_USAGE, "no row is given");
	out->dropped = out->filter && !out->late && !filter_match(out->filter, row);
	if (out->dropped)
		return ATW_OK;
	out->rows += !out->late;
	rc = out->annotate ? output_keep(out, row) : output_pass(out, row);
	return rc < 0 ? output_fail(out, rc, err) : ATW_OK;
}

void atw_output_page(struct atw_output *out, unsigned page_shift)
{
	if (!out || !page_shift || page_shift > 32 || page_shift == out->sink.page_shift)
		return;
	/* Rows before it have the size that was theirs. */
	if (output_catch_up(out) && out->behind)
		output_fail(out, behind_wait(out->behind, &out->failure), NULL);
	out->sink.page_shift = page_shift;
	if (out->filter)
		filter_page(out->filter, page_shift);
	if (out->tap && out->tap->page)
		out->tap->page(out->tap->arg, page_shift);
}

uint64_t atw_output_left_out(struct atw_output *out)
{
	if (out)
		output_catch_up(out);
	return out ? out->left_out : 0;
}

uint64_t atw_output_rows(struct atw_output *out)
{
	if (out && out->late)
		output_catch_up(out);
	return out ? out->rows : 0;
}

/* NULL: no memory. */
static char *output_formatted(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

int atw_output_heading(struct atw_output *out, const char *fmt, ...)
{
	_auto_free char *text = NULL;
	va_list ap;

	if (!out || out->state != TAKING)
		return output_not_taking(out, NULL);
	if (!out->sink.notes || out->sink.put_notes || out->sorter || out->group)
		return ATW_OK;
	if (!output_catch_up(out))
		return out->failure.status;
	va_start(ap, fmt);
	text = output_formatted(message(fmt), ap);
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

	if (!out || out->state != TAKING)
		return output_not_taking(out, NULL);
	if (!out->sink.notes || out->sorter || out->group || out->dropped)
		return ATW_OK;
	if (!output_catch_up(out))
		return out->failure.status;
	if (out->dropped)
		return ATW_OK;
	va_start(ap, fmt);
	text = output_formatted(fmt, ap);
	va_end(ap);
	if (text)
		text_lines(&safe, text);
	/* The text is part of the result: without it there is no commit. */
	output_fail(out, text ? output_put_between(out, &safe, &out->failure)
			      : atw_err_nomem(&out->failure), NULL);
	if (!out->waits && !out->behind)
		writer_row_end(&out->w);
	buf_deinit(&safe);
	return out->state == FAILED ? out->failure.status : ATW_OK;
}

int atw_output_note(struct atw_output *out, const char *fmt, ...)
{
	_auto_free char *text = NULL;
	va_list ap;

	if (!out || out->state != TAKING)
		return output_not_taking(out, NULL);
	if (!out->sink.notes)
		return ATW_OK;
	va_start(ap, fmt);
	text = output_formatted(message(fmt), ap);
	va_end(ap);
	if (!text)
		return ATW_E_NOMEM;
	/* A blank line separates them from the table. */
	if (!out->notes.len && !out->sink.put_notes)
		buf_char(&out->notes, '\n');
	text_lines(&out->notes, text);
	if (!*text || text[strlen(text) - 1] != '\n')
		buf_char(&out->notes, '\n');
	return out->notes.failed ? ATW_E_NOMEM : ATW_OK;
}

/* Emits groups or sorted rows after the last row. */
static int output_drain(struct atw_output *out, struct atw_err *err)
{
	struct atw_row row;
	int rc = ATW_OK;

	while (rc == ATW_OK && out->group && group_next(out->group, &row))
		rc = sorter_add(out->sorter, &row, err);
	if (rc == ATW_OK && out->sorter)
		rc = sorter_finish(out->sorter, err);
	while (rc == ATW_OK && out->sorter && sorter_next(out->sorter, &row))
		rc = output_emit(out, &row, err);
	return rc;
}

/* Behind the last row: the number of omitted rows, and the sums of all. */
static int output_put_last(struct atw_output *out, struct atw_err *err)
{
	struct atw_row row;
	uint64_t blank;

	if (out->left_out && out->sink.put_notes)
		atw_output_note(out, "... and %" PRIu64 " more", out->left_out);
	else if (out->left_out && out->sink.notes) {
		struct buf b = { 0 };

		buf_printf(&b, _("... and %" PRIu64 " more"), out->left_out);
		buf_char(&b, '\n');
		writer_buf(&out->w, &b);
		buf_deinit(&b);
	}
	if (!out->sumless && out->sink.ops->sum && output_sum_row(&out->tally, &out->schema, out->v, &row, &blank))
		return out->sink.ops->sum(&out->sink, &row, blank, err);
	return ATW_OK;
}

static int output_finish(struct atw_output *out, struct atw_err *err)
{
	int rc = output_annotate(out) ?: output_drain(out, err);
	struct atw_row row;
	uint64_t blank;

	if (out->waits && !out->sumless && output_sum_row(&out->tally, &out->schema, out->v, &row, &blank))
		out->sink.ops->measure(&out->sink, &row);
	if (rc == ATW_OK)
		rc = output_wait(out, err) ?: output_put_last(out, err);
	if (rc == ATW_OK && out->sink.put_notes && out->notes.len) {
		out->sink.put_notes(&out->sink, out->notes.data);
		writer_check(&out->w, &out->notes);
		out->notes.len = 0;
	}
	if (rc == ATW_OK && out->sink.ops->end)
		rc = out->sink.ops->end(&out->sink, err);
	if (rc < 0)
		return rc;
	writer_buf(&out->w, &out->notes);
	return writer_flush(&out->w) ? ATW_OK : output_write_failed(out, err);
}

int atw_output_flush(struct atw_output *out, struct atw_err *err)
{
	int rc = ATW_OK;

	if (!out || out->state != TAKING || !output_catch_up(out))
		return output_not_taking(out, err);
	if (out->tap)
		return ATW_OK;
	rc = output_wait(out, &out->failure);
	if (rc == ATW_OK && !writer_flush(&out->w))
		rc = output_write_failed(out, &out->failure);
	if (out->sumless)
		out->before = out->given;
	return output_fail(out, rc, err);
}

int output_ready(struct atw_output *out, struct outfile **ret, struct atw_err *err)
{
	int rc;

	if (!out || out->state != TAKING)
		return output_not_taking(out, err);
	rc = output_finish(out, &out->failure);
	if (rc < 0)
		return output_fail(out, rc, err);
	out->state = COMMITTED;
	if (out->sum) {
		out->sum->outputs++;
		out->sum->rows += out->rows;
	}
	*ret = &out->target;
	return ATW_OK;
}

int atw_output_commit(struct atw_output *out, struct atw_err *err)
{
	struct outfile *t = NULL;
	int rc;

	if (out && out->tap && out->state == TAKING) {
		if (!output_catch_up(out))
			return output_not_taking(out, err);
		out->state = COMMITTED;
		return ATW_OK;
	}
	rc = output_ready(out, &t, err);
	return rc < 0 ? rc : output_fail(out, outfile_commit(t, &out->failure), err);
}

void atw_output_close(struct atw_output *out)
{
	if (!out)
		return;
	behind_close(out->behind);
	sink_deinit(&out->sink);
	writer_deinit(&out->w);
	outfile_close(&out->target);
	buf_deinit(&out->notes);
	buf_deinit(&out->heading);
	sorter_destroy(out->sorter);
	group_destroy(out->group);
	kept_deinit(&out->kept);
	filter_destroy(out->filter);
	annotate_close(out->annotate);
	free(out);
}
