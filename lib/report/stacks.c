/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.c - memory of processes as folded stacks: "nginx;libc.so.6;text" and its PSS,
 * the input format of flame graph tools. The sum is the memory that all processes use
 * together.
 */
#include "report/groups.h"
#include "report/report.h"

enum {
	S_STACK, S_PSS, S_PAGES, S_USS, S_RSS, S_SWAP, S_PID, S_UNIT, S_CLASS, S_FILE, S_BUILD,
	S_COUNT,
};

static const struct atw_column columns[S_COUNT] = {
	[S_STACK] = COLUMN("stack", TEXT, 48,
			"the process; the file, if one is mapped; what it is for"),
	[S_PSS] = { .key = "pss", .type = ATW_T_COUNT, .width = 12,
		    .help = "bytes of its PSS there: each page divided by how often it is mapped" },
	[S_PAGES] = COLUMN("pages", COUNT, 8,
			"pages in memory that it has there, shared or not",
			.hidden = true),
	[S_USS] = HIDDEN_COLUMN("uss", COUNT, 12, "bytes of it that only this process maps"),
	[S_RSS] = HIDDEN_COLUMN("rss", COUNT, 12, "bytes in memory that it has there, shared or not"),
	[S_SWAP] = HIDDEN_COLUMN("swap", COUNT, 12, "bytes on swap"),
	[S_PID] = HIDDEN_COLUMN("pid", COUNT, 7, "number of the process"),
	[S_UNIT] = HIDDEN_COLUMN("unit", TEXT, 24, "its unit of systemd, or container"),
	[S_CLASS] = HIDDEN_COLUMN("class", TEXT, 8, "what the memory is for"),
	[S_FILE] = HIDDEN_COLUMN("file", TEXT, 32, "path of the file"),
	[S_BUILD] = HIDDEN_COLUMN("build", TEXT, 40, "its build ID"),
};
static const struct atw_schema schema = { "stacks", columns, S_COUNT };

struct stacks_process {
	uint64_t pid;
	const char *unit;                /* NULL: not known */
	bool paper;                      /* swap is not recorded */
};

struct stacks_state {
	struct stacks_process *process;  /* by number */
	size_t n, cap;
	struct intern units;
	struct groups groups;            /* of "process;class" and a unit */
	size_t now;                      /* that of the area */
	struct smaps_pages as;           /* of the last pages */
	uint64_t page;
	struct buf text;
	struct groups names, lines;      /* names of units; output lines */
	uint64_t ended;                  /* processes, while they were read */
};

/* A name may contain anything but separators and line ends. */
static void stacks_put_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_char(b, *name == ';' ? ':' : *name);
}

static const char *stacks_file_name(const struct census_unit *u)
{
	const char *slash = strrchr(u->name, '/');

	return slash && slash[1] ? slash + 1 : u->name;
}

static struct page_group *stacks_group_of(struct stacks_state *s,
					  const struct census_area *a, const char *class)
{
	uint64_t key = (uint64_t)a->process->number << 32;

	s->text.len = 0;
	stacks_put_name(&s->text, *a->process->name ? a->process->name : "-");
	buf_char(&s->text, ';');
	buf_str(&s->text, class);
	key += a->unit ? a->unit->number + UINT64_C(1) : 0;
	return s->text.failed ? NULL : groups_get(&s->groups, key, s->text.data);
}

static int stacks_on_process(struct stacks_state *s, const struct census_process *p,
			     struct atw_err *err)
{
	char unit[CGROUP_UNIT];
	struct stacks_process q = { .pid = p->pid, .paper = p->paper };

	if (p->task_has & CAPTURE_T_CGROUP) {
		cgroup_unit(p->task->cgroup.data, p->task->cgroup.len, unit);
		q.unit = intern_text(&s->units, unit, strlen(unit));
		if (!q.unit)
			return atw_err_nomem(err);
	}
	if (!ARRAY_ROOM(s->process, s->n, s->cap))
		return atw_err_nomem(err);
	s->process[s->n++] = q;
	return ATW_OK;
}

/* VMAs of a process with the same file and class are merged. */
static int stacks_on_area(struct stacks_state *s, const struct census_area *a,
			  struct atw_err *err)
{
	struct page_group *g = stacks_group_of(s, a, census_class_names.name[a->class]);

	if (!g)
		return atw_err_nomem(err);
	g->unit = a->unit;
	s->now = (size_t)(g - s->groups.v);
	return ATW_OK;
}

/* Pages of hugetlbfs are not part of RSS, and have stacks of their own. */
static int stacks_on_pages(struct stacks_state *s, const struct census_pages *p,
			   struct atw_err *err)
{
	struct page_group *g = &s->groups.v[s->now];
	struct smaps_pages as;

	pages_smaps(p, s->page, &s->as);
	as = s->as;
	if (as.class == SMAPS_HUGETLB) {
		as.class = SMAPS_RSS;
		g = stacks_group_of(s, p->area, "hugetlb");
		if (!g)
			return atw_err_nomem(err);
		g->unit = p->area->unit;
	}
	smaps_add(&g->sum, &as);
	return ATW_OK;
}

static int stacks_feed(void *state, const struct census_event *ev, struct atw_err *err)
{
	struct stacks_state *s = state;

	s->page = ev->page;
	if (ev->what == CENSUS_ON_HEADER)
		report_on_ended(ev->header, &s->ended);
	if (ev->what == CENSUS_ON_HEADER)
		return ATW_OK;
	if (ev->what == CENSUS_ON_PROCESS)
		return stacks_on_process(s, ev->process, err);
	return ev->what == CENSUS_ON_AREA ? stacks_on_area(s, ev->area, err)
					  : stacks_on_pages(s, ev->pages, err);
}

