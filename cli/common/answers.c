/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "answers.h"

#include <sys/stat.h>

#include "base/message.h"
#include "base/nearest.h"
#include "output/sink.h"
#include "ending.h"
#include "plugins.h"

/* ---- several answers in files: all of them or none ---- */

bool answers_path(const struct answers *a, size_t i, const char *ending, char path[4096])
{
	const char *to = a->c->output ? a->c->output : "";
	int n = a->n == 1 ? snprintf(path, 4096, "%s", to)
			  : snprintf(path, 4096, "%s/%s.%s", to, a->v[i].name, ending);

	return n >= 0 && n < 4096;
}

/* ---- an end before the end ---- */

static const char *volatile made;        /* a folder that is empty so far; NULL: none */

/* Files have no names before they are complete, and need no removal. */
static void answers_tidy(void)
{
	if (made)
		rmdir(made);
}

/* Installs the signal handlers again, after other code has replaced them. */
static void answers_catch(const struct answers *a)
{
	if (a->made)
		ending_catch(answers_tidy);
}

int answers_folder(struct answers *a, struct atw_err *err)
{
	sigset_t signals, were;
	struct stat st;
	int e;

	if (a->n < 2 || !a->c->output)
		return ATW_OK;
	ending_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &were);
	a->made = !mkdir(a->c->output, 0777);
	e = errno;
	if (a->made) {
		made = a->c->output;
		ending_catch(answers_tidy);
	}
	sigprocmask(SIG_SETMASK, &were, NULL);
	if (!a->made && e == EEXIST && (stat(a->c->output, &st) < 0 || !S_ISDIR(st.st_mode)))
		return atw_err_set(err, ATW_E_IO, "%s: not a folder; several reports need a "
				   "folder", a->c->output);
	if (!a->made && e != EEXIST)
		return atw_err_set(err, ATW_E_IO, "%s: cannot create a folder for several "
				   "reports: %s", a->c->output, strerror(e));
	return ATW_OK;
}

/* Renames all complete files; those that could not be drawn have no name. */
static int answers_name(struct answers *a, struct atw_err *err)
{
	struct outfile *all[ANSWERS];
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++)
		if (a->target[i])
			all[n++] = a->target[i];
	return n ? outfile_commit_all(all, n, err) : ATW_OK;
}

/* ---- which ones ---- */

static void answers_add_known(struct buf *known, struct nearest *near, const char *name)
{
	buf_str(known, known->len ? ", " : "");
	buf_str(known, name);
	nearest_try(near, name);
}

/* Reports of plugins are made alone, so that one in a list is known and cannot be had. */
static int answers_unknown(const struct answers *a, const char *name, size_t len)
{
	const struct plugins *g = a->c->plugins;
	struct nearest near = { .word = name, .len = len };
	struct buf known = { 0 };
	struct answer k;
	int status;

	for (size_t i = 0; a->kind(i, &k); i++)
		answers_add_known(&known, &near, k.name);
	for (size_t i = 0; g && i < g->n; i++)
		for (size_t r = 0; r < g->v[i]->nreports; r++) {
			const char *report = g->v[i]->report[r].of.name;

			if (strlen(report) == len && !memcmp(report, name, len)) {
				buf_deinit(&known);
				return usage_error(a->command, "report %s of plugin %s cannot be combined with others",
						   report, g->v[i]->name);
			}
			answers_add_known(&known, &near, report);
		}
	status = usage_error(a->command, "there is no report '%.*s'%s%s%s; known: %s",
			     (int)(len < 40 ? len : 40), name, near.name ? _(", perhaps '") : "",
			     near.name ? near.name : "", near.name ? "'" : "",
			     known.data ? known.data : "");
	buf_deinit(&known);
	return status;
}

static bool answers_find(const struct answers *a, const char *name, size_t len,
			 struct answer *ret, size_t *which)
{
	for (size_t i = 0; a->kind(i, ret); i++)
		if (strlen(ret->name) == len && !memcmp(ret->name, name, len)) {
			*which = i;
			return true;
		}
	return false;
}

static int answers_choose_names(struct answers *a, const char *list)
{
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ","), which;
		struct answer k;

		if (!answers_find(a, s, len, &k, &which))
			return answers_unknown(a, s, len);
		for (size_t i = 0; i < a->n; i++)
			if (a->which[i] == which)
				return usage_error(a->command, "'%s' is given twice",
						   k.name);
		if (a->n == ANSWERS)
			return usage_error(a->command, "more than %d reports", ANSWERS);
		a->which[a->n] = which;
		a->v[a->n++] = k;
		s += len;
		if (!*s)
			return EXIT_COMPLETE;
	}
}

bool answers_known(const struct answers *a, const char *list)
{
	for (const char *s = list;; s++) {
		size_t len = strcspn(s, ","), which;
		struct answer k;

		if (!answers_find(a, s, len, &k, &which))
			return false;
		s += len;
		if (!*s)
			return true;
	}
}

void answers_order(const struct answers *a, int argc, char **argv)
{
	char *names = argc > 1 ? argv[argc - 1] : NULL;

	if (!names || answers_known(a, argv[0]) || !is_source_word(argv[0]) ||
	    (!answers_known(a, names) && is_source_word(names)))
		return;
	memmove(argv + 1, argv, (size_t)(argc - 1) * sizeof(*argv));
	argv[0] = names;
}

int answers_choose(struct answers *a, const char *list)
{
	a->plain = a->c->format == FORMAT_PLAIN;
	a->format = picture_find(format_word(a->c));
	a->page = a->c->format == FORMAT_HTML;
	for (size_t i = 0; i < ANSWERS; i++)
		a->drawn[i].fd = -1;
	return answers_choose_names(a, list);
}

