/* SPDX-License-Identifier: GPL-2.0-or-later */
/* answers_picture.c - answers as pictures, and as pages of pictures and tables. */
#include "answers.h"

static int answers_picture_no(const struct answers *a, const struct answer *k)
{
	struct buf known = { 0 };
	struct answer other;
	int status;

	for (size_t i = 0; a->kind(i, &other); i++) {
		if (!other.picture)
			continue;
		buf_str(&known, known.len ? ", " : "");
		buf_str(&known, other.name);
	}
	status = usage_error(a->command, "--format %s: %s cannot be drawn; these can: %s",
			     a->format->name, k->name, known.data ? known.data : "");
	buf_deinit(&known);
	return status;
}

/* A picture shows all there is: what chooses rows is not for it. */
static int answers_picture_check_rows(const struct answers *a)
{
	const struct { const char *given, *name; } table[] = {
		{ a->c->columns, "--columns" }, { a->c->filter, "--filter" },
		{ a->c->sort, "--sort" }, { a->c->group, "--group" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].given && *table[i].given)
			return usage_error(a->command, "--format %s cannot be used with %s",
					   a->format->name, table[i].name);
	if (a->limit.given)
		return usage_error(a->command, "--format %s cannot be used with --limit",
				   a->format->name);
	if (a->n > 1 && !a->c->output)
		return usage_error(a->command,
				   "--format %s: several pictures need a folder, -o FOLDER",
				   a->format->name);
	return EXIT_COMPLETE;
}

int answers_check_picture(const struct answers *a)
{
	int status = answers_picture_check_rows(a);

	for (size_t i = 0; i < a->n && !status; i++)
		if (!a->v[i].picture)
			status = answers_picture_no(a, &a->v[i]);
	return status;
}

int answers_check_pictures(struct answers *a, struct atw_err *err)
{
	char path[4096];
	int status = answers_folder(a, err);

	for (size_t i = 0; i < a->n && status == ATW_OK; i++)
		status = answers_path(a, i, a->format->name, path) ?
			 picture_check(a->format, a->c->output ? path : NULL, err) :
			 atw_err_set(err, ATW_E_USAGE, "--output: the name is too long");
	return status;
}

int answers_open_page(struct answers *a, struct atw_err *err)
{
	struct atw_output_opts oo;
	int status = ATW_OK;

	for (size_t i = 0; i < a->n && status == ATW_OK; i++) {
		answers_rows(a, i, &oo);
		status = atw_output_check(&oo, a->v[i].schema, err);
		if (status < 0 && a->n > 1)
			atw_err_wrap(err, "report %s", a->v[i].name);
	}
	return status < 0 ? status : html_open(a->c->output, a->title, &a->html, err);
}

static int answers_picture_draw(struct answers *a, size_t i, struct scene *s,
				struct atw_err *err)
{
	int status;

	scene_init(s, 1, 1);
	status = a->draw(a->arg, i, s, err);
	if (status < 0)
		atw_err_wrap(err, "report %s", a->v[i].name);
	return status;
}

static int answers_picture_write(struct answers *a, size_t i, struct atw_err *err)
{
	char path[4096];
	struct scene s;
	int status = a->finish(a->arg, i, NULL, err);

	if (status < 0)
		return status;
	answers_path(a, i, a->format->name, path);
	status = answers_picture_draw(a, i, &s, err) ?:
		 outfile_open(a->c->output ? path : NULL, &a->drawn[i], err) ?:
		 picture_put(&s, a->format, &a->drawn[i], err);
	if (status == ATW_OK)
		a->target[i] = &a->drawn[i];
	scene_deinit(&s);
	return status;
}

/* One that cannot be drawn leaves its table alone, and says why. */
static int answers_picture_put(struct answers *a, size_t i, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct scene s;
	int status = answers_picture_draw(a, i, &s, &why);

	if (status == ATW_OK)
		status = html_picture(a->html, &s, err);
	else if (status == ATW_E_NOMEM && err)
		*err = why;
	else
		html_text(a->html, why.text);
	scene_deinit(&s);
	return status == ATW_E_NOMEM ? status : ATW_OK;
}

static int answers_picture_put_section(struct answers *a, size_t i, struct atw_err *err)
{
	struct atw_output_opts oo;
	int status;

	answers_rows(a, i, &oo);
	html_section(a->html, a->v[i].name, a->v[i].title, a->v[i].help);
	status = html_table(a->html, &oo, a->v[i].schema, &a->out[i], err) ?:
		 a->finish(a->arg, i, a->out[i], err) ?:
		 atw_output_commit(a->out[i], err);
	atw_output_close(a->out[i]);
	a->out[i] = NULL;
	return status == ATW_OK && a->v[i].picture ? answers_picture_put(a, i, err)
						   : status;
}

/* Known only now that all was read. */
static int answers_picture_put_head(struct answers *a, struct atw_err *err)
{
	struct buf b = { 0 };
	bool failed;

	a->head(a->arg, &b);
	failed = b.failed;
	html_about(a->html, b.data ? b.data : "");
	buf_deinit(&b);
	return failed ? atw_err_nomem(err) : ATW_OK;
}

int answers_print_pictures(struct answers *a, struct atw_err *err)
{
	int status = a->page && a->head ? answers_picture_put_head(a, err) : ATW_OK;

	for (size_t i = 0; i < a->n && status == ATW_OK; i++) {
		status = a->format ? answers_picture_write(a, i, err)
				   : answers_picture_put_section(a, i, err);
		/* One that cannot be drawn, or not all of it, leaves the others alone. */
		if (status == ATW_E_LIMIT) {
			print_error(err);
			a->lacks = true;
			status = ATW_OK;
		}
	}
	return status == ATW_OK && a->page ? html_commit(a->html, err) : status;
}
