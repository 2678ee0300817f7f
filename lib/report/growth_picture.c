/* SPDX-License-Identifier: GPL-2.0-or-later */
/* growth_picture.c - memory of each process over time, with names of those that grow. */
#include "report/looks.h"
#include "report/picture.h"
#include "report/report.h"

/* Memory of a process in a look, resident and on swap. */
struct growth_picture_sum {
	size_t process, look;
	uint64_t bytes;
};

struct growth_picture_growth {
	struct looks looks;
	struct look_processes processes;
	struct growth_picture_sum *v; /* by look */
	size_t n, cap;
};

static int growth_picture_on_process(struct growth_picture_growth *g,
				     const struct census_process *p, struct atw_err *err)
{
	size_t process;
	int rc = look_processes_find(&g->processes, p->pid, p->task_has & CAPTURE_T_START,
				     p->task->start, p->task->name, &process, err);

	if (rc < 0)
		return rc;
	if (!ARRAY_ROOM(g->v, g->n, g->cap))
		return atw_err_nomem(err);
	g->v[g->n++] =
		(struct growth_picture_sum){process, g->looks.n ? g->looks.n - 1 : 0, 0};
	return ATW_OK;
}

static int growth_picture_feed(void *state, const struct census_event *ev,
			       struct atw_err *err)
{
	struct growth_picture_growth *g = state;
	int rc = looks_feed(&g->looks, ev, err);

	if (rc < 0)
		return rc;
	if (ev->what == CENSUS_ON_PROCESS)
		return growth_picture_on_process(g, ev->process, err);
	if (ev->what == CENSUS_ON_PAGES && (is_resident(ev->pages) || ev->pages->swapped))
		g->v[g->n - 1].bytes = chart_add(g->v[g->n - 1].bytes,
						 ev->pages->pages * ev->page);
	return ATW_OK;
}

/* By process, then by look, which is the input order. */
static int growth_picture_by_process(const void *a, const void *b)
{
	const struct growth_picture_sum *x = a, *y = b;

	return ORDER(x->process, y->process) ?: ORDER(x->look, y->look);
}

/* Seconds since the first look if all times are known; else numbers of looks, from 1. */
static bool growth_picture_times(const struct growth_picture_growth *g, uint64_t *at)
{
	for (size_t i = 0; i < g->looks.n; i++) {
		uint64_t ms = 0;

		if (i && !looks_between(&g->looks, 0, i, &ms))
			return false;
		at[i] = ms / 1000;
	}
	return g->looks.n > 1 && at[g->looks.n - 1] > 0;
}

static size_t growth_picture_make_lines(struct growth_picture_growth *g,
					const uint64_t *at, struct chart_point *point,
					struct chart_line *line, char (*name)[64])
{
	size_t n = 0;

	SORT(g->v, g->n, growth_picture_by_process);
	for (size_t i = 0, to; i < g->n; i = to) {
		const struct look_process *p = &g->processes.v[g->v[i].process];
		const struct growth_picture_sum *last;

		for (to = i; to < g->n && g->v[to].process == g->v[i].process; to++)
			point[to] = (struct chart_point){ at[g->v[to].look], g->v[to].bytes };
		last = &g->v[to - 1];
		line[n] = (struct chart_line){
			.name = picture_process(p->name, p->pid, name[n]),
			.point = point + i, .n = to - i,
			.weight = last->bytes > g->v[i].bytes ? last->bytes - g->v[i].bytes : 0,
		};
		n++;
	}
	return n;
}

static int growth_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	struct growth_picture_growth *g = state;
	_auto_free uint64_t *at = calloc(g->looks.n + 1, sizeof(*at));
	_auto_free struct chart_point *point = calloc(g->n + 1, sizeof(*point));
	_auto_free struct chart_line *line = calloc(g->n + 1, sizeof(*line));
	_auto_free char (*name)[64] = calloc(g->processes.n + 1, sizeof(*name));
	struct chart_lines c = {
		.head = { "Memory of processes over time", "bytes in memory and on swap",
			  "processes", AXIS_BYTES },
		.unit_x = AXIS_SECONDS, .line = line,
	};

	if (!at || !point || !line || !name)
		return atw_err_nomem(err);
	if (!growth_picture_times(g, at)) {
		c.unit_x = AXIS_COUNT;
		c.head.of = "bytes in memory and on swap, from look to look";
		for (size_t i = 0; i < g->looks.n; i++)
			at[i] = i;
	}
	c.n = growth_picture_make_lines(g, at, point, line, name);
	return chart_lines(&c, s, err);
}

static void growth_picture_deinit(void *state)
{
	struct growth_picture_growth *g = state;

	looks_deinit(&g->looks);
	look_processes_deinit(&g->processes);
	free(g->v);
}

const struct census_picture picture_growth = {
	.of.name = "growth",
	.of.looks = true,
	.of.on = CENSUS_ON(HEADER) | CENSUS_ON(PROCESS) | CENSUS_ON(PAGES) |
		  CENSUS_ON(END),
	.of.state = sizeof(struct growth_picture_growth),
	.of.feed = growth_picture_feed,
	.of.deinit = growth_picture_deinit,
	.draw = growth_picture_draw,
};