static bool answers_has_sizes(const struct atw_schema *sc)
{
	for (size_t i = 0; i < sc->ncols; i++) {
		enum atw_type type = sc->col[i].type;

		if (type == ATW_T_BYTES || type == ATW_T_CHANGE_BYTES || type == ATW_T_PAGES)
			return true;
	}
	return false;
}

int answers_check(const struct answers *a)
{
	struct stat st;

	if (a->limit.given && !a->limit.u)
		return usage_error(a->command, "--limit must be at least 1");
	for (size_t i = 0; a->c->units && i < a->n; i++)
		if (!answers_has_sizes(a->v[i].schema))
			return usage_error(a->command, "--units: %s has no column of sizes",
					   a->v[i].name);
	if (a->page && a->c->output && stat(a->c->output, &st) == 0 && S_ISDIR(st.st_mode))
		return usage_error(a->command, "--format html writes one page, and %s is a folder",
				   a->c->output);
	if (a->n > 1 && !a->c->output &&
	    (a->c->format == FORMAT_PARQUET || (a->c->sink && a->c->sink->binary)))
		return usage_error(a->command, "a %s file has one table: name one report, or "
				   "a folder by --output", format_word(a->c));
	return a->format ? answers_check_picture(a) : EXIT_COMPLETE;
}

/* ---- where they go ---- */

void answers_rows(const struct answers *a, size_t i, struct atw_output_opts *ret)
{
	rows_opts(a->c, ret);
	ret->limit = a->limit.u;
	ret->ahead = true;
	if (a->rows)
		a->rows(a->arg, i, ret);
}

static int answers_open_one(struct answers *a, size_t i, const char *path,
			    struct atw_err *err)
{
	struct atw_output_opts oo;
	int status;

	answers_rows(a, i, &oo);
	oo.path = path;
	oo.bare = a->bare;
	status = atw_output_open(&oo, a->v[i].schema, &a->out[i], err);
	if (status < 0 && a->n > 1)
		atw_err_wrap(err, "report %s", a->v[i].name);
	return status;
}

int answers_open(struct answers *a, struct atw_err *err)
{
	struct atw_output_opts oo;
	char path[4096];
	int status = ATW_OK;

	if (a->format)
		return answers_check_pictures(a, err);
	if (a->page)
		return answers_open_page(a, err);
	if (a->n == 1)
		return answers_open_one(a, 0, a->c->output, err);
	for (size_t i = 0; i < a->n && status == ATW_OK; i++) {
		answers_rows(a, i, &oo);
		status = atw_output_check(&oo, a->v[i].schema, err);
		if (status < 0)
			atw_err_wrap(err, "report %s", a->v[i].name);
	}
	if (status < 0 || !a->c->output)
		return status;
	status = answers_folder(a, err);
	for (size_t i = 0; i < a->n && status == ATW_OK; i++) {
		if (!answers_path(a, i, a->plain ? "txt" : format_word(a->c), path))
			return atw_err_set(err, ATW_E_USAGE, "--output: the name is too long");
		status = answers_open_one(a, i, path, err);
	}
	return status;
}

/* ---- telling them ---- */

static int answers_emit_one(struct answers *a, size_t i, struct atw_err *err)
{
	bool waits = a->n > 1 && a->c->output;
	int status = a->out[i] ? ATW_OK : answers_open_one(a, i, NULL, err);

	if (status < 0)
		return status;
	status = a->finish(a->arg, i, a->out[i], err);
	if (status == ATW_OK)
		status = waits ? output_ready(a->out[i], &a->target[i], err)
			       : atw_output_commit(a->out[i], err);
	if (status == ATW_OK && !a->plain && atw_output_left_out(a->out[i]))
		print_warning(a->c, "%s %s: --limit leaves out %" PRIu64 " rows", a->command,
			      a->v[i].name, atw_output_left_out(a->out[i]));
	/* Of several files each is closed when all have their names. */
	if (waits)
		return status;
	atw_output_close(a->out[i]);
	a->out[i] = NULL;
	return status;
}

/*
 * Separator of answers on standard output: a title. JSON has none: programs read a
 * sequence of values.
 */
static int answers_part(const struct answers *a, size_t i, struct atw_err *err)
{
	bool json = a->c->format == FORMAT_JSON || a->c->format == FORMAT_JSONL;

	if (a->n == 1 || a->c->output || json)
		return ATW_OK;
	if (i)
		putchar('\n');
	if (a->plain && !a->bare)
		printf("%s: %s\n", a->v[i].name, message(a->v[i].title));
	if (!fflush(stdout))
		return ATW_OK;
	return atw_err_set(err, ATW_E_IO, "standard output: cannot write: %m");
}

int answers_print(struct answers *a, struct atw_err *err)
{
	int status = ATW_OK;

	answers_catch(a);
	if (answers_drawn(a))
		status = answers_print_pictures(a, err);
	for (size_t i = 0; i < a->n && status == ATW_OK && !answers_drawn(a); i++)
		status = answers_part(a, i, err) ?: answers_emit_one(a, i, err);
	return status == ATW_OK ? answers_name(a, err) : status;
}

void answers_close(struct answers *a, bool failed)
{
	for (size_t i = 0; i < a->n; i++) {
		atw_output_close(a->out[i]);
		outfile_close(&a->drawn[i]);
	}
	html_close(a->html);
	if (failed && a->made)
		rmdir(a->c->output);
}
