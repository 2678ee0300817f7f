/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_picture.c - reports as pictures, and as pages of pictures and tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "report.h"
#include "report_head.h"

static int no_picture(const struct report *r, const struct census_report *k)
{
	struct buf known = { 0 };
	int status;

	for (size_t i = 0; census_picture_kind(i); i++) {
		buf_str(&known, i ? ", " : "");
		buf_str(&known, census_picture_kind(i)->of.name);
	}
	status = complain_usage("report", "--format %s: %s is no picture; these are: %s",
				r->format->name, k->name, known.data ? known.data : "");
	buf_deinit(&known);
	return status;
}

/* A picture shows all there is: what chooses rows is not for it. */
static int check_rows(const struct report *r)
{
	const struct { const char *given, *name; } table[] = {
		{ r->c->columns, "--columns" }, { r->c->filter, "--filter" },
		{ r->c->sort, "--sort" }, { r->c->group, "--group" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].given && *table[i].given)
			return complain_usage("report", "--format %s has no rows, so not for %s",
					      r->format->name, table[i].name);
	if (r->o->limit.given)
		return complain_usage("report", "--format %s has no rows, so not for --limit",
				      r->format->name);
	if (r->n > 1 && !r->c->output)
		return complain_usage("report",
				      "--format %s: several pictures need a folder, -o FOLDER",
				      r->format->name);
	return EXIT_COMPLETE;
}

int report_choose_pictures(struct report *r)
{
	const char *name = r->c->format ? r->c->format : "plain";
	int status = EXIT_COMPLETE;

	r->format = picture_find(name);
	r->page = !strcmp(name, "html");
	r->all = r->n;
	if (r->format)
		status = check_rows(r);
	for (size_t i = 0; i < r->n && !status && (r->format || r->page); i++) {
		r->picture[i] = census_picture_find(r->kind[i]);
		if (!r->picture[i]) {
			status = r->format ? no_picture(r, r->kind[i]) : EXIT_COMPLETE;
			continue;
		}
		r->kind[r->all] = &r->picture[i]->of;
		r->drawing[i] = &r->state[r->all++];
	}
	if (r->page) {
		r->kind[r->all] = &report_head;
		r->head = &r->state[r->all++];
	}
	return status;
}

int report_check_pictures(struct report *r, struct atw_err *err)
{
	char path[4096];
	int status = report_folder(r, err);

	for (size_t i = 0; i < r->n && status == ATW_OK; i++)
		status = report_path(r, i, r->format->name, path) ?
			 picture_check(r->format, r->c->output ? path : NULL, err) :
			 atw_err_set(err, ATW_E_USAGE, "--output: too long a name");
	return status;
}

int report_open_page(struct report *r, struct atw_err *err)
{
	struct atw_output_opts oo;
	int status = ATW_OK;

	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		report_output_opts(r, i, &oo);
		status = atw_output_check(&oo, r->kind[i]->schema, err);
		if (status < 0 && r->n > 1)
			atw_err_wrap(err, "report %s", r->kind[i]->name);
	}
	return status < 0 ? status : html_open(r->c->output, "Who uses physical memory",
					       &r->html, err);
}

static int draw(struct report *r, size_t i, struct scene *s, struct atw_err *err)
{
	int status;

	scene_init(s, 1, 1);
	status = r->picture[i]->draw(*r->drawing[i], s, err);
	if (status < 0)
		atw_err_wrap(err, "report %s", r->kind[i]->name);
	return status;
}

static int write_picture(struct report *r, size_t i, struct atw_err *err)
{
	char path[4096];
	struct scene s;
	int status = report_finish(r, i, NULL, err);

	if (status < 0)
		return status;
	report_path(r, i, r->format->name, path);
	status = draw(r, i, &s, err);
	if (status == ATW_OK)
		status = target_open(r->c->output ? path : NULL, &r->drawn[i], err);
	if (status == ATW_OK)
		status = picture_put(&s, r->format, &r->drawn[i], err);
	if (status == ATW_OK)
		r->target[i] = &r->drawn[i];
	scene_deinit(&s);
	return status;
}

/* One that cannot be drawn leaves its table alone, and says why. */
static int put_picture(struct report *r, size_t i, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct scene s;
	int status = draw(r, i, &s, &why);

	if (status == ATW_OK)
		status = html_picture(r->html, &s, err);
	else if (status == ATW_E_NOMEM && err)
		*err = why;
	else
		html_text(r->html, why.text);
	scene_deinit(&s);
	return status == ATW_E_NOMEM ? status : ATW_OK;
}

static int put_section(struct report *r, size_t i, struct atw_err *err)
{
	struct atw_output_opts oo;
	int status;

	report_output_opts(r, i, &oo);
	html_section(r->html, r->kind[i]->name, r->kind[i]->title, r->kind[i]->help);
	status = html_table(r->html, &oo, r->kind[i]->schema, &r->out[i], err);
	if (status == ATW_OK)
		status = report_finish(r, i, r->out[i], err);
	if (status == ATW_OK)
		status = atw_output_commit(r->out[i], err);
	atw_output_close(r->out[i]);
	r->out[i] = NULL;
	return status == ATW_OK && r->picture[i] ? put_picture(r, i, err) : status;
}

/* Known only now that all was read. */
static int put_head(struct report *r, struct atw_err *err)
{
	struct buf b = { 0 };
	bool failed;

	report_head_text(*r->head, r->source, r->nsources, &b);
	failed = b.failed;
	html_about(r->html, b.data ? b.data : "");
	buf_deinit(&b);
	return failed ? atw_err_set(err, ATW_E_NOMEM, "not enough memory for the page") : ATW_OK;
}

int report_answer_pictures(struct report *r, struct atw_err *err)
{
	int status = r->page ? put_head(r, err) : ATW_OK;

	for (size_t i = 0; i < r->n && status == ATW_OK; i++) {
		status = r->format ? write_picture(r, i, err) : put_section(r, i, err);
		/* One that cannot be drawn, or not all of it, leaves the others alone. */
		if (status == ATW_E_LIMIT) {
			complain(err);
			r->lacks = true;
			status = ATW_OK;
		}
	}
	return status == ATW_OK && r->page ? html_commit(r->html, err) : status;
}
