/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "row_tape.h"

enum { TAPE_HEADING = ROW_TAPE_KINDS + 1, TAPE_BYTES, TAPE_SUMS };

/* ---- in a thread ---- */

/* The rows that take the next one; NULL: nothing more is wanted. */
static struct kept_rows *row_tape_of(struct turn *t, struct atw_err *err)
{
	const struct row_tape *now = t->tape;
	int r = turn_is_full(t, now->kept.len * sizeof(*now->kept.word)) ? turn_pass(t) : ATW_OK;

	if (r != ATW_OK)
		atw_err_set(err, r, "stopped");
	return r == ATW_OK ? &((struct row_tape *)t->tape)->kept : NULL;
}

static int row_tape_put(struct row_tape_thread *t, unsigned kind, const void *data, size_t len,
			struct atw_err *err)
{
	struct kept_rows *k = row_tape_of(t->turn, err);

	if (!k)
		return ATW_E_STOPPED;
	kept_event(k, kind, data, len);
	return k->failed ? atw_err_nomem(err) : ATW_OK;
}

void row_tape_event(struct row_tape_thread *t, unsigned kind, const void *data, size_t len)
{
	row_tape_put(t, kind, data, len, NULL);
}

static int row_tape_on_schema(void *arg, const struct atw_schema *sc, struct atw_err *err)
{
	return ATW_OK;
}

static int row_tape_put_heading(struct row_tape_thread *t, struct atw_err *err)
{
	_auto_free char *text = take_ptr(t->heading);

	if (!text)
		return ATW_OK;
	return t->part ? output_part_heading(t->part, text, err)
		       : row_tape_put(t, TAPE_HEADING, text, strlen(text) + 1, err);
}

static int row_tape_on_bytes(void *arg, const void *data, size_t len, struct atw_err *err)
{
	return row_tape_put(arg, TAPE_BYTES, data, len, err);
}

/* From the row on at which the output allows it. */
static int row_tape_part(struct row_tape_thread *t, struct atw_err *err)
{
	if (t->part || !atomic_load_explicit(&t->of->parts, memory_order_acquire))
		return ATW_OK;
	return output_part_open(t->of->out, row_tape_on_bytes, t, &t->part, err);
}

static int row_tape_on_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct row_tape_thread *t = arg;
	int r = row_tape_part(t, err) ?: row_tape_put_heading(t, err);
	struct kept_rows *k;

	if (r != ATW_OK || t->part)
		return r == ATW_OK ? output_part_row(t->part, row, err) : r;
	k = row_tape_of(t->turn, err);
	if (!k)
		return ATW_E_STOPPED;
	kept_row(k, t->of->schema, row, NULL);
	return k->failed ? atw_err_nomem(err) : ATW_OK;
}

/*
 * What a filter is about may be columns of plugins, which only the output of the command has:
 * all rows pass here then.
 */
int row_tape_open(struct row_tape_thread *t, const struct row_tape_output *of,
		  const struct common *c, const struct session *src, struct atw_err *err)
{
	struct atw_output_opts given, oo = { .tap = &t->tap };

	t->of = of;
	t->tap = (struct atw_tap){ .open = row_tape_on_schema, .row = row_tape_on_row, .arg = t };
	output_opts(c, src, &given);
	oo.filter = given.nannotators ? NULL : given.filter;
	return atw_output_open(&oo, of->schema, &t->out, err);
}

void row_tape_close(struct row_tape_thread *t)
{
	atw_output_close(t->out);
	output_part_close(t->part);
	free(t->heading);
	*t = (struct row_tape_thread){ .of = NULL };
}

void row_tape_begin(struct row_tape_thread *t, struct turn *turn)
{
	t->turn = turn;
}

int row_tape_end(struct row_tape_thread *t, int r, struct atw_err *err)
{
	struct output_part_sums sums;
	int sent;

	/* Of an item that fails, what was found is shown, too. */
	if (!t->part || r == ATW_E_STOPPED)
		return r;
	if (r < 0)
		err = NULL;
	sent = output_part_flush(t->part, &sums, err) ?:
	       row_tape_put(t, TAPE_SUMS, &sums, sizeof(sums), err);
	return r < 0 ? r : sent;
}

void row_tape_heading(struct row_tape_thread *t, char *text)
{
	free(t->heading);
	t->heading = text;
}

/* ---- in the command's ---- */

int row_tape_play(struct row_tape *t, struct row_tape_output *to, row_tape_event_fn *event,
		  void *arg, struct atw_err *err)
{
	union atw_value v[SCHEMA_MAX];
	struct kept_item item;
	int r = ATW_OK;

	while (r == ATW_OK && kept_next(&t->kept, to->schema, v, &item)) {
		if (item.is_row)
			r = atw_output_row(to->out, &item.row, err);
		else if (item.kind == TAPE_HEADING)
			r = atw_output_heading(to->out, "%s", item.text) ? atw_err_nomem(err) : ATW_OK;
		else if (item.kind == TAPE_BYTES)
			r = output_take(to->out, item.text, item.len, err);
		else if (item.kind == TAPE_SUMS)
			output_take_sums(to->out, (const void *)item.text);
		else
			event(arg, item.kind, item.text);
	}
	kept_clear(&t->kept);
	if (r == ATW_OK && output_parts(to->out))
		atomic_store(&to->parts, true);
	return r;
}

void row_tape_drop(void *tape)
{
	kept_deinit(&((struct row_tape *)tape)->kept);
}
