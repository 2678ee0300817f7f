/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open.c - from SOURCE and the options about it to an opened target. */
#include "atwalk.h"

#include <limits.h>

#include "common/plugins.h"
#include "common/progress.h"
#include "host/host.h"
#include "host/pace.h"
#include "host/runtime_folder.h"
#include "base/message.h"
#include "output/annotate.h"
#include "source/wrap.h"

static void cli_open_trace(void *arg, atw_pa pa, size_t len, ssize_t result)
{
	fprintf(stderr, "atwalk: read 0x%" PRIx64 "+%zu: %zd\n", pa.u, len, result);
}

/* A word that is no file may have been meant as a process or as a command. */
static void cli_open_hint_meant(const struct common *c, struct atw_err *err,
				const char *name)
{
	static const char proc[] = "/proc/";
	const char *pid = strncmp(name, proc, sizeof(proc) - 1) ? name : name + sizeof(proc) - 1;
	size_t digits = strspn(pid, "0123456789");

	if (digits && (pid != name ? !pid[digits] || pid[digits] == '/'
				   : !pid[digits] && err->status == ATW_E_MISSING)) {
		atw_err_hint(err, "for process %.*s, type: live --pid %.*s", (int)digits, pid,
			     (int)digits, pid);
		return;
	}
	if (c->suggest && err->status == ATW_E_MISSING && !err->hint[0] && !strpbrk(name, "/:."))
		c->suggest(err, name, NULL);
}

/* ---- defects of the file ---- */

static void cli_open_warn_defects(const struct common *c, const struct session *s)
{
	struct atw_blob text;

	for (size_t i = 0; target_defect(s->target, i, &text); i++)
		print_warning(c, "%s: %.*s", s->name, (int)text.len, (const char *)text.data);
	if (atw_fact(s->target->source, "remark", &text) == ATW_OK)
		print_warning(c, "%s: %.*s", s->name, (int)text.len, (const char *)text.data);
}

void print_defects(const struct common *c, const struct session *s)
{
	struct atw_blob text;

	for (size_t i = 0; c->quiet && target_defect(s->target, i, &text); i++)
		print_incomplete("%s: %.*s", s->name, (int)text.len, (const char *)text.data);
}

void print_fault(const struct session *s, uint64_t *n, const char *what,
		 const struct atw_err *why)
{
	struct atw_err e = *why;

	if ((*n)++ >= FAULTS)
		return;
	atw_err_wrap(&e, "%s: %s", s->name, what);
	print_error(&e);
}

bool session_has_gaps(const struct session *s)
{
	return s->target->defective && !target_has(s->target, TARGET_NO_GAPS);
}

/* ---- searches through a dump for its kernel ---- */

struct searching {
	struct progress progress;
	const struct common *c;
	bool begun;
	char what[160];
};

static struct searching *open_searching_new(const struct common *c, const char *name)
{
	struct searching *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->c = c;
	snprintf(s->what, sizeof(s->what), _("%.120s: search for the kernel"), name);
	return s;
}

static void open_searching_at(void *arg, uint64_t done, uint64_t all)
{
	struct searching *s = arg;
	uint64_t next = s->progress.next;

	if (!done) {
		progress_begin(&s->progress, s->c, s->what, "bytes");
		/* Searches follow each other: keep the interval between lines. */
		if (s->c->progress && s->begun)
			s->progress.next = next;
		s->begun = true;
	}
	if (done < all)
		progress_at(&s->progress, done, all);
	else
		progress_end(&s->progress);
}

/* ---- opening ---- */

/* What is found of a running kernel is kept there; NULL: nowhere. `buf`: PATH_MAX bytes. */
static const char *cli_open_folder(char *buf)
{
	return runtime_folder_path(buf, PATH_MAX) ? buf : NULL;
}

static struct atw_source_spec cli_open_spec(const struct common *c, char *folder)
{
	return (struct atw_source_spec){
		.parts = c->parts.v, .nparts = c->parts.n, .layout = c->layout,
		.remember = cli_open_folder(folder),
	};
}

