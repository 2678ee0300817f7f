/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_picture.c - the stacks as a flame graph. */
#include "report/picture.h"
#include "report/report.h"

enum { STACK, PSS, PAGES };

struct stacks_picture_stacks {
	bool unshared;           /* some pages have no mapcount */
	uint64_t page;
	struct flame *flame;
};

static int stacks_picture_init(void *state, const struct census_report_opts *o,
			       struct atw_err *err)
{
	return flame_open(&((struct stacks_picture_stacks *)state)->flame, err);
}

static int stacks_picture_feed(void *state, const struct census_event *ev,
			       struct atw_err *err)
{
	struct stacks_picture_stacks *s = state;

	s->page = ev->page;
	return ATW_OK;
}

static int stacks_picture_on_row(void *state, const struct atw_row *row,
				 struct atw_err *err)
{
	struct stacks_picture_stacks *s = state;
	bool share = picture_has(row, PSS);

	/* What is on swap alone has no pages. */
	if (!picture_has(row, STACK) || !picture_has(row, PAGES) || !row->v[PAGES].u)
		return ATW_OK;
	s->unshared |= !share;
	return flame_add(s->flame, row->v[STACK].s,
			 share ? row->v[PSS].u : row->v[PAGES].u * s->page, err);
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

static void stacks_picture_deinit(void *state)
{
	struct stacks_picture_stacks *s = state;

	flame_close(s->flame);
}

const struct census_picture picture_stacks = {
	.of.name = "stacks",
	.of.on = CENSUS_ON(PROCESS),
	.of.state = sizeof(struct stacks_picture_stacks),
	.of.init = stacks_picture_init,
	.of.feed = stacks_picture_feed,
	.of.deinit = stacks_picture_deinit,
	.column = { "stack", "pss", "pages" },
	.row = stacks_picture_on_row,
	.draw = stacks_picture_draw,
};
