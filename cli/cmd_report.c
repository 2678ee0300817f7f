/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_report.c - who uses physical memory: one pass over a source, several answers. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "report.h"
#include "watch.h"

static const struct opt options[] = {
	{ 0, "virtual", OPT_FLAG, offsetof(struct report_opts, virtual), NULL,
	  "sizes of addresses, not of pages that are in memory", NULL },
	{ 0, "paper", OPT_FLAG, offsetof(struct report_opts, paper), NULL,
	  "the layout of the paper's figures", NULL },
	{ 0, "watch", OPT_TEXT, offsetof(struct report_opts, watch), "SECONDS[,TIMES]",
	  "live: many looks, one every so often, until it is interrupted", NULL },
	{ 0, "by", OPT_CHOICE, offsetof(struct report_opts, by), "WHAT",
	  "use: of each process, user, cgroup or unit", "process|user|cgroup|unit" },
	{ 0, "limit", OPT_NUMBER, offsetof(struct report_opts, limit), "N",
	  "the first N rows alone, and how many there are more", NULL },
	CENSUS_OPTIONS(struct report_opts, source),
	{ 0 }
};

/* ---- which ones ---- */

static int unknown(const char *name, size_t len)
{
	struct buf known = { 0 };
	int status;

	for (size_t i = 0; census_report_kind(i); i++) {
		buf_str(&known, i ? ", " : "");
		buf_str(&known, census_report_kind(i)->name);
	}
	status = complain_usage("report", "there is no report '%.*s'; known: %s",
				(int)(len < 40 ? len : 40), name, known.data ? known.data : "");
	buf_deinit(&known);
	return status;
}

static int choose(struct report *r, const char *list)
{
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ",");
		const struct census_report *k = census_report_find(s, len);

		if (!k)
			return unknown(s, len);
		for (size_t i = 0; i < r->n; i++)
			if (r->kind[i] == k)
				return complain_usage("report", "'%s' is asked for twice", k->name);
		if (r->n == REPORTS)
			return complain_usage("report", "more than %d reports", REPORTS);
		r->kind[r->n++] = k;
		s += len;
		if (!*s)
			return EXIT_COMPLETE;
	}
}

/* ---- where answers go ---- */

/* Of one report. */
struct answer {
	struct report *r;
	size_t i;
	struct atw_output *out;                  /* NULL: nobody reads rows */
	const struct census_picture *picture;    /* NULL: nobody draws them */
	void *drawing;
};

static int out_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	const struct answer *a = arg;
	int status = ATW_OK;

	if (a->picture && a->picture->row)
		status = a->picture->row(a->drawing, row, err);
	return status == ATW_OK && a->out ? atw_output_row(a->out, row, err) : status;
}

/* printf(3), into `to`. A failure stays with the output. */
#define PASS_ON(to) do { \
	const struct answer *a = arg; \
	va_list ap; \
	char *text; \
	if (!a->out) \
		return; \
	va_start(ap, fmt); \
	if (vasprintf(&text, fmt, ap) >= 0) { \
		to(a->out, "%s", text); \
		free(text); \
	} \
	va_end(ap); \
} while (0)

ATW_PRINTF(2, 3) static void out_text(void *arg, const char *fmt, ...)
{
	PASS_ON(atw_output_text);
}

ATW_PRINTF(2, 3) static void out_note(void *arg, const char *fmt, ...)
{
	PASS_ON(atw_output_note);
}

/* Where there are no notes it is said beside the answer. */
ATW_PRINTF(2, 3) static void out_lacks(void *arg, const char *fmt, ...)
{
	const struct answer *a = arg;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	a->r->lacks = true;
	if (a->out && (a->r->plain || a->r->page))
		atw_output_note(a->out, "%s", text);
	else if (a->out)
		remark(a->r->c, "report %s: %s", a->r->kind[a->i]->name, text);
}

/* Users of a running system are known by name. */
static bool names_users(const struct report *r, size_t i)
{
	return r->live && r->kind[i]->by && r->o->by && !strcmp(r->o->by, "user");
}

