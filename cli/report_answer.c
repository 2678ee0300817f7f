/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_answer.c - where the answers of reports go. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "output/sink.h"
#include "report.h"

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

/* ---- an end before the end ---- */

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
static const char *volatile made;        /* a folder that is empty so far; NULL: none */

/* Files have no names before they are whole, and leave by themselves. */
static void on_signal(int sig)
{
	if (made)
		rmdir(made);
	raise(sig);              /* as SIG_DFL, once this has returned */
}

static void catch_signals(void)
{
	const struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };
	struct sigaction was;

	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (!sigaction(ending[i], NULL, &was) && was.sa_handler != SIG_IGN)
			sigaction(ending[i], &sa, NULL);
}

int report_folder(struct report *r, struct atw_err *err)
{
	sigset_t signals, were;
	struct stat st;
	int e;

	if (r->n < 2 || !r->c->output)
		return ATW_OK;
	sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&signals, ending[i]);
	sigprocmask(SIG_BLOCK, &signals, &were);
	r->made = !mkdir(r->c->output, 0777);
	e = errno;
	if (r->made) {
		made = r->c->output;
		catch_signals();
	}
	sigprocmask(SIG_SETMASK, &were, NULL);
	if (!r->made && e == EEXIST && (stat(r->c->output, &st) < 0 || !S_ISDIR(st.st_mode)))
		return atw_err_set(err, ATW_E_IO, "%s: is no folder, and several reports are "
				   "several files", r->c->output);
	if (!r->made && e != EEXIST)
		return atw_err_set(err, ATW_E_IO, "%s: cannot make a folder for several "
				   "reports: %s", r->c->output, strerror(e));
	return ATW_OK;
}

/* ---- answers ---- */

/* What was typed must suit all of them, before anything is read. */
int report_open(struct report *r, struct atw_err *err)
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
int report_tell_look(struct report *r, struct atw_err *err)
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
	bool waits = r->n > 1 && r->c->output;
	int status = r->out[i] ? ATW_OK : open_one(r, i, NULL, err);

	if (status < 0)
		return status;
	status = report_finish(r, i, r->out[i], err);
	if (status == ATW_OK)
		status = waits ? output_ready(r->out[i], &r->target[i], err)
			       : atw_output_commit(r->out[i], err);
	if (status == ATW_OK && !r->plain && atw_output_left_out(r->out[i]))
		remark(r->c, "report %s: --limit leaves out %" PRIu64 " rows", r->kind[i]->name,
		       atw_output_left_out(r->out[i]));
	/* Of several files each is closed when all have their names. */
	if (waits)
		return status;
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

/* Those that could not be drawn have none. */
static int name_all(struct report *r, struct atw_err *err)
{
	struct target *all[REPORTS];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->target[i])
			all[n++] = r->target[i];
	return n ? target_commit_all(all, n, err) : ATW_OK;
}

int report_answer(struct report *r, struct atw_err *err)
{
	int status = ATW_OK;

	/* Who was asked to stop looking has asked once. */
	if (r->made)
		catch_signals();
	if (r->format || r->page)
		status = report_answer_pictures(r, err);
	for (size_t i = 0; i < r->n && status == ATW_OK && !r->format && !r->page; i++) {
		status = part(r, i, err);
		if (status == ATW_OK)
			status = answer_one(r, i, err);
	}
	return status == ATW_OK ? name_all(r, err) : status;
}
