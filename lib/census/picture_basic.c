/* SPDX-License-Identifier: GPL-2.0-or-later */
/* picture_basic.c - a bar a process: the paper's Figure 3. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "census/picture.h"
#include "census/report.h"
#include "census/sums.h"

/* In the order of the bar: a process's own, its libraries', and the rest. */
enum { PARTS = 8 };
static const struct {
	const char *name;
	enum sum sum;
} parts[PARTS] = {
	{ "stack", SUM_STACK }, { "heap and .bss", SUM_HEAP }, { ".data", SUM_DATA },
	{ ".text", SUM_TEXT }, { "library .bss", SUM_LIB_BSS },
	{ "library .data", SUM_LIB_DATA }, { "library .text", SUM_LIB_TEXT },
	{ "other", SUM_OTHER },
};

struct process {
	size_t name;                     /* in `names` */
	uint64_t resident[PARTS], virtual[PARTS];
};

struct basic {
	bool virtual;
	uint64_t page;
	struct process *v;
	size_t n, cap;
	struct buf names;
};

static int start(const struct census_report_opts *o, void **ret, struct atw_err *err)
{
	struct basic *b = calloc(1, sizeof(*b));

	if (!b)
		return report_no_memory(err);
	b->virtual = o->virtual;
	*ret = b;
	return ATW_OK;
}

static int on_process(struct basic *b, const struct census_process *p, struct atw_err *err)
{
	if (!array_reserve((void **)&b->v, &b->cap, b->n + 1, sizeof(*b->v)))
		return report_no_memory(err);
	b->v[b->n++] = (struct process){ .name = b->names.len };
	buf_str(&b->names, p->name);
	buf_char(&b->names, '\0');
	return b->names.failed ? report_no_memory(err) : ATW_OK;
}

static void add(uint64_t to[PARTS], const struct sums *s)
{
	for (unsigned i = 0; i < PARTS; i++)
		to[i] += s->n[parts[i].sum];
}

static int feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct basic *b = state;
	struct sums sums = { .guess = false };

	b->page = ev->page;
	switch (ev->what) {
	case CENSUS_ON_PROCESS:
		return on_process(b, ev->process, err);
	case CENSUS_ON_AREA_END:
		sums_area(&sums, ev->area, area_pages(ev->area, ev->page));
		add(b->v[b->n - 1].virtual, &sums);
		return ATW_OK;
	case CENSUS_ON_PAGES:
		sums_pages(&sums, ev->pages, false);
		add(b->v[b->n - 1].resident, &sums);
		return ATW_OK;
	default:
		return ATW_OK;
	}
}

static int draw(void *state, struct scene *s, struct atw_err *err)
{
	const struct basic *b = state;
	_auto_free struct chart_bar *bar = calloc(b->n + 1, sizeof(*bar));
	struct chart_key key[PARTS];
	char of[48];
	const struct chart_bars c = {
		.head = { b->virtual ? "Memory of processes: resident and virtual"
				     : "Memory of processes",
			  picture_pages(b->page, of), "processes", AXIS_COUNT },
		.names = { "resident", "virtual" },
		.key = key, .nkeys = PARTS, .bar = bar, .n = b->n,
	};

	if (!bar)
		return report_no_memory(err);
	for (unsigned i = 0; i < PARTS; i++)
		key[i] = (struct chart_key){ parts[i].name, palette_color(i) };
	key[PARTS - 1].color = SCENE_REST;
	for (size_t i = 0; i < b->n; i++)
		bar[i] = (struct chart_bar){
			.name = b->names.data + b->v[i].name, .value = b->v[i].resident,
			.wide = b->virtual ? b->v[i].virtual : NULL,
		};
	return chart_bars(&c, s, err);
}

static void drop(void *state)
{
	struct basic *b = state;

	if (b) {
		free(b->v);
		buf_deinit(&b->names);
	}
	free(b);
}

const struct census_picture picture_basic = {
	.of = {
		.size = sizeof(struct census_report), .name = "basic",
		.on = CENSUS_ON(PROCESS) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
		.start = start, .feed = feed, .drop = drop,
	},
	.draw = draw,
};
