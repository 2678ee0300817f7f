/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - from SOURCE and the options about it to an opened target. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atwalk.h"
#include "progress.h"
#include "searching.h"

static void trace(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	(void)arg;
	fprintf(stderr, "atwalk: read 0x%" PRIx64 "+%zu: %zd\n", pa.u, len, result);
}

bool is_source_word(const char *word)
{
	struct stat st;

	/* A name with these is a path or a SOURCE that could not be opened. */
	return !strcmp(word, "live") || !strcmp(word, "-") || strpbrk(word, "/:.@") || !*word ||
	       !stat(word, &st) || (errno != ENOENT && errno != ENAMETOOLONG);
}

/* A word that is no file may have been meant as a process or as a command. */
static void hint_meant(const struct common *c, struct atw_err *err, const char *name)
{
	static const char proc[] = "/proc/";
	const char *pid = strncmp(name, proc, sizeof(proc) - 1) ? name : name + sizeof(proc) - 1;
	size_t digits = strspn(pid, "0123456789");

	if (digits && (pid != name ? !pid[digits] || pid[digits] == '/'
				   : !pid[digits] && err->status == ATW_E_MISSING)) {
		atw_err_hint(err, "of process %.*s: live --pid %.*s", (int)digits, pid,
			     (int)digits, pid);
		return;
	}
	if (c->suggest && err->status == ATW_E_MISSING && !err->hint[0] && !strpbrk(name, "/:."))
		c->suggest(err, name, NULL);
}

static bool is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == file->st_dev &&
	       st.st_ino == file->st_ino;
}

/* PATH, FORMAT:PATH and raw:PATH@ADDRESS name PATH. */
static bool names_file(const char *text, const struct stat *file)
{
	const char *colon = strchr(text, ':');
	char path[4096], *at;

	if (is_file(text, file) || (colon && is_file(colon + 1, file)))
		return true;
	if (!colon || strlen(colon + 1) >= sizeof(path))
		return false;
	snprintf(path, sizeof(path), "%s", colon + 1);
	at = strrchr(path, '@');
	if (at)
		*at = '\0';
	return at && is_file(path, file);
}

/* A source is never changed, not even when it is asked for. */
int check_output(const struct common *c, const char *name)
{
	struct stat st;
	bool same;

	if (c->output && !*c->output)
		return complain(&(struct atw_err){
			.status = ATW_E_USAGE, .text = "--output: a file needs a name",
		});
	if (!c->output || stat(c->output, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_COMPLETE;
	same = names_file(name, &st);
	for (size_t i = 0; i < c->parts.n && !same; i++)
		same = names_file(c->parts.v[i], &st);
	return same ? complain(&(struct atw_err){
		.status = ATW_E_USAGE, .text = "--output: that is the source itself",
	}) : EXIT_COMPLETE;
}

/* ---- defects of the file ---- */

static void remark_defects(const struct common *c, const struct session *s)
{
	struct atw_blob text;

	for (size_t i = 0; target_defect(s->target, i, &text); i++)
		remark(c, "%s: %.*s", s->name, (int)text.len, (const char *)text.data);
}

void complain_defects(const struct common *c, const struct session *s)
{
	struct atw_blob text;

	for (size_t i = 0; c->quiet && target_defect(s->target, i, &text); i++)
		complain_part("%s: %.*s", s->name, (int)text.len, (const char *)text.data);
}

bool session_has_gaps(const struct session *s)
{
	return s->target->defective && !target_has(s->target, TARGET_NO_GAPS);
}

/* ---- opening ---- */

int session_open(const struct common *c, const char *name, struct session *ret)
{
	struct session s = { .name = name, .suggest = c->suggest };
	struct atw_source *traced;
	struct atw_err err = { 0 };
	int status = check_output(c, name);

	if (status)
		return status;
	if (target_open(name, c->parts.v, c->parts.n, &s.target, &err) < 0) {
		hint_meant(c, &err, name);
		return complain(&err);
	}
	status = cost_begin(c, &s);
	if (status) {
		session_close(&s);
		return status;
	}
	if (c->verbose > 1 &&
	    atw_source_trace(s.target->source, trace, NULL, &traced, &err) == ATW_OK)
		s.target->source = traced;
	remark_defects(c, &s);
	*ret = s;
	return EXIT_COMPLETE;
}

int session_need(const struct session *s, uint32_t caps, const char *what)
{
	struct atw_err err = { 0 };

	return target_need(s->target, caps, what, &err) < 0 ? complain(&err) : EXIT_COMPLETE;
}

/* While a capture is read. */
struct reading {
	const struct session *session;
	struct progress progress;
};

static void reading_damaged(void *arg, const struct atw_err *err)
{
	const struct reading *x = arg;
	struct atw_err e = *err;

	atw_err_wrap(&e, "%s", x->session->name);
	complain(&e);
}

static void reading_progress(void *arg, uint64_t tasks, uint64_t all)
{
	progress_at(&((struct reading *)arg)->progress, tasks, all);
}

/* Options that page tables alone give a meaning to. */
static int check_table_options(const struct session *s, const struct space_opts *space)
{
	const struct { bool given; const char *name; } tables[] = {
		{ space->pti, "--pti" }, { space->cpu.given, "--cpu" },
		{ space->root.given, "--root" }, { space->paging, "--paging" },
		{ space->pte_ext, "--pte-ext" }, { space->cbit.given, "--cbit" },
		{ space->kernel, "--kernel" },
	};
	int status = EXIT_COMPLETE;

	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].given)
			status = session_need(s, TARGET_TABLES, tables[i].name);
	return status;
}

