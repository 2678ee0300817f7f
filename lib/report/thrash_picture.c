/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thrash_picture.c - major faults of the machine and of processes over time. */
#include "report/picture.h"
#include "report/report.h"

enum { LOOK, SECONDS, PID, TASK, MAJOR, REFAULTS };

/* The value of a line in a look, per second. */
struct value {
	uint64_t line;                   /* 0, 1: of the machine; else 2 + pid */
	uint64_t look, rate;
	size_t name;                     /* in `names` */
};

struct thrash_picture_thrash {
	struct value *v;
	size_t n, cap;
	uint64_t *seconds;               /* from the previous look to each look, 1/1000 */
	size_t looks, looks_cap;
	struct buf names;
};

static int thrash_picture_add(struct thrash_picture_thrash *t, uint64_t line,
			      uint64_t look, uint64_t rate, const char *name,
			      struct atw_err *err)
{
	if (!ARRAY_ROOM(t->v, t->n, t->cap))
		return atw_err_nomem(err);
	t->v[t->n++] =
		(struct value){ line, look, rate, buf_keep(&t->names, name, strlen(name)) };
	return t->names.failed ? atw_err_nomem(err) : ATW_OK;
}

static int thrash_picture_on_row(void *state, const struct atw_row *row,
				 struct atw_err *err)
{
	struct thrash_picture_thrash *t = state;
	const union atw_value *v = row->v;
	bool whole = !picture_has(row, PID);
	uint64_t look;
	char name[64];
	int rc = ATW_OK;

	if (!picture_has(row, LOOK))
		return ATW_OK;
	look = v[LOOK].u;
	if (look >= t->looks) {
		if (!array_reserve((void **)&t->seconds, &t->looks_cap, (size_t)look + 1,
				   sizeof(*t->seconds)))
			return atw_err_nomem(err);
		while (t->looks <= look)
			t->seconds[t->looks++] = 0;
	}
	if (picture_has(row, SECONDS))
		t->seconds[look] = v[SECONDS].u;
	if (picture_has(row, MAJOR))
		rc = thrash_picture_add(
			t, whole ? 0 : 2 + v[PID].u, look, v[MAJOR].u / 1000,
			whole ? "all: major faults"
			      : picture_process(picture_has(row, TASK) ? v[TASK].s
									  : "",
						v[PID].u, name),
			err);
	if (rc == ATW_OK && whole && picture_has(row, REFAULTS))
		rc = thrash_picture_add(t, 1, look, v[REFAULTS].u / 1000,
					"all: refaults", err);
	return rc;
}

static int thrash_picture_by_line(const void *a, const void *b)
{
	const struct value *x = a, *y = b;

	return ORDER(x->line, y->line) ?: ORDER(x->look, y->look);
}

static int thrash_picture_draw_lines(struct thrash_picture_thrash *t, struct scene *s,
				     struct atw_err *err)
{
	_auto_free uint64_t *at = calloc(t->looks + 1, sizeof(*at));
	_auto_free struct chart_point *point = calloc(t->n + 1, sizeof(*point));
	_auto_free struct chart_line *line = calloc(t->n + 1, sizeof(*line));
	struct chart_lines c = {
		.head = { "Faults that had to wait", "faults a second, since the look before",
			  "lines", AXIS_COUNT },
		.unit_x = AXIS_SECONDS, .line = line,
	};
	uint64_t ms = 0;

	if (!at || !point || !line)
		return atw_err_nomem(err);
	for (size_t i = 0; i < t->looks; i++) {
		ms = chart_add(ms, t->seconds[i]);
		at[i] = ms / 1000;
	}
	if (!ms) {
		c.unit_x = AXIS_COUNT;
		for (size_t i = 0; i < t->looks; i++)
			at[i] = i;
	}
	SORT(t->v, t->n, thrash_picture_by_line);
	for (size_t i = 0, to; i < t->n; i = to) {
		uint64_t weight = 0;

		for (to = i; to < t->n && t->v[to].line == t->v[i].line; to++) {
			point[to] = (struct chart_point){ at[t->v[to].look], t->v[to].rate };
			weight = chart_add(weight, t->v[to].rate);
		}
		line[c.n++] = (struct chart_line){
			.name = t->names.data + t->v[i].name, .point = point + i, .n = to - i,
			.weight = t->v[i].line < 2 ? UINT64_MAX : weight,
		};
	}
	return chart_lines(&c, s, err);
}

static int thrash_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	struct thrash_picture_thrash *t = state;

	if (!t->n)
		return atw_err_set(err, ATW_E_MISSING, "there is nothing to draw: no rates are "
				   "known, for which it takes two looks or more");
	return thrash_picture_draw_lines(t, s, err);
}

static void thrash_picture_deinit(void *state)
{
	struct thrash_picture_thrash *t = state;

	free(t->v);
	free(t->seconds);
	buf_deinit(&t->names);
}

const struct census_picture picture_thrash = {
	.of.name = "thrash",
	.of.looks = true,
	.of.state = sizeof(struct thrash_picture_thrash),
	.of.deinit = thrash_picture_deinit,
	.column = { "look", "seconds", "pid", "task", "major_rate", "refault_rate" },
	.row = thrash_picture_on_row,
	.draw = thrash_picture_draw,
};