int session_open(const struct common *c, const char *name, struct session *ret)
{
	char folder[PATH_MAX];
	const struct atw_source_spec given = cli_open_spec(c, folder);
	struct session s = { .name = name, .suggest = c->suggest };
	struct atw_source *traced;
	struct atw_err err = { 0 };
	int status = check_output(c, name);
	unsigned threads;

	if (status)
		return status;
	if (!threads_to_use(c, &threads, &err))
		return print_error(&err);
	if (target_open(name, &given, c->sources, &s.target, &err) < 0) {
		cli_open_hint_meant(c, &err, name);
		plugins_hint_source(c, name, &err);
		return print_error(&err);
	}
	if (target_has(s.target, TARGET_MEMORY))
		atw_source_threads(s.target->source, threads);
	status = cost_begin(c, &s);
	if (status) {
		session_close(&s);
		return status;
	}
	if (c->verbose > 1 && target_has(s.target, TARGET_MEMORY) &&
	    atw_source_trace(s.target->source, cli_open_trace, NULL, &traced,
			     &err) == ATW_OK)
		s.target->source = traced;
	cli_open_warn_defects(c, &s);
	*ret = s;
	return EXIT_COMPLETE;
}

int session_need(const struct session *s, uint32_t caps, const char *what)
{
	struct atw_err err = { 0 };

	return target_need(s->target, caps, what, &err) < 0 ? print_error(&err) : EXIT_COMPLETE;
}

/* While a capture is read. */
struct cli_open_reading {
	const struct session *session;
	struct progress progress;
};

static void cli_open_reading_damaged(void *arg, const struct atw_err *err)
{
	const struct cli_open_reading *x = arg;
	struct atw_err e = *err;

	atw_err_wrap(&e, "%s", x->session->name);
	print_error(&e);
}

static void cli_open_reading_progress(void *arg, uint64_t tasks, uint64_t all)
{
	progress_at(&((struct cli_open_reading *)arg)->progress, tasks, all);
}

/* Options that page tables alone give a meaning to. */
static int cli_open_check_table_options(const struct session *s,
					const struct space_opts *space)
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
static void cli_open_warn_root(const struct common *c, const struct session *s,
			       const struct space_opts *space)
{
	const struct target *t = s->target;

	if (!target_has(t, TARGET_TABLES))
		return;
	if (atw_kernel_file_is_unproved(t->kernel))
		print_warning(c, "%s: cannot verify that '%s' matches this kernel; results may be wrong",
			      s->name, space->kernel);
	/* A root that was in use by chance, not selected by the user, is reported. */
	if (c->verbose || (!s->subject.given && atw_kernel_root_from(t->kernel) == ATW_ROOT_CPU))
		print_warning(c, "%s: %s, root: %s", s->name, s->subject.space.paging.name,
			      root_from(s));
}

/* `folder`: PATH_MAX bytes. */
static struct target_opts cli_open_target_opts(const struct space_opts *space, char *folder)
{
	return (struct target_opts){
		.paging = space->paging, .pte_ext = space->pte_ext,
		.kernel_file = space->kernel, .has_root = space->root.given,
		.root = ATW_PA(space->root.u), .has_cpu = space->cpu.given,
		.cpu = space->cpu.u, .has_cbit = space->cbit.given, .cbit = space->cbit.u,
		.remember = cli_open_folder(folder),
	};
}

