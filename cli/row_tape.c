/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "row_tape.h"

/* The rows that take the next one; NULL: nothing more is wanted. */
static struct kept_rows *row_tape_of(struct turn *t, struct atw_err *err)
{
	const struct row_tape *now = t->tape;
	int r = now->kept.len * sizeof(*now->kept.word) >= t->most ? turn_pass(t) : ATW_OK;

	if (r != ATW_OK)
		atw_err_set(err, r, "stopped");
	return r == ATW_OK ? &((struct row_tape *)t->tape)->kept : NULL;
}

static int row_tape_taken(const struct kept_rows *k, struct atw_err *err)
{
	return k->failed ? atw_err_nomem(err) : ATW_OK;
}

int row_tape_row(struct turn *t, const struct atw_schema *sc, const struct atw_row *row,
		 struct atw_err *err)
{
	struct kept_rows *k = row_tape_of(t, err);

	if (!k)
		return ATW_E_STOPPED;
	kept_row(k, sc, row, NULL);
	return row_tape_taken(k, err);
}

int row_tape_event(struct turn *t, unsigned kind, const void *data, size_t len,
		   struct atw_err *err)
{
	struct kept_rows *k = row_tape_of(t, err);

	if (!k)
		return ATW_E_STOPPED;
	kept_event(k, kind, data, len);
	return row_tape_taken(k, err);
}

int row_tape_play(struct row_tape *t, const struct atw_schema *sc, const struct row_tape_to *to,
		  struct atw_err *err)
{
	union atw_value v[SCHEMA_MAX];
	struct kept_item item;
	int r = ATW_OK;

	while (r == ATW_OK && kept_next(&t->kept, sc, v, &item)) {
		if (item.is_row)
			r = to->row(to->arg, &item.row, err);
		else
			r = to->event(to->arg, item.kind, item.text, item.len, err);
	}
	kept_clear(&t->kept);
	return r;
}

void row_tape_drop(void *tape)
{
	kept_deinit(&((struct row_tape *)tape)->kept);
}
