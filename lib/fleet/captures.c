/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captures.c - the capture itself: one row. */
#include "base/num.h"
#include "base/version.h"
#include "fleet/table.h"
#include "report/looks.h"

enum {
	C_MACHINE = FLEET_OWN, C_RELEASE, C_WAY, C_ENDED, C_PAGE, C_TOTAL, C_TASKS, C_AREAS, C_LOST,
	C_VERSION, C_VANISHED, C_COUNT,
};

static const struct atw_column columns[C_COUNT] = {
	FLEET_COLUMNS,
	[C_MACHINE] = COLUMN("machine", TEXT, 0, "architecture, as in uname(2)"),
	[C_RELEASE] = COLUMN("release", TEXT, 0, "of the kernel"),
	[C_WAY] = COLUMN("way", TEXT, 0, "how memory was read"),
	[C_ENDED] = COLUMN("ended", TIME, 0, "when the capture was complete"),
	[C_PAGE] = COLUMN("page", BYTES, 0, "size of a page"),
	[C_TOTAL] = COLUMN("memtotal", BYTES, 0, "MemTotal of /proc/meminfo"),
	[C_TASKS] = COLUMN("tasks", COUNT, 0, "number of tasks"),
	[C_AREAS] = COLUMN("areas", COUNT, 0, "number of memory areas"),
	[C_LOST] = COLUMN("lost", COUNT, 0, "number of read errors, which table lost has"),
	[C_VERSION] = COLUMN("version", TEXT, 0, "of the program that wrote the tables"),
	[C_VANISHED] = COLUMN("vanished", COUNT, 0,
			      "number of tasks that ended while they were read: their memory is in no table"),
};
static const struct atw_schema schema = { "captures", columns, C_COUNT };

struct fleet_captures {
	char machine[65], release[65], way[65];
	uint64_t ended, total, tasks, areas, lost, page, vanished;
	bool has_ended, has_total;
};

static void fleet_keep(char to[65], struct atw_blob value)
{
	snprintf(to, 65, "%.*s", (int)(value.len < 64 ? value.len : 64), (const char *)value.data);
}

static void fleet_captures_on_header(struct fleet_captures *s, const struct capture_header *h)
{
	uint64_t u;

	if (blob_is(h->key, "machine"))
		fleet_keep(s->machine, h->value);
	else if (blob_is(h->key, "release"))
		fleet_keep(s->release, h->value);
	else if (blob_is(h->key, "way"))
		fleet_keep(s->way, h->value);
	else if (blob_is(h->key, "ended") && looks_fraction(h->value, 6, &s->ended))
		s->has_ended = true;
	else if (blob_is(h->key, "vanished"))
		report_on_ended(h, &s->vanished);
	else if (blob_is(h->key, "MemTotal") && looks_number(h->value, &u))
		s->has_total = !__builtin_mul_overflow(u, 1024, &s->total);
}

static int fleet_captures_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct fleet_captures *s = state;

	s->page = ev->page;
	s->tasks += ev->what == CENSUS_ON_TASK &&
		    !capture_task_idle(ev->task->pid, ev->task_has);
	s->areas += ev->what == CENSUS_ON_AREA;
	s->lost += ev->what == CENSUS_ON_LOST;
	if (ev->what == CENSUS_ON_HEADER)
		fleet_captures_on_header(s, ev->header);
	return ATW_OK;
}

static int fleet_captures_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct fleet_captures *s = state;
	struct report_row row = { .have = 0 };

	row_s(&row, C_MACHINE, *s->machine ? s->machine : NULL);
	row_s(&row, C_RELEASE, *s->release ? s->release : NULL);
	row_s(&row, C_WAY, *s->way ? s->way : NULL);
	row_if(&row, s->has_ended, C_ENDED, s->ended);
	row_if(&row, s->page, C_PAGE, s->page);
	row_if(&row, s->has_total, C_TOTAL, s->total);
	row_u(&row, C_TASKS, s->tasks);
	row_u(&row, C_AREAS, s->areas);
	row_u(&row, C_LOST, s->lost);
	row_s(&row, C_VERSION, ATWALK_VERSION);
	/* If it is not 0, it is written just before `ended`. */
	row_if(&row, s->has_ended || s->vanished, C_VANISHED, s->vanished);
	return row_out(&row, out, err);
}

const struct census_report fleet_captures = {
	.name = "captures",
	.title = "Captures",
	.help = "one row: the machine, and how much of it was read",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(TASK) | CENSUS_ON(AREA) | CENSUS_ON(LOST),
	.schema = &schema,
	.state = sizeof(struct fleet_captures),
	.feed = fleet_captures_feed,
	.finish = fleet_captures_finish,
};
