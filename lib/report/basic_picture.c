/* SPDX-License-Identifier: GPL-2.0-or-later */
/* basic_picture.c - a bar per process: Figure 3 of Movall et al. */
#include "report/picture.h"
#include "report/report.h"
#include "report/sums.h"

/* In the order of the bar: the process's own, its libraries', and the rest. */
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

struct basic_picture_basic {
	struct census_report_opts o;
	uint64_t page;
	struct processes all;
};

static int basic_picture_feed(void *state, const struct census_event *ev,
			      struct atw_err *err)
{
	struct basic_picture_basic *b = state;

	b->page = ev->page;
	if (ev->what == CENSUS_ON_PROCESS)
		return processes_add(&b->all, ev->process->task->name, ev->process->pid,
				     ev->process->paper, err);
	processes_feed(&b->all, ev);
	return ATW_OK;
}

static void basic_picture_pick(uint64_t to[PARTS], const struct sums *s)
{
	for (unsigned i = 0; i < PARTS; i++)
		to[i] = s->n[parts[i].sum];
}

/* Values of the bar of a process. */
struct basic_picture_shown {
	uint64_t resident[PARTS], virtual[PARTS];
	char name[64];
};

static int basic_picture_draw(void *state, struct scene *s, struct atw_err *err)
{
	const struct basic_picture_basic *b = state;
	_auto_free struct chart_bar *bar = calloc(b->all.n + 1, sizeof(*bar));
	_auto_free struct basic_picture_shown *shown =
		calloc(b->all.n + 1, sizeof(*shown));
	struct chart_key key[PARTS];
	char of[48];
	const struct chart_bars c = {
		.head = { b->o.virtual ? "Memory of processes: resident and virtual"
				     : "Memory of processes",
			  picture_pages(b->page, of), "processes", AXIS_COUNT },
		.names = { "resident", "virtual" },
		.key = key, .nkeys = PARTS, .bar = bar, .n = b->all.n,
	};

	if (!bar || !shown)
		return atw_err_nomem(err);
	for (unsigned i = 0; i < PARTS; i++)
		key[i] = (struct chart_key){ parts[i].name, palette_color(i) };
	key[PARTS - 1].color = SCENE_REST;
	for (size_t i = 0; i < b->all.n; i++) {
		const struct process_sums *p = &b->all.v[i];

		basic_picture_pick(shown[i].resident, &p->resident);
		basic_picture_pick(shown[i].virtual, &p->virtual);
		bar[i] = (struct chart_bar){
			.name = picture_process(processes_name(&b->all, i), p->pid, shown[i].name),
			.value = shown[i].resident, .wide = b->o.virtual ? shown[i].virtual : NULL,
		};
	}
	return chart_bars(&c, s, err);
}

static void basic_picture_deinit(void *state)
{
	struct basic_picture_basic *b = state;

	processes_deinit(&b->all);
}

const struct census_picture picture_basic = {
	.of.name = "basic",
	.of.on = CENSUS_ON(PROCESS) | CENSUS_ON(AREA_END) | CENSUS_ON(PAGES),
	.of.state = sizeof(struct basic_picture_basic),
	.of.opts = true,
	.of.feed = basic_picture_feed,
	.of.deinit = basic_picture_deinit,
	.draw = basic_picture_draw,
};