/* ---- output ---- */

/*
 * The name of a file among those of its process: its path, or also its numbers, but only
 * if a shorter form is ambiguous.
 */
enum { BY_FILE_NAME, BY_NAME, BY_INODE };

static void stacks_put_unit(struct buf *b, const struct census_unit *u, unsigned how)
{
	char device[48];

	stacks_put_name(b, how == BY_FILE_NAME ? stacks_file_name(u) : u->name);
	buf_str(b, deleted_text(u));
	if (how == BY_INODE && u->keyed) {
		device_text(u, device);
		buf_printf(b, " (%s %" PRIu64 ")", device, u->inode);
	}
}

/*
 * The files in the process with this name: `rss` is 1 if there is only one. NULL: no
 * memory.
 */
static struct page_group *stacks_called(struct stacks_state *s,
					const struct page_group *g, unsigned how)
{
	s->text.len = 0;
	stacks_put_unit(&s->text, census_unit_root(g->unit), how);
	return s->text.failed ? NULL : groups_get(&s->names, (g->key >> 32) << 1 | how,
						  s->text.data);
}

static bool stacks_has_any(const struct page_group *g)
{
	return g->sum.rss || g->sum.swap;
}

static bool stacks_name_units(struct stacks_state *s)
{
	for (size_t i = 0; i < s->groups.n; i++)
		for (unsigned how = BY_FILE_NAME; how < BY_INODE; how++) {
			const struct page_group *g = &s->groups.v[i];
			const struct census_unit *u = census_unit_root(g->unit);
			struct page_group *name;

			if (!u || !stacks_has_any(g))
				continue;
			name = stacks_called(s, g, how);
			if (!name)
				return false;
			name->sum.rss += name->unit != u;
			name->unit = u;
		}
	return true;
}

/* Copies of one file have the same name, and so are one line. */
static bool stacks_add_line(struct stacks_state *s, const struct page_group *g)
{
	const char *class = strrchr(g->name, ';');
	unsigned how = BY_FILE_NAME;
	struct page_group *line;

	while (g->unit && how < BY_INODE) {
		const struct page_group *name = stacks_called(s, g, how);

		if (!name)
			return false;
		if (name->sum.rss == 1)
			break;
		how++;
	}
	s->text.len = 0;
	buf_add(&s->text, g->name, (size_t)(class - g->name));
	if (g->unit) {
		buf_char(&s->text, ';');
		stacks_put_unit(&s->text, census_unit_root(g->unit), how);
	}
	buf_str(&s->text, class);
	line = s->text.failed ? NULL : groups_get(&s->lines, g->key >> 32, s->text.data);
	if (!line)
		return false;
	line->unit = census_unit_root(g->unit);
	smaps_join(&line->sum, &g->sum);
	return true;
}

static int stacks_row(const struct stacks_state *s, const struct page_group *line,
		      const struct census_out *out, struct atw_err *err)
{
	const struct stacks_process *p = &s->process[line->key];
	const struct smaps *sum = &line->sum;
	struct report_row row = { .have = 0 };
	char build[2 * CAPTURE_BUILD + 1];

	row_s(&row, S_STACK, line->name);
	row_if(&row, !sum->uncounted, S_PSS, smaps_pss(sum));
	row_u(&row, S_PAGES, sum->rss / s->page);
	row_if(&row, !sum->uncounted, S_USS, sum->uss);
	row_u(&row, S_RSS, sum->rss);
	row_if(&row, !p->paper, S_SWAP, sum->swap);
	row_u(&row, S_PID, p->pid);
	row_s(&row, S_UNIT, p->unit);
	row_s(&row, S_CLASS, strrchr(line->name, ';') + 1);
	if (line->unit) {
		row_s(&row, S_FILE, line->unit->name);
		build_text(&line->unit->build, build);
		row_s(&row, S_BUILD, *build ? build : NULL);
	}
	return row_out(&row, out, err);
}

static int stacks_finish(void *state, const struct census_out *out, struct atw_err *err)
{
	struct stacks_state *s = state;
	int r = ATW_OK;

	if (!stacks_name_units(s))
		return atw_err_nomem(err);
	for (size_t i = 0; i < s->groups.n; i++)
		if (stacks_has_any(&s->groups.v[i]) && !stacks_add_line(s, &s->groups.v[i]))
			return atw_err_nomem(err);
	/* Flame graphs draw what is in memory. */
	for (size_t i = 0; i < s->lines.n && r == ATW_OK; i++)
		if (s->lines.v[i].sum.rss || !out->plain)
			r = stacks_row(s, &s->lines.v[i], out, err);
	if (r == ATW_OK)
		report_note_ended(out, s->ended);
	return r;
}

static void stacks_deinit(void *state)
{
	struct stacks_state *s = state;

	free(s->process);
	intern_deinit(&s->units);
	groups_deinit(&s->groups);
	groups_deinit(&s->names);
	groups_deinit(&s->lines);
	buf_deinit(&s->text);
}

const struct census_report report_stacks = {
	.name = "stacks",
	.title = "Folded stacks",
	.help = "PSS by process, file and use, as tools for flame graphs read it",
	.on = CENSUS_ON(HEADER) | CENSUS_ON(PROCESS) | CENSUS_ON(AREA) | CENSUS_ON(PAGES),
	.schema = &schema,
	.tools = true,
	.state = sizeof(struct stacks_state),
	.feed = stacks_feed,
	.finish = stacks_finish,
	.deinit = stacks_deinit,
};
