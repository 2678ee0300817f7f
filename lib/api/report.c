/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - reports of the public API: made at once, and lent row by row. */
#include <atwalk/report.h>

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "api/api.h"
#include "census/model.h"
#include "host/host.h"
#include "record/intern.h"
#include "base/message.h"

struct atw_report {
	const struct census_report *kind;
	struct atw_report_column *column;
	size_t ncolumns;
	union atw_cell *cell; /* ncolumns of each row */
	uint64_t *known;      /* one of each row */
	size_t nrows, cells_cap, known_cap;
	struct intern texts; /* what cells point to */
	size_t at;
	struct api_lost lost;
	struct atw_report_row row;
};

const char *atw_report_name(size_t i, const char **title)
{
	const struct census_report *k = census_report_kind(i);

	if (k && title)
		*title = k->title;
	return k ? k->name : NULL;
}

/* ---- columns ---- */

static const uint32_t report_types[] = {
	[ATW_T_VA] = ATW_COLUMN_ADDRESS, [ATW_T_PA] = ATW_COLUMN_ADDRESS,
	[ATW_T_HEX] = ATW_COLUMN_HEX, [ATW_T_BYTES] = ATW_COLUMN_BYTES,
	[ATW_T_COUNT] = ATW_COLUMN_COUNT, [ATW_T_ENUM] = ATW_COLUMN_ENUM,
	[ATW_T_FLAGS] = ATW_COLUMN_FLAGS, [ATW_T_LETTERS] = ATW_COLUMN_LETTERS,
	[ATW_T_TEXT] = ATW_COLUMN_TEXT, [ATW_T_SECONDS] = ATW_COLUMN_MILLISECONDS,
	[ATW_T_CHANGE] = ATW_COLUMN_CHANGE, [ATW_T_CHANGE_BYTES] = ATW_COLUMN_CHANGE_BYTES,
	[ATW_T_PAGES] = ATW_COLUMN_PAGES, [ATW_T_LIST] = ATW_COLUMN_COUNT,
};

static bool report_set_columns(struct atw_report *r)
{
	const struct atw_schema *sc = r->kind->schema;

	r->ncolumns = sc->ncols;
	r->column = calloc(sc->ncols, sizeof(*r->column));
	for (size_t i = 0; r->column && i < sc->ncols; i++) {
		const struct atw_names *names = sc->col[i].names;

		r->column[i] = (struct atw_report_column){
			.name = sc->col[i].key,
			.help = sc->col[i].help,
			.names = names ? names->name : NULL,
			.nnames = names ? (uint32_t)names->n : 0,
			.type = report_types[sc->col[i].type],
			.letters = names ? names->letters : NULL,
		};
	}
	return r->column;
}

const struct atw_report_column *atw_report_column(const struct atw_report *report,
						  size_t i)
{
	return report && i < report->ncolumns ? &report->column[i] : NULL;
}

int atw_report_find_column(const struct atw_report *report, const char *name)
{
	for (size_t i = 0; report && name && i < report->ncolumns; i++)
		if (!strcmp(report->column[i].name, name))
			return (int)i;
	return ATW_E_NONE;
}

/* ---- rows ---- */

static int report_keep_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	struct atw_report *r = arg;
	size_t n = r->ncolumns;
	union atw_cell *cell;

	if (!array_reserve((void **)&r->cell, &r->cells_cap, (r->nrows + 1) * n,
			   sizeof(*r->cell)) ||
	    !ARRAY_ROOM(r->known, r->nrows, r->known_cap))
		return atw_err_nomem(err);
	cell = r->cell + r->nrows * n;
	for (size_t i = 0; i < n; i++) {
		cell[i].u = 0;
		if (!(row->have >> i & 1))
			continue;
		cell[i].u = row->v[i].u;
		if (r->column[i].type != ATW_COLUMN_TEXT)
			continue;
		cell[i].s = intern_text(&r->texts, row->v[i].s, strlen(row->v[i].s));
		if (!cell[i].s)
			return atw_err_nomem(err);
	}
	r->known[r->nrows++] = row->have;
	return ATW_OK;
}

/* Sentences for people: there are none here. */
ATW_PRINTF(2, 3) static void report_no_text(void *arg, const char *fmt, ...)
{
	(void)arg;
	(void)fmt;
}

ATW_PRINTF(3, 4)
static void report_no_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	(void)arg;
	(void)param;
	(void)fmt;
}

ATW_PRINTF(2, 3) static void report_lacks(void *arg, const char *fmt, ...)
{
	struct atw_report *r = arg;
	struct atw_err why = {.status = ATW_E_MISSING};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why.text, sizeof(why.text), message(fmt), ap);
	va_end(ap);
	api_lost_add(&r->lost, NULL, &why);
}

/* ---- the passes ---- */

/* Of the running kernel, where PIDs are those that this process has; else 0. */
static uint64_t report_self(struct atw_target *const *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!target_has(t[i]->t, TARGET_HERE) ||
		    (!target_has(t[i]->t, TARGET_OUR_PIDS) &&
		     !host_first_pid_namespace()))
			return 0;
	return (uint64_t)getpid();
}