void report_output_opts(const struct report *r, size_t i, struct atw_output_opts *ret)
{
	output_opts(r->c, NULL, ret);
	ret->page_units = r->c->units;
	ret->limit = r->o->limit.u;
	/* What others read is not cut, and what is the paper's has no columns. */
	ret->ahead = !r->kind[i]->tools && !r->o->paper;
	if (names_users(r, i) && (!r->c->columns || !*r->c->columns))
		ret->columns = "+user";
}

static int open_one(struct report *r, size_t i, const char *path, struct atw_err *err)
{
	struct atw_output_opts oo;
	int status;

	report_output_opts(r, i, &oo);
	oo.path = path;
	oo.bare = r->o->paper;
	status = atw_output_open(&oo, r->kind[i]->schema, &r->out[i], err);
	if (status < 0 && r->n > 1)
		atw_err_wrap(err, "report %s", r->kind[i]->name);
	return status;
}

bool report_path(const struct report *r, size_t i, const char *ending, char path[4096])
{
	int n;

	if (r->n == 1)
		n = snprintf(path, 4096, "%s", r->c->output ? r->c->output : "");
	else
		n = snprintf(path, 4096, "%s/%s.%s", r->c->output ? r->c->output : "",
			     r->kind[i]->name, ending);
	return n >= 0 && n < 4096;
}

int report_folder(struct report *r, struct atw_err *err)
{
	if (r->n < 2 || !r->c->output)
		return ATW_OK;
	r->made = !mkdir(r->c->output, 0777);
	if (!r->made && errno != EEXIST)
		return atw_err_set(err, ATW_E_IO, "%s: cannot make a folder for several "
				   "reports: %m", r->c->output);
	return ATW_OK;
}

/* What was typed must suit all of them, before anything is read. */
static int open_outputs(struct report *r, struct atw_err *err)
{
	struct atw_output_opts oo;
	char path[4096];
	int status = ATW_OK;

	if (r->format)
		return report_check_pictures(r, err);
	if (r->page)
		return report_open_page(r, err);
	if (r->n == 1)
		return open_one(r, 0, r->c->output, err);
	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		report_output_opts(r, i, &oo);
		status = atw_output_check(&oo, r->kind[i]->schema, err);
		if (status < 0)
			atw_err_wrap(err, "report %s", r->kind[i]->name);
	}
	if (status < 0 || !r->c->output)
		return status;
	status = report_folder(r, err);
	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		if (!report_path(r, i, r->plain ? "txt" : r->c->format, path))
			return atw_err_set(err, ATW_E_USAGE, "--output: too long a name");
		status = open_one(r, i, path, err);
	}
	return status;
}

typedef int tell_fn(void *state, const struct census_out *out, struct atw_err *err);

static int have_told(struct report *r, size_t i, tell_fn *tell, struct atw_output *to,
		     struct atw_err *err)
{
	struct answer a = {
		.r = r, .i = i, .out = to, .picture = r->picture[i],
		.drawing = r->picture[i] ? *r->drawing[i] : NULL,
	};
	const struct census_out out = {
		.row = out_row, .text = out_text, .note = out_note, .lacks = out_lacks,
		.plain = r->plain, .whole = !r->c->filter || !*r->c->filter,
		.paper = r->o->paper, .arg = &a,
	};

	if (to && r->model)
		atw_output_page(to, (unsigned)__builtin_ctzll(census_model_page(r->model)));
	return tell(r->state[i], &out, err);
}

int report_finish(struct report *r, size_t i, struct atw_output *to, struct atw_err *err)
{
	return have_told(r, i, r->kind[i]->finish, to, err);
}

/* Between two looks: what is known for good leaves now. */
static int tell_look(struct report *r, struct atw_err *err)
{
	int status = ATW_OK;

	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		if (!r->kind[i]->step || !r->out[i])
			continue;
		status = have_told(r, i, r->kind[i]->step, r->out[i], err);
		if (status == ATW_OK)
			status = atw_output_flush(r->out[i], err);
	}
	return status;
}

