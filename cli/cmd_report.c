/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_report.c - reports on physical memory: several answers from one pass. */
#include <pwd.h>

#include "report.h"
#include "report_head.h"
#include "host/host.h"
#include "watch.h"
#include "target/guest.h"
#include "base/message.h"

static const struct opt_choice by_choices[] = {
	{ "process", REPORT_BY_PROCESS }, { "user", REPORT_BY_USER },
	{ "cgroup", REPORT_BY_CGROUP }, { "unit", REPORT_BY_UNIT }, { 0 }
};

static const struct opt options[] = {
	{ 0, "virtual", OPT_FLAG, offsetof(struct report_opts, virtual), NULL,
	  "report virtual sizes instead of resident ones", NULL },
	{ 0, "paper", OPT_FLAG, offsetof(struct report_opts, paper), NULL,
	  "print in the layout of the figures in the LPMA paper", NULL },
	{ 0, "watch", OPT_TEXT, offsetof(struct report_opts, watch), "SECONDS[,TIMES]",
	  "repeat every SECONDS, until interrupted or TIMES times (live only)", NULL },
	{ 0, "by", OPT_CHOICE, offsetof(struct report_opts, by), "WHAT",
	  "group the report use by process, user, cgroup or unit", by_choices },
	{ 0, "kernel-threads", OPT_FLAG, offsetof(struct report_opts, bare), NULL,
	  "list tasks without memory of their own as well (basic only)", NULL },
	{ 0, "limit", OPT_NUMBER, offsetof(struct report_opts, limit), "N",
	  "print only the first N rows and the number of those left out", NULL },
	OPT_CENSUS(struct report_opts, source),
	{ 0 }
};

/* ---- which ones ---- */

static bool report_kind_at(size_t i, struct answer *ret)
{
	const struct census_report *k = census_report_kind(i);

	if (k)
		*ret = (struct answer){ k->name, k->title, k->help, k->schema,
					census_picture_find(k) != NULL };
	return k;
}

static int report_choose(struct report *r, const char *list)
{
	int status = answers_choose(&r->a, list);

	r->n = r->all = r->a.n;
	for (size_t i = 0; i < r->n; i++)
		r->kind[i] = census_report_kind(r->a.which[i]);
	return status;
}

static void report_choose_pictures(struct report *r)
{
	for (size_t i = 0; i < r->n && answers_drawn(&r->a); i++) {
		r->picture[i] = census_picture_find(r->kind[i]);
		if (!r->picture[i])
			continue;
		r->kind[r->all] = &r->picture[i]->of;
		r->drawing[i] = &r->state[r->all++];
	}
	if (r->a.page) {
		r->kind[r->all] = &report_head;
		r->head = &r->state[r->all++];
	}
}

/* ---- the pass ---- */

/* Is a column of page kinds shown, either by default or by --columns? */
static bool report_needs_kinds(const struct common *c, const struct census_report *kind)
{
	bool any = !c->columns || *c->columns == '+';

	for (const char *const *s = kind->kinds; s && *s; s++)
		any |= asks_for(c, *s);
	return any;
}

/* Options for the source: data that no report uses is not read. */
static struct census_source_opts report_wanted(const struct report *r)
{
	struct census_source_opts so = r->o->source;
	const uint32_t areas = CENSUS_ON(AREA) | CENSUS_ON(PAGES) | CENSUS_ON(AREA_END) |
			       CENSUS_ON(PROCESS) | CENSUS_ON(PROCESS_END);
	bool looks = true;               /* amounts change, not numbers */
	uint32_t on = 0;

	for (size_t i = 0; i < r->all; i++) {
		on |= r->kind[i]->on;
		so.need_slabs |= r->kind[i]->slabs;
		so.need_threads |= r->kind[i]->threads;
		looks &= r->kind[i]->looks;
	}
	so.sums = r->all == 1 && r->kind[0]->sums && !r->o->paper &&
		  (r->o->by == REPORT_BY_USUAL || r->o->by == REPORT_BY_PROCESS);
	so.kinds = !so.sums || report_needs_kinds(r->c, r->kind[0]);
	so.need_frames = on & CENSUS_ON(FRAMES);
	so.no_count = so.looks = looks;
	so.no_areas = !(on & areas);
	so.no_tasks = so.no_areas && !(on & CENSUS_ON(TASK));
	return so;
}

