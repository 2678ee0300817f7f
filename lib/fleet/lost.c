/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lost.c - what could not be read. */
#include "fleet/table.h"

enum { L_PID = FLEET_OWN, L_WHAT, L_WHY, L_ADDRESS, L_END, L_DENIED, L_COUNT };

static const struct atw_column columns[L_COUNT] = {
	FLEET_COLUMNS,
	[L_PID] = COLUMN("pid", COUNT, 0, "of the process; n/a: of none"),
	[L_WHAT] = COLUMN("what", TEXT, 0, "what could not be read"),
	[L_WHY] = COLUMN("why", TEXT, 0, "for what reason"),
	[L_ADDRESS] = COLUMN("address", VA, 0, "where it begins, of part of an address space"),
	[L_END] = COLUMN("end", VA, 0, "and ends"),
	[L_DENIED] = COLUMN("denied", COUNT, 0, "number of processes that may not be read"),
};
static const struct atw_schema schema = { "lost", columns, L_COUNT };

struct fleet_loss {
	const char *what, *why;
	struct capture_lost l;           /* its texts are no longer valid */
};

struct fleet_lost {
	struct fleet_loss *v;
	size_t n, cap;
	struct intern texts;
};

static int fleet_lost_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_lost *s = state;
	const struct capture_lost *l = ev->lost;
	const char *what = report_text(&s->texts, l->what), *why = report_text(&s->texts, l->why);

	if (!what || !why || !ARRAY_ROOM(s->v, s->n, s->cap))
		return atw_err_nomem(err);
	s->v[s->n++] = (struct fleet_loss){ what, why, *l };
	return ATW_OK;
}

static int fleet_lost_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct fleet_lost *s = state;
	int r = ATW_OK;

	for (size_t i = 0; i < s->n && r == ATW_OK; i++) {
		const struct fleet_loss *x = &s->v[i];
		bool range = x->l.start || x->l.last;
		struct report_row row = { .have = 0 };

		row_if(&row, x->l.pid, L_PID, x->l.pid);
		row_s(&row, L_WHAT, x->what);
		row_s(&row, L_WHY, x->why);
		row_if(&row, range, L_ADDRESS, x->l.start);
		row_if(&row, range, L_END, x->l.last + 1);
		row_if(&row, x->l.denied, L_DENIED, x->l.denied);
		r = row_out(&row, out, err);
	}
	return r;
}

static void fleet_lost_deinit(void *state)
{
	struct fleet_lost *s = state;

	free(s->v);
	intern_deinit(&s->texts);
}

const struct census_report fleet_lost = {
	.name = "lost",
	.title = "Read errors",
	.help = "what could not be read",
	.on = CENSUS_ON(LOST),
	.schema = &schema,
	.state = sizeof(struct fleet_lost),
	.feed = fleet_lost_feed,
	.finish = fleet_lost_finish,
	.deinit = fleet_lost_deinit,
};