/* What the report does not look at is not read. */
static struct census_collect_opts report_needs(const struct census_report *k,
					       const struct atw_report_opts *o)
{
	const uint32_t areas = CENSUS_ON(AREA) | CENSUS_ON(PAGES) | CENSUS_ON(AREA_END) |
			       CENSUS_ON(PROCESS) | CENSUS_ON(PROCESS_END);

	return (struct census_collect_opts){
		.frames = k->on & CENSUS_ON(FRAMES),
		.slabs = k->slabs,
		.threads = k->threads,
		.no_areas = !(k->on & areas),
		.no_tasks = !(k->on & (areas | CENSUS_ON(TASK))),
		.sums = k->sums && (!o->by || !strcmp(o->by, "process")),
		.kinds = true,
		.refs = !k->looks,
	};
}

/* The analysis points into the last model until it has finished. */
static int report_pass(struct atw_report *r, struct atw_target *t, void **state,
		       const struct census_collect_opts *co, const struct api_progress *progress,
		       struct census_model **model, struct atw_err *err)
{
	struct census_sink sink;
	struct atw_err why = {0};
	int rc;

	census_model_close(*model);
	*model = NULL;
	rc = census_model_open(&r->kind, state, 1, model, err);
	if (rc < 0)
		return rc;
	sink = census_model_sink(*model);
	rc = api_census(t, co, &sink, progress, &r->lost, err) ?: census_model_end(*model, err);
	if (rc == ATW_OK && t->info.defect[0]) {
		atw_err_set(&why, ATW_E_DAMAGED, "%.100s: %.300s", t->source,
			    t->info.defect);
		api_lost_add(&r->lost, NULL, &why);
	}
	return rc;
}

static int report_make(struct atw_report *r, struct atw_target *const *target, size_t n,
		       const struct atw_report_opts *o, struct atw_err *err)
{
	const struct census_report_opts ro = {
		.virtual = o->addresses,
		.by = o->by,
		.bare = o->bare,
		.self = report_self(target, n),
	};
	const struct census_collect_opts co = report_needs(r->kind, o);
	const struct api_progress progress = {o->progress, o->arg};
	const struct census_out out = {
		.row = report_keep_row,
		.text = report_no_text,
		.note = report_no_text,
		.left_out = report_no_left_out,
		.lacks = report_lacks,
		.whole = true,
		.arg = r,
	};
	struct census_model *model = NULL;
	void *state = NULL;
	int rc = census_report_start(r->kind, &ro, &state, err);

	for (size_t i = 0; i < n && rc == ATW_OK; i++)
		rc = report_pass(r, target[i], &state, &co, &progress, &model, err);
	if (rc == ATW_OK)
		rc = r->kind->finish(state, &out, err);
	census_report_drop(r->kind, state);
	census_model_close(model);
	return rc;
}

static int report_check(const struct census_report *k, struct atw_target *const *target,
			size_t n, const struct atw_report_opts *o, struct atw_err *err)
{
	int r = n ? api_given(target, "the targets", err)
		  : atw_err_set(err, ATW_E_USAGE, "no target is given");

	for (size_t i = 0; i < n && r == ATW_OK; i++)
		r = atw_target_need(target[i], ATW_CAP_PROCESSES, err);
	if (r == ATW_OK && !k->looks && n > 1)
		r = atw_err_set(err, ATW_E_USAGE, "report %s takes one target", k->name);
	if (r == ATW_OK && ((o->by && !k->by) || (o->bare && !k->bare) ||
			    (o->addresses && k->virtual != VIRTUAL)))
		r = atw_err_set(err, ATW_E_USAGE, "an option is not for the report %s",
				k->name);
	return r;
}

int atw_report_open(const char *name, struct atw_target *const *target, size_t n,
		    const struct atw_report_opts *opts, struct atw_report **ret,
		    struct atw_err *err)
{
	const struct census_report *k;
	struct atw_report_opts o;
	struct atw_report *r;
	int rc = api_opts(&o, sizeof(o), opts, err) ?:
		 api_both(name, "the name", ret, err);

	if (rc < 0)
		return rc;
	k = census_report_find(name, strlen(name));
	if (!k)
		return atw_err_set(err, ATW_E_USAGE, "there is no report '%.40s'", name);
	rc = report_check(k, target, n, &o, err);
	if (rc < 0)
		return rc;
	r = calloc(1, sizeof(*r));
	if (r)
		r->kind = k;
	if (!r || !report_set_columns(r))
		rc = atw_err_nomem(err);
	if (rc == ATW_OK)
		rc = report_make(r, target, n, &o, err);
	if (rc < 0)
		atw_report_close(r);
	else
		*ret = r;
	return rc;
}

int atw_report_next(struct atw_report *report, const struct atw_report_row **ret,
		    struct atw_err *err)
{
	int r = api_both(report, "the report", ret, err);

	if (r < 0)
		return r;
	if (report->at == report->nrows)
		return api_lost_end(&report->lost, err);
	report->row = (struct atw_report_row){
		.cell = report->cell + report->at * report->ncolumns,
		.known = report->known[report->at],
		.ncells = (uint32_t)report->ncolumns,
	};
	report->at++;
	*ret = &report->row;
	return ATW_OK;
}

void atw_report_close(struct atw_report *report)
{
	if (!report)
		return;
	intern_deinit(&report->texts);
	free(report->column);
	free(report->cell);
	free(report->known);
	free(report);
}