/* Pass one source through all reports. Prints errors. */
static int report_pass_on(struct report *r, const char *source,
			  const struct census_source_opts *so)
{
	struct atw_err err = { 0 };
	struct census_summary summary = { 0 };
	struct census_sink sink;
	int status;

	census_model_close(r->model);
	r->model = NULL;
	if (census_model_open(r->kind, r->state, r->all, &r->model, &err) < 0)
		return print_error(&err);
	sink = census_model_sink(r->model);
	status = census_source(r->c, source, so, &sink, &summary);
	r->summary.lost += summary.lost;
	r->summary.damaged += summary.damaged;
	r->summary.defective |= summary.defective;
	if (summary.unreadable.n)
		r->summary.unreadable = summary.unreadable;
	if (summary.lost)
		print_incomplete("%s: %" PRIu64 " read error%s%s", source, summary.lost,
				 summary.lost == 1 ? "" : "s", r->c->verbose ? "" : _(": -v lists them"));
	if (!status && census_model_end(r->model, &err) < 0) {
		atw_err_wrap(&err, "%s", source);
		status = print_error(&err);
	}
	return status;
}

struct sources {
	struct report *r;
	struct census_source_opts so;
	char **name;
	size_t n;
};

static int report_look_at(void *arg)
{
	struct sources *s = arg;
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < s->n && !status; i++)
		status = report_pass_on(s->r, s->name[i], &s->so);
	return status;
}

static int report_look_again(void *arg)
{
	struct sources *s = arg;
	struct atw_err err = { 0 };
	int status = report_look_at(arg);

	return !status && report_emit_snapshot(s->r, &err) < 0 ? print_error(&err) : status;
}

/*
 * The name in /etc/passwd. A lookup by getpwuid(3) would load NSS modules and contact
 * servers.
 */
static const char *report_user_name(void *arg, uint64_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;

	while (f && (p = fgetpwent(f)) && p->pw_uid != uid)
		;
	if (f)
		fclose(f);
	return p ? p->pw_name : NULL;
}

static bool report_is_here(const char *source)
{
	return !strcmp(source, "live") || !strncmp(source, "live:", 5);
}

bool report_is_live(const char *source)
{
	const char *host;

	while ((host = guest_host(source)))
		source = host;
	return report_is_here(source) || !strncmp(source, "qemu:", 5) || guest_word(source);
}

/*
 * Are PIDs our own: are all snapshots of running processes? In a PID namespace only /proc
 * has PIDs of that namespace.
 */
bool report_has_own_pids(char *const *source, size_t n)
{
	bool ours = true;

	for (size_t i = 0; i < n; i++)
		ours &= report_is_here(source[i]) &&
			(!strcmp(source[i], "live:pagemap") ||
			 host_first_pid_namespace());
	return ours;
}

static int report_emit(struct report *r, char **source, size_t n)
{
	const struct census_report_opts ro = {
		.virtual = r->o->virtual,
		.by = options_word(by_choices, r->o->by),
		.bare = r->o->bare,
		.user = r->here ? report_user_name : NULL,
		.self = report_has_own_pids(source, n) ? (uint64_t)getpid() : 0,
	};
	struct sources s = {r, report_wanted(r), source, n};
	struct session looks = { 0 };
	struct atw_err err = { 0 };
	int failed, status = EXIT_COMPLETE;

	r->source = source;
	r->nsources = n;
	failed = answers_open(&r->a, &err);
	for (size_t i = 0; i < r->all && failed == ATW_OK; i++)
		failed = census_report_start(r->kind[i], &ro, &r->state[i], &err);
	/* Types, symbols and programs are read and loaded once for all looks. */
	if (r->o->watch && n == 1)
		s.so.session = &looks;
	if (failed == ATW_OK)
		status = r->o->watch
				 ? watch_looks("report", r->o->watch,
					       r->here ? s.so.space.pid.u : 0, &looks,
					       &s.so.space, report_look_again, &s)
				 : report_look_at(&s);
	if (failed == ATW_OK && !status)
		failed = answers_print(&r->a, &err);
	for (size_t i = 0; i < r->all; i++)
		census_report_drop(r->kind[i], r->state[i]);
	census_model_close(r->model);
	if (looks.target)
		session_close(&looks);
	if (failed < 0)
		status = print_error(&err);
	answers_close(&r->a, status);
	return status ? status : r->summary.lost || r->summary.damaged || r->summary.defective || r->a.lacks ?
	       EXIT_PARTIAL : EXIT_COMPLETE;
}