static int answer_one(struct report *r, size_t i, struct atw_err *err)
{
	int status = r->out[i] ? ATW_OK : open_one(r, i, NULL, err);

	if (status < 0)
		return status;
	status = report_finish(r, i, r->out[i], err);
	if (status == ATW_OK)
		status = atw_output_commit(r->out[i], err);
	if (status == ATW_OK && !r->plain && atw_output_left_out(r->out[i]))
		remark(r->c, "report %s: --limit leaves out %" PRIu64 " rows", r->kind[i]->name,
		       atw_output_left_out(r->out[i]));
	atw_output_close(r->out[i]);
	r->out[i] = NULL;
	return status;
}

/*
 * Between answers that go to standard output one behind the other: a title, or they
 * could not be told apart; nothing where programs read them as a row of JSON.
 */
static int part(const struct report *r, size_t i, struct atw_err *err)
{
	bool json = r->c->format && *r->c->format == 'j';

	if (r->n == 1 || r->c->output || json)
		return ATW_OK;
	if (i)
		putchar('\n');
	if (r->plain && !r->o->paper)
		printf("%s: %s\n", r->kind[i]->name, r->kind[i]->title);
	if (!fflush(stdout))
		return ATW_OK;
	return atw_err_set(err, ATW_E_IO, "standard output: cannot write: %m");
}

static int answer(struct report *r, struct atw_err *err)
{
	int status = ATW_OK;

	if (r->format || r->page)
		return report_answer_pictures(r, err);
	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		status = part(r, i, err);
		if (status == ATW_OK)
			status = answer_one(r, i, err);
	}
	return status;
}

/* ---- the pass ---- */

/* What no report looks at is not read. */
static struct census_source_opts wanted(const struct report *r)
{
	struct census_source_opts so = r->o->source;
	const uint32_t areas = CENSUS_ON(AREA) | CENSUS_ON(PAGES) | CENSUS_ON(AREA_END) |
			       CENSUS_ON(PROCESS) | CENSUS_ON(PROCESS_END);
	bool looks = true;               /* what changes is how much, not of how many */
	uint32_t on = 0;

	for (size_t i = 0; i < r->all; i++) {
		on |= r->kind[i]->on;
		looks &= r->kind[i]->looks;
	}
	so.need_frames = on & CENSUS_ON(FRAMES);
	so.no_count = looks;
	so.no_areas = !(on & areas);
	so.no_tasks = so.no_areas && !(on & CENSUS_ON(TASK));
	return so;
}

/* One source from its beginning to its end; complains itself. */
static int pass(struct report *r, const char *source, const struct census_source_opts *so)
{
	struct atw_err err = { 0 };
	struct census_told told = { 0 };
	struct census_sink sink;
	int status;

	census_model_close(r->model);
	r->model = NULL;
	if (census_model_open(r->kind, r->state, r->all, &r->model, &err) < 0)
		return complain(&err);
	sink = census_model_sink(r->model);
	status = census_source(r->c, source, so, &sink, &told);
	r->told.lost += told.lost;
	r->told.damaged += told.damaged;
	r->told.defective |= told.defective;
	if (told.lost)
		remark(r->c, "%s: %" PRIu64 " thing%s could not be read%s", source, told.lost,
		       told.lost == 1 ? "" : "s", r->c->verbose ? "" : ": -v lists them");
	if (!status && census_model_end(r->model, &err) < 0) {
		atw_err_wrap(&err, "%s", source);
		status = complain(&err);
	}
	return status;
}

struct sources {
	struct report *r;
	struct census_source_opts so;
	char **name;
	size_t n;
};

static int look_at(void *arg)
{
	struct sources *s = arg;
	int status = EXIT_COMPLETE;

	for (size_t i = 0; i < s->n && !status; i++)
		status = pass(s->r, s->name[i], &s->so);
	return status;
}