const char *root_from(const struct session *s)
{
	return s->subject.label[0] ? s->subject.label
				    : atw_kernel_root_why(s->target->kernel);
}

/* Print what was found, with -v or if the user did not select it. */
static void remark_root(const struct common *c, const struct session *s,
			const struct space_opts *space)
{
	const struct target *t = s->target;

	if (!target_has(t, TARGET_TABLES))
		return;
	if (atw_kernel_file_is_unproved(t->kernel))
		remark(c, "%s: nothing tells whether %s is of this kernel: what comes out of it may be another's",
		       s->name, space->kernel);
	/* A root that was in use by chance, not selected by the user, is reported. */
	if (c->verbose || (!s->subject.given && atw_kernel_root_from(t->kernel) == ATW_ROOT_CPU))
		remark(c, "%s: %s, root: %s", s->name, s->subject.space.paging.name,
		       root_from(s));
}

int session_attach(const struct common *c, struct session *s, const struct space_opts *space,
		 uint32_t caps)
{
	struct searching *searching = searching_new(c, s->name);
	const struct target_opts o = {
		.paging = space->paging, .pte_ext = space->pte_ext,
		.kernel_file = space->kernel, .has_root = space->root.given,
		.root = ATW_PA(space->root.u), .has_cpu = space->cpu.given,
		.cpu = space->cpu.u, .has_cbit = space->cbit.given, .cbit = space->cbit.u,
		.progress = searching ? searching_at : NULL, .arg = searching,
	};
	struct reading x = { .session = s };
	const struct target_reading rd = { reading_damaged, reading_progress, &x };
	struct target *t = s->target;
	struct atw_err err = { 0 };
	int status, r;

	s->searching = searching;
	status = target_need(t, caps, "this", &err) < 0 ? complain(&err)
		 : check_table_options(s, space);
	if (status)
		return status;
	if (check_whose(space, &err) < 0)
		return complain(&err);
	if (space->cpu.u > UINT32_MAX) {
		atw_err_set(&err, ATW_E_USAGE, "--cpu: there is no CPU %" PRIu64, space->cpu.u);
		return complain(&err);
	}
	progress_begin(&x.progress, c, s->name, "tasks");
	r = target_attach(t, &o, &rd, &err);
	progress_end(&x.progress);
	if (r < 0) {
		/* What is wrong with an option is not the source's fault. */
		if (err.param == ATW_PARAM_NONE)
			atw_err_wrap(&err, "%s", s->name);
		return complain(&err);
	}
	subject_default(t, &s->subject);
	status = space->pid.given || space->task ? select_process(s, space) : EXIT_COMPLETE;
	if (!status)
		remark_root(c, s, space);
	return status;
}

int open_session(const struct common *c, const char *name, const struct space_opts *space,
	       uint32_t caps, struct session *ret)
{
	int status = session_open(c, name, ret);

	if (status)
		return status;
	status = session_attach(c, ret, space, caps);
	if (status)
		session_close(ret);
	return status;
}

void session_close(struct session *s)
{
	thaw(s);
	target_close(s->target);
	cost_tell(s);
	free(s->pace);
	free(s->frozen);
	free(s->searching);
}

/* ---- rows ---- */

/* Without --color, only a terminal gets colors. */
static bool is_colored(const struct common *c)
{
	switch (c->color) {
	case COLOR_ALWAYS:
		return true;
	case COLOR_NEVER:
		return false;
	case COLOR_AUTO:
		break;
	}
	return !c->output && isatty(STDOUT_FILENO);
}

void output_opts(const struct common *c, const struct session *s,
		 struct atw_output_opts *ret)
{
	static const enum atw_units units[] = {
		[UNITS_USUAL] = ATW_UNITS_HUMAN, [UNITS_HUMAN] = ATW_UNITS_HUMAN,
		[UNITS_BYTES] = ATW_UNITS_BYTES, [UNITS_PAGES] = ATW_UNITS_PAGES,
	};

	*ret = (struct atw_output_opts){
		.format = format_word(c->format), .path = c->output, .columns = c->columns,
		.filter = c->filter, .sort = c->sort, .group = c->group,
		.units = units[c->units],
		.page_shift = s && s->subject.space.paging.page_shift ?
			s->subject.space.paging.page_shift : 12,
		.color = is_colored(c),
	};
}

int output_end(struct atw_output *out, int r, int status, struct atw_err *err)
{
	if (r == ATW_E_LIMIT) {
		status = complain(err);
		r = ATW_OK;
	}
	if (r == ATW_OK)
		r = atw_output_commit(out, err);
	if (r < 0)
		status = complain(err);
	atw_output_close(out);
	return status;
}
