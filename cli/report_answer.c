/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_answer.c - output of reports, for all formats. */
#include <stdarg.h>

#include "report.h"
#include "report_head.h"
#include "base/message.h"
#include "output/annotate.h"

/* Of one report. */
struct answer_sink {
	struct report *r;
	size_t i;
	struct atw_output *out;                  /* NULL: no rows are wanted */
	const struct census_picture *picture;    /* NULL: no pictures are wanted */
	void *drawing;
};

static int answer_out_row(void *arg, const struct atw_row *row, struct atw_err *err)
{
	const struct answer_sink *a = arg;
	int status = ATW_OK;

	if (a->picture && a->picture->row)
		status = census_picture_row(a->picture, a->r->kind[a->i], a->drawing, row,
					    err);
	return status == ATW_OK && a->out ? atw_output_row(a->out, row, err) : status;
}

static void answer_put_text(const struct answer_sink *a, const char *text)
{
	atw_output_text(a->out, "%s", text);
}

/* Tools read all lines as data. */
static void answer_put_note(const struct answer_sink *a, const char *text)
{
	if (a->r->kind[a->i]->tools && a->r->a.plain)
		print_warning(a->r->c, "report %s: %s", a->r->kind[a->i]->name, text);
	else
		atw_output_note(a->out, "%s", text);
}

/* printf(3) of `format` into `to`. The output remembers a failure. */
#define PASS_ON(to, format)                                                              \
	do {                                                                             \
		const struct answer_sink *a = arg;                                    \
		va_list ap;                                                              \
		char *text;                                                              \
		if (!a->out)                                                             \
			return;                                                          \
		va_start(ap, fmt);                                                       \
		if (vasprintf(&text, format, ap) >= 0) {                                 \
			to(a, text);                                                     \
			free(text);                                                      \
		}                                                                        \
		va_end(ap);                                                              \
	} while (0)

ATW_PRINTF(2, 3) static void answer_out_text(void *arg, const char *fmt, ...)
{
	PASS_ON(answer_put_text, fmt);
}

ATW_PRINTF(2, 3) static void answer_out_note(void *arg, const char *fmt, ...)
{
	PASS_ON(answer_put_note, message(fmt));
}

ATW_PRINTF(3, 4)
static void answer_out_left_out(void *arg, enum atw_param param, const char *fmt, ...)
{
	const struct answer_sink *a = arg;
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), message(fmt), ap);
	va_end(ap);
	if (a->out)
		atw_output_note(a->out, "%s; %s", text, param_remedy(param));
}

/*
 * Print why the result is incomplete on standard error, and as a note if the format has
 * notes.
 */
ATW_PRINTF(2, 3) static void answer_out_lacks(void *arg, const char *fmt, ...)
{
	const struct answer_sink *a = arg;
	struct atw_err err = { 0 };
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), message(fmt), ap);
	va_end(ap);
	a->r->a.lacks = true;
	if (a->out && (a->r->a.plain || a->r->a.page))
		atw_output_note(a->out, "%s", text);
	atw_err_set(&err, ATW_E_MISSING, "report %s: %s", a->r->kind[a->i]->name, text);
	if (diagnostics_are_of_query() && a->r->kind[a->i]->looks)
		atw_err_hint(&err, "a table is one look at one SOURCE: use atwalk report %s SOURCE SOURCE...",
			     a->r->kind[a->i]->name);
	else if (report_is_live(*a->r->source) && !a->r->o->watch && a->r->kind[a->i]->looks)
		atw_err_hint(&err, "--watch SECONDS,TIMES looks at a live SOURCE several times");
	print_error(&err);
}

/* Users of a running system are known by name. */
static bool answer_names_users(const struct report *r, size_t i)
{
	return r->here && r->kind[i]->by && r->o->by == REPORT_BY_USER;
}

void report_rows(void *arg, size_t i, struct atw_output_opts *oo)
{
	const struct report *r = arg;

	oo->page_units = r->c->units;
	if (r->here)
		oo->listing = ATW_LISTING_RUNNING |
			      (report_has_own_pids(r->source, r->nsources) ? ATW_LISTING_PIDS : 0);
	/* Output for other tools is not truncated, and the LPMA layout has no columns. */
	oo->ahead = !r->kind[i]->tools && !r->o->paper;
	oo->sumless = r->o->watch && r->kind[i]->again;
	if (r->c->columns && *r->c->columns)
		return;
	/* All that the profile has a place for. */
	if (r->c->format == FORMAT_PPROF && r->kind[i] == census_report_find("stacks", 6))
		oo->columns = "stack,pss,uss,rss,swap,pid,unit,class,file,build";
	if (oo->sumless)
		oo->columns = answer_names_users(r, i) ? "+look,user" : "+look";
	else if (answer_names_users(r, i))
		oo->columns = "+user";
}

typedef int answer_emit_fn(void *state, const struct census_out *out, struct atw_err *err);

static int answer_emit(struct report *r, size_t i, answer_emit_fn *emit,
		       struct atw_output *to, struct atw_err *err)
{
	struct answer_sink t = {
		.r = r,
		.i = i,
		.out = to,
		.picture = r->picture[i],
		.drawing = r->picture[i] ? *r->drawing[i] : NULL,
	};
	const struct census_out out = {
		.row = answer_out_row,
		.text = answer_out_text,
		.note = answer_out_note,
		.left_out = answer_out_left_out,
		.lacks = answer_out_lacks,
		.plain = r->a.plain,
		.whole = !r->c->filter || !*r->c->filter,
		.paper = r->o->paper,
		.damaged = r->summary.damaged,
		.arg = &t,
	};
	int status;

	if (to && r->model)
		atw_output_page(to, (unsigned)__builtin_ctzll(census_model_page(r->model)));
	status = emit(r->state[i], &out, err);
	if (status == ATW_OK && to && !r->a.bare)
		unreadable_note(&r->summary.unreadable, to);
	return status;
}

int report_finish(void *arg, size_t i, struct atw_output *to, struct atw_err *err)
{
	struct report *r = arg;

	return answer_emit(r, i, r->kind[i]->finish, to, err);
}

int report_draw(void *arg, size_t i, struct scene *s, struct atw_err *err)
{
	struct report *r = arg;

	return r->picture[i]->draw(*r->drawing[i], s, err);
}

void report_head_of(void *arg, struct buf *ret)
{
	const struct report *r = arg;

	report_head_text(*r->head, r->source, r->nsources, ret);
}

/* Emit the rows that are final, between two snapshots. */
int report_emit_snapshot(struct report *r, struct atw_err *err)
{
	int status = ATW_OK;

	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		if (!r->kind[i]->step || !r->a.out[i])
			continue;
		status = answer_emit(r, i, r->kind[i]->step, r->a.out[i], err) ?:
			 atw_output_flush(r->a.out[i], err);
	}
	return status;
}
