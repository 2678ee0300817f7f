/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_stacks.c - pages of processes as folded stacks: "nginx;libc.so.6;text" and
 * how many, the form that tools for flame graphs read.
 */
#include <stdlib.h>
#include <string.h>

#include "census/groups.h"
#include "census/report.h"

enum { S_STACK, S_PAGES, S_COUNT };

static const struct atw_column columns[S_COUNT] = {
	[S_STACK] = { .key = "stack", .type = ATW_T_TEXT, .width = 48,
		      .help = "the process; the file, if one is mapped; what it is for" },
	[S_PAGES] = { .key = "pages", .type = ATW_T_COUNT, .width = 8,
		      .help = "pages in memory that it has there, shared or not" },
};
static const struct atw_schema schema = { "stacks", columns, S_COUNT };

struct stacks {
	struct groups groups;            /* of a process's number and a stack: pages in `rss` */
	size_t now;                      /* that of the area */
	struct buf text;
};

static int start(const struct census_report_opts *o, void **ret, struct atw_err *err)
{
	struct stacks *s = calloc(1, sizeof(*s));

	(void)o;
	if (!s)
		return report_no_memory(err);
	*ret = s;
	return ATW_OK;
}

/* A name may have anything in it but what parts the names, and no line ends. */
static void put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_char(b, *name == ';' ? ':' : *name);
}

static const char *file_name(const struct census_unit *u)
{
	const char *slash = strrchr(u->name, '/');

	return slash && slash[1] ? slash + 1 : u->name;
}

/* Areas of a process that say the same are one. */
static int on_area(struct stacks *s, const struct census_area *a, struct atw_err *err)
{
	struct group *g;

	s->text.len = 0;
	put_name(&s->text, *a->process->name ? a->process->name : "-");
	if (a->unit) {
		buf_char(&s->text, ';');
		put_name(&s->text, file_name(a->unit));
	}
	buf_char(&s->text, ';');
	buf_str(&s->text, census_class_names.name[a->class]);
	g = s->text.failed ? NULL : groups_get(&s->groups, a->process->number, s->text.data);
	if (!g)
		return report_no_memory(err);
	s->now = (size_t)(g - s->groups.v);
	return ATW_OK;
}

static int feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct stacks *s = state;

	if (ev->what == CENSUS_ON_AREA)
		return on_area(s, ev->area, err);
	if (is_resident(ev->pages))
		s->groups.v[s->now].rss += ev->pages->pages;
	return ATW_OK;
}

static int finish(void *state, const struct census_out *out, struct atw_err *err)
{
	const struct stacks *s = state;
	int r = ATW_OK;

	for (size_t i = 0; i < s->groups.n && r == ATW_OK; i++) {
		struct report_row row = { .have = 0 };

		if (!s->groups.v[i].rss)
			continue;
		row_s(&row, S_STACK, s->groups.v[i].name);
		row_u(&row, S_PAGES, s->groups.v[i].rss);
		r = row_out(&row, out, err);
	}
	return r;
}

static void drop(void *state)
{
	struct stacks *s = state;

	if (s) {
		groups_deinit(&s->groups);
		buf_deinit(&s->text);
	}
	free(s);
}

const struct census_report report_stacks = {
	.size = sizeof(struct census_report), .name = "stacks", .title = "Folded stacks",
	.help = "pages by process, file and use, as tools for flame graphs read them",
	.on = CENSUS_ON(AREA) | CENSUS_ON(PAGES), .schema = &schema,
	.tools = true,
	.start = start, .feed = feed, .finish = finish, .drop = drop,
};