static int look_again(void *arg)
{
	struct sources *s = arg;
	struct atw_err err = { 0 };
	int status = look_at(arg);

	return !status && tell_look(s->r, &err) < 0 ? complain(&err) : status;
}

/*
 * As /etc/passwd has it. Who asks all that may know, as getpwuid(3) does, loads modules
 * and talks to servers.
 */
static const char *user_name(void *arg, uint64_t uid)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *p = NULL;

	(void)arg;
	while (f && (p = fgetpwent(f)) && p->pw_uid != uid)
		;
	if (f)
		fclose(f);
	return p ? p->pw_name : NULL;
}

static int tell(struct report *r, char **source, size_t n)
{
	const struct census_report_opts ro = {
		.virtual = r->o->virtual, .by = r->o->by, .user = r->live ? user_name : NULL,
	};
	struct sources s = { r, wanted(r), source, n };
	struct atw_err err = { 0 };
	int failed = open_outputs(r, &err), status = EXIT_COMPLETE;

	r->source = source;
	r->nsources = n;
	for (size_t i = 0; i < r->all && failed == ATW_OK; i++)
		failed = r->kind[i]->start(&ro, &r->state[i], &err);
	if (failed == ATW_OK)
		status = r->o->watch ? watch_looks("report", r->o->watch, s.so.space.pid.u,
						   look_again, &s) : look_at(&s);
	if (failed == ATW_OK && !status)
		failed = answer(r, &err);
	for (size_t i = 0; i < r->all; i++)
		r->kind[i]->drop(r->state[i]);
	for (size_t i = 0; i < r->n; i++)
		atw_output_close(r->out[i]);
	html_close(r->html);
	census_model_close(r->model);
	if (failed < 0)
		status = complain(&err);
	/* Of an answer that failed nothing is left, not even an empty folder. */
	if (status && r->made)
		rmdir(r->c->output);
	return status ? status : r->told.lost || r->told.damaged || r->told.defective || r->lacks ?
	       EXIT_PARTIAL : EXIT_COMPLETE;
}

static int run(const struct common *c, void *opts, int argc, char **argv)
{
	struct report r = {
		.c = c, .o = opts, .plain = !c->format || !strcmp(c->format, "plain"),
	};
	int status;

	if (argc < 2)
		return complain_usage("report", argc < 1 ? "NAME and SOURCE are missing"
							 : "SOURCE is missing");
	r.live = !strcmp(argv[1], "live") || !strncmp(argv[1], "live:", 5);
	status = choose(&r, argv[0]);
	if (!status)
		status = report_check(&r, argc - 1, argv + 1);
	if (!status)
		status = report_choose_pictures(&r);
	return status ? status : tell(&r, argv + 1, (size_t)argc - 1);
}

const struct command cmd_report = {
	"report", "NAME[,NAME...] SOURCE...", "who uses physical memory",
	"Analyses of a capture (atwalk-capture(5)), a dump or the running system, after\n"
	"Movall, Nelson and Wetzstein, \"Linux Physical Memory Analysis\". Several share one\n"
	"pass.\n\n"
	"NAME:\n"
	"  basic    pages of each process: read-only and read/write, stack, heap, data, text\n"
	"  areas    every area of every process, and how often each of its pages is mapped\n"
	"  units    programs and libraries, across all processes: who has which of their pages\n"
	"  totals   what each program and library takes in all processes\n"
	"  alerts   areas with copied pages, or with pages of one user beside shared ones\n"
	"  count    pages of memory that processes have: a number to follow over time\n"
	"  pages    every page that a process has, by physical address, with its owner\n"
	"  use      RSS, PSS, USS and swap of each process, user, cgroup or unit\n"
	"  stacks   pages by process, file and use: folded, as for flame graphs\n"
	"  machine  every frame of RAM by what it is used for; sums up to MemTotal\n"
	"Of several SOURCEs, looks at one machine in this order:\n"
	"  thrash   faults, refaults and memory pressure: thrashing or not, and who\n"
	"  growth   whose memory grows, how fast, and what may be a leak\n",
	options, sizeof(struct report_opts), run,
};