int session_attach(const struct common *c, struct session *s, const struct space_opts *space,
		   uint32_t caps)
{
	struct searching *searching = open_searching_new(c, s->name);
	char folder[PATH_MAX];
	struct target_opts o = cli_open_target_opts(space, folder);
	struct cli_open_reading x = {.session = s};
	const struct target_reading rd = {cli_open_reading_damaged,
					  cli_open_reading_progress, &x};
	struct target *t = s->target;
	struct atw_err err = { 0 };
	int status, r;

	o.progress = searching ? open_searching_at : NULL;
	o.arg = searching;
	s->searching = searching;
	status = target_need(t, caps, "this", &err) < 0
			 ? print_error(&err)
			 : cli_open_check_table_options(s, space);
	if (status)
		return status;
	if (check_subject(space, freeze_process(s) != 0, &err) < 0)
		return print_error(&err);
	if (space->cpu.u > UINT32_MAX) {
		atw_err_set(&err, ATW_E_USAGE, "--cpu: there is no CPU %" PRIu64, space->cpu.u);
		return print_error(&err);
	}
	progress_begin(&x.progress, c, s->name, "tasks");
	r = target_attach(t, &o, &rd, &err);
	progress_end(&x.progress);
	if (r < 0) {
		/* What is wrong with an option is not the source's fault. */
		if (err.param == ATW_PARAM_NONE)
			atw_err_wrap(&err, "%s", s->name);
		return print_error(&err);
	}
	if (*t->remark)
		print_warning(c, "%s: %s", s->name, t->remark);
	subject_default(t, &s->subject);
	status = space->pid.given || space->task ? select_process(s, space) : EXIT_COMPLETE;
	if (!status)
		cli_open_warn_root(c, s, space);
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

int session_open_again(const struct common *c, const struct session *s,
		       const struct space_opts *space, const struct remembered *known,
		       struct session *ret, struct atw_err *err)
{
	char folder[PATH_MAX];
	const struct atw_source_spec given = cli_open_spec(c, folder);
	const struct target_reading rd = { .arg = NULL };
	struct session x = { .name = s->name };
	struct atw_source *paced;
	struct target_opts o = cli_open_target_opts(space, folder);
	int r = target_open(s->name, &given, c->sources, &x.target, err);

	o.known = known;
	/* It is counted, and not limited. */
	if (r == ATW_OK && s->pace) {
		x.pace = calloc(1, sizeof(*x.pace));
		r = x.pace ? ATW_OK : atw_err_nomem(err);
		/* What /proc has is counted by the provider. */
		if (r == ATW_OK && x.target->source) {
			r = paced_source(x.target->source, x.pace, &paced, err);
			x.target->source = r == ATW_OK ? paced : x.target->source;
		}
	}
	if (r == ATW_OK)
		r = target_attach(x.target, &o, &rd, err);
	if (r == ATW_OK)
		*ret = x;
	else
		session_close(&x);
	return r;
}

void session_close(struct session *s)
{
	thaw(s);
	cost_print_swapped(s);
	target_close(s->target);
	cost_print(s);
	free(s->pace);
	free(s->frozen);
	free(s->searching);
	free(s->known);
	*s = (struct session){ 0 };
}

void output_opts(const struct common *c, const struct session *s,
		 struct atw_output_opts *ret)
{
	rows_opts(c, ret);
	if (s && s->subject.space.paging.page_shift)
		ret->page_shift = s->subject.space.paging.page_shift;
	if (s && s->target && target_has(s->target, TARGET_HERE))
		ret->listing = ATW_LISTING_RUNNING |
			       (target_has(s->target, TARGET_OUR_PIDS) || host_first_pid_namespace()
					? ATW_LISTING_PIDS : 0);
}

/* ---- --allow-unreadable ---- */

/* Of a capture there may be any number. */
enum { SHOWN = 8 };

bool unreadable_take(struct unreadable *u, const struct common *c, const char *source,
		     const char *what, const char *why)
{
	if (!u->allow)
		return false;
	if (!u->n++)
		snprintf(u->what, sizeof(u->what), "%s", what);
	if (u->n <= SHOWN)
		print_warning(c, "%s: %s could not be read: %s", source, what, why);
	return true;
}

void unread_note(const struct common *c, const struct session *src, struct atw_output *out)
{
	if (!src->unread[0])
		return;
	print_warning(c, "%s: not every process could be read: %s", src->name, src->unread);
	atw_output_note(out, "not every process could be read: %s", src->unread);
}

void unreadable_note(const struct unreadable *u, struct atw_output *out)
{
	if (u->n == 1)
		atw_output_note(out, "left out: %s, which could not be read", u->what);
	else if (u->n)
		atw_output_note(out, "left out: %s, which could not be read, and %" PRIu64 " more",
				u->what, u->n - 1);
}