static int report_run(const struct common *c, void *opts, int argc, char **argv)
{
	struct report r = {
		.c = c, .o = opts,
		.a = {.c = c,
		      .command = "report",
		      .title = "Use of physical memory",
		      .kind = report_kind_at,
		      .finish = report_finish,
		      .draw = report_draw,
		      .rows = report_rows,
		      .head = report_head_of,
		      .arg = &r},
	};
	int status;

	r.here = argc > 1 && report_is_here(argv[1]);
	if (argc && report_plugin_run(&r, argc, argv, &status))
		return status;
	if (argc == 1 && *argv[0] && !answers_known(&r.a, argv[0]) && is_source_word(argv[0]))
		return usage_error("report", "NAME is missing: atwalk report use %s", argv[0]);
	if (argc == 1 && !answers_known(&r.a, argv[0]))
		return answers_choose(&r.a, argv[0]);
	if (argc < 2)
		return usage_error("report", argc < 1 ? "NAME and SOURCE are missing"
							 : "SOURCE is missing");
	answers_order(&r.a, argc, argv);
	r.a.bare = r.o->paper;
	r.a.limit = r.o->limit;
	r.here = report_is_here(argv[1]);
	status = report_choose(&r, argv[0]);
	for (size_t i = 0; i < r.n; i++)
		r.a.bare |= r.kind[i]->text;
	if (!status)
		status = report_check(&r, argc - 1, argv + 1);
	if (status)
		return status;
	report_choose_pictures(&r);
	return report_emit(&r, argv + 1, (size_t)argc - 1);
}

const struct command cmd_report = {
	.name = "report",
	.args = "NAME[,NAME...] SOURCE...",
	.summary = "report how physical memory is used",
	.about =
		"Analyzes a capture (atwalk-capture(5)), a dump or the running system, after\n"
		"Movall, Nelson and Wetzstein, \"Linux Physical Memory Analysis\" (LPMA).\n"
		"Several reports share one pass.\n"
		"\n"
		"NAME:\n"
		"  basic    pages by process: read-only, read/write, stack, heap, data, text\n"
		"  areas    each memory area of each process, and the mapcounts of its pages\n"
		"  units    programs and libraries, across all processes: users of their pages\n"
		"  totals   memory of each program and library in all processes\n"
		"  alerts   areas with copied pages, or with private pages beside shared ones\n"
		"  count    number of pages that processes use, to compare over time\n"
		"  pages    each page of each process, by physical address, with its owner\n"
		"  use      RSS, PSS, USS and swap of each process, user, cgroup or unit\n"
		"  nodes    memory of each process on each NUMA node\n"
		"  stacks   PSS by process, file and use: folded, as for flame graphs\n"
		"  tasks    page faults and CPU times of each task, threads as well\n"
		"  kernel   objects and pages of each slab cache of the kernel\n"
		"  machine  use of every frame of RAM; adds up to MemTotal\n"
		"  backing  memory of a guest by use, and what of it the host has\n"
		"  metrics  memory of units and of the machine, for Prometheus\n"
		"Of several SOURCEs that are snapshots of one machine in this order:\n"
		"  thrash   faults, refaults and memory pressure: thrashing, and its processes\n"
		"  growth   processes that grow, their rate, and possible leaks",
	.common = OPT_COMMON_LISTING | OPT_COMMON_PICTURES,
	.options = options,
	.opts_size = sizeof(struct report_opts),
	.run = report_run,
};
