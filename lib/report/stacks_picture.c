/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_picture.c - the stacks as a flame graph. */
#include <stdlib.h>

#include "report/picture.h"
#include "report/report.h"
#include "plot/flame.h"

struct stacks_picture_stacks {
	int stack, pss, pages;
	bool unshared;           /* some pages have no mapcount */
	uint64_t page;
	struct flame *flame;
};

static int stacks_picture_start(const struct census_report_opts *o, void **ret,
				struct atw_err *err)
{
	struct stacks_picture_stacks *s = calloc(1, sizeof(*s));

	(void)o;
	if (!s)
		return atw_err_nomem(err);
	if (flame_open(&s->flame, err) < 0) {
		free(s);
		return ATW_E_NOMEM;
	}
	s->stack = picture_column("stacks", "stack");
	s->pss = picture_column("stacks", "pss");
	s->pages = picture_column("stacks", "pages");
	*ret = s;
	return ATW_OK;
}

static int stacks_picture_feed(void *state, const struct census_event *ev,
			       struct atw_err *err)
{
	struct stacks_picture_stacks *s = state;

	(void)err;
	s->page = ev->page;
	return ATW_OK;
}

static int stacks_picture_on_row(void *state, const struct atw_row *row,
				 struct atw_err *err)
{
	struct stacks_picture_stacks *s = state;
	bool share = picture_has(row, s->pss);

	if (!picture_has(row, s->stack) || !picture_has(row, s->pages))
		return ATW_OK;
	s->unshared |= !share;
	return flame_add(s->flame, row->v[s->stack].s,
			 share ? row->v[s->pss].u : row->v[s->pages].u * s->page, err);
}

static int stacks_picture_draw(void *state, struct scene *scene, struct atw_err *err)
{
	const struct stacks_picture_stacks *s = state;
	const struct chart_head head = {
		"Memory of processes, by file and use",
		s->unshared ? "of PSS, or RSS where that is not known" : "of PSS", "", AXIS_BYTES,
	};

	return flame_draw(s->flame, &head, scene, err);
}

static void stacks_picture_drop(void *state)
{
	struct stacks_picture_stacks *s = state;

	if (s)
		flame_close(s->flame);
	free(s);
}

const struct census_picture picture_stacks = {
	.of =
		{
			.size = sizeof(struct census_report),
			.name = "stacks",
			.on = CENSUS_ON(PROCESS),
			.start = stacks_picture_start,
			.feed = stacks_picture_feed,
			.drop = stacks_picture_drop,
		},
	.row = stacks_picture_on_row,
	.draw = stacks_picture_draw,
};
