/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_diff.c - changes of processes, memory areas and pages between two sources. */
#include <time.h>

#include "diff.h"
#include "base/message.h"
#include "base/sorted.h"

static const struct opt_choice by_choices[] = {
	{"process", DIFF_BY_PROCESS},
	{"unit", DIFF_BY_UNIT},
	{NULL, 0},
};

static const struct opt options[] = {
	{0, "pid", OPT_NUMBER, offsetof(struct diff_opts, space.pid), "N",
	 "compare process N only", NULL},
	{0, "task", OPT_TEXT, offsetof(struct diff_opts, space.task), "NAME",
	 "compare the processes called NAME only", NULL},
	{0, "areas-only", OPT_FLAG, offsetof(struct diff_opts, areas_only), NULL,
	 "compare memory areas without their pages", NULL},
	{0, "kernel-map", OPT_FLAG, offsetof(struct diff_opts, kernel_map), NULL,
	 "compare the kernel's own mappings as well", NULL},
	{0, "all", OPT_FLAG, offsetof(struct diff_opts, all), NULL,
	 "list also what is in processes and areas that only one side has", NULL},
	{0, "by", OPT_CHOICE, offsetof(struct diff_opts, by), "WHAT",
	 "show sums for each process, or for each unit (mapped file)", by_choices},
	{0, "interval", OPT_TEXT, offsetof(struct diff_opts, interval), "SECONDS",
	 "compare one live SOURCE with itself SECONDS later", NULL},
	OPT_KERNEL(struct diff_opts, space),
	{0}};

/* A process of a side, in the order of PIDs. */
struct diff_process {
	uint32_t pid;
	size_t task;           /* of the provider */
	struct snapshot *kept; /* --interval: as it was; else NULL */
};

struct diff_side {
	struct session *src;
	struct provider *prov;
	struct diff_process *v;
	size_t n, denied;
	uint64_t unread;
	struct snapshot kernel; /* --kernel-map */
	bool listing;           /* processes are being listed */
	bool one;               /* --pid: others may be denied */
};

struct diff {
	const struct common *c;
	const struct diff_opts *o;
	struct diff_side side[2];
	struct diff_rows rows;
	struct changes_unknown unknown;
	uint64_t doubtful; /* processes: one side may not read all of them */
	uint64_t left_out; /* this process itself */
};

/* ---- the processes of a side ---- */

static void diff_cannot(void *arg, const char *what, const struct atw_err *why)
{
	struct diff_side *s = arg;
	struct atw_err e = *why;

	if (s->listing && s->one && why->status == ATW_E_PERM)
		return;
	if (s->unread++ < FAULTS) {
		atw_err_wrap(&e, "%s: %s", s->src->name, what);
		print_error(&e);
	}
}

static int diff_by_pid(const void *a, const void *b)
{
	const struct diff_process *x = a, *y = b;

	return ORDER(x->pid, y->pid) ?: ORDER(x->task, y->task);
}

/* What atwalk itself does while it reads is left out. */
static bool diff_is_self(struct diff *d, const struct diff_side *s, uint32_t pid)
{
	bool is = target_has(s->src->target, TARGET_HERE | TARGET_OUR_PIDS) &&
		  pid == (uint32_t)getpid();

	d->left_out += is;
	return is;
}

static bool diff_is_wanted(struct diff *d, const struct diff_side *s,
			   const struct page_task *t)
{
	const struct space_opts *space = &d->o->space;

	return !diff_is_self(d, s, t->pid) &&
	       (!space->pid.given || space->pid.u == t->pid) &&
	       (!space->task || !strcmp(space->task, t->name));
}

static int diff_list(struct diff *d, struct diff_side *s, struct atw_err *err)
{
	const struct target_query q = {.pace = s->src->pace};
	int r = target_provider(s->src->target, &q, diff_cannot, s, &s->prov, err);

	if (r == ATW_OK) {
		s->prov->every = true;
		s->one = d->o->space.pid.given;
		s->listing = true;
		r = s->prov->ops->tasks(s->prov, err);
		s->listing = false;
	}
	if (r < 0)
		return atw_err_wrap(err, "%s", s->src->name);
	s->v = calloc(s->prov->ntasks + 1, sizeof(*s->v));
	if (!s->v)
		return atw_err_nomem(err);
	for (size_t i = 0; i < s->prov->ntasks; i++)
		if (diff_is_wanted(d, s, &s->prov->task[i]))
			s->v[s->n++] =
				(struct diff_process){s->prov->task[i].pid, i, NULL};
	qsort(s->v, s->n, sizeof(*s->v), diff_by_pid);
	s->denied = s->prov->denied;
	if (d->o->kernel_map)
		r = snapshot_read_kernel(s->src->target->kernel, &s->kernel, err);
	return r < 0 ? atw_err_wrap(err, "%s: the kernel's mappings", s->src->name) : r;
}

static void diff_forget(struct diff_side *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kept) {
			snapshot_deinit(s->v[i].kept);
			free(s->v[i].kept);
		}
	snapshot_deinit(&s->kernel);
	free(s->v);
	provider_close(s->prov);
	s->v = NULL;
	s->prov = NULL;
	s->n = 0;
}

static int diff_read(const struct diff *d, struct diff_side *s,
		     const struct diff_process *p, struct snapshot *ret,
		     struct atw_err *err)
{
	int r;

	if (p->kept) {
		*ret = *p->kept;
		*p->kept = (struct snapshot){0};
		return ATW_OK;
	}
	r = snapshot_read(s->prov, p->task, d->o->areas_only, ret, err);
	return r < 0 ? atw_err_wrap(err, "%s", s->src->name) : r;
}

/* --interval: all of it, as it is now. Processes that end meanwhile have not been. */
static int diff_keep(struct diff *d, struct diff_side *s, struct atw_err *err)
{
	size_t n = 0;
	int r = ATW_OK;

	for (size_t i = 0; i < s->n; i++) {
		struct diff_process p = s->v[i];

		p.kept = r == ATW_OK ? calloc(1, sizeof(*p.kept)) : NULL;
		if (r == ATW_OK)
			r = p.kept ? diff_read(d, s, &s->v[i], p.kept, err)
				   : atw_err_nomem(err);
		if (r == ATW_OK) {
			s->v[n++] = p;
			continue;
		}
		free(p.kept);
		if (r == ATW_END)
			r = ATW_OK;
	}
	s->n = n;
	provider_close(s->prov);
	s->prov = NULL;
	return r;
}

/* ---- comparison ---- */

/* Both are of one process, as far as that is known. */
static bool diff_is_same(const struct snapshot *a, const struct snapshot *b)
{
	return a->start && b->start ? a->start == b->start : !strcmp(a->name, b->name);
}

/* A process that only side `at` has. */
static int diff_one_sided(struct diff *d, unsigned at, struct snapshot *s,
			  struct atw_err *err)
{
	struct snapshot both[2] = {{0}, {0}};

	/* The other side may have it, and not have been allowed to read it. */
	if (d->side[!at].denied && !d->side[at].denied) {
		d->doubtful++;
		return ATW_OK;
	}
	both[at] = *s;
	return diff_rows_process(&d->rows, both, at ? CHANGES_STARTED : CHANGES_ENDED,
				 err);
}

/* NULL: that side has none with this PID. */
static int diff_pair(struct diff *d, const struct diff_process *const p[2],
		     struct atw_err *err)
{
	struct snapshot s[2] = {{0}, {0}};
	bool has[2] = {false, false};
	int r = ATW_OK;

	for (unsigned i = 0; i < 2 && r >= 0; i++) {
		r = p[i] ? diff_read(d, &d->side[i], p[i], &s[i], err) : ATW_END;
		has[i] = r == ATW_OK;
	}
	if (r >= 0 && has[0] && has[1] && diff_is_same(&s[0], &s[1])) {
		r = diff_rows_process(&d->rows, s, CHANGES_KINDS, err);
	} else if (r >= 0) {
		r = ATW_OK;
		for (unsigned i = 0; i < 2 && r == ATW_OK; i++)
			if (has[i])
				r = diff_one_sided(d, i, &s[i], err);
	}
	snapshot_deinit(&s[0]);
	snapshot_deinit(&s[1]);
	return r;
}

static int diff_compare(struct diff *d, struct atw_err *err)
{
	struct diff_side *a = &d->side[0], *b = &d->side[1];
	struct snapshot kernel[2] = {a->kernel, b->kernel};
	int r = d->o->kernel_map ? diff_rows_kernel(&d->rows, kernel, err) : ATW_OK;

	for (size_t i = 0, k = 0; r == ATW_OK && (i < a->n || k < b->n);) {
		const struct diff_process *p[2] = {
			i < a->n ? &a->v[i] : NULL,
			k < b->n ? &b->v[k] : NULL,
		};

		if (p[0] && p[1] && p[0]->pid != p[1]->pid)
			p[p[0]->pid < p[1]->pid] = NULL;
		i += p[0] != NULL;
		k += p[1] != NULL;
		r = diff_pair(d, p, err);
	}
	return r == ATW_OK ? diff_rows_end(&d->rows, err) : r;
}

static int diff_wait(struct timespec left)
{
	while (nanosleep(&left, &left))
		;
	return ATW_OK;
}

static int diff_list_both(struct diff *d, const struct timespec *interval,
			  struct atw_err *err)
{
	const struct space_opts *space = &d->o->space;
	int r = diff_list(d, &d->side[0], err);

	if (r == ATW_OK && interval)
		r = diff_keep(d, &d->side[0], err);
	if (r == ATW_OK && interval)
		r = diff_wait(*interval);
	if (r == ATW_OK)
		r = diff_list(d, &d->side[1], err);
	if (r == ATW_OK && !d->side[0].n && !d->side[1].n && space->pid.given)
		return atw_err_set(err, ATW_E_NONE,
				   "there is no process %" PRIu64 " in either source",
				   space->pid.u);
	if (r == ATW_OK && !d->side[0].n && !d->side[1].n && space->task)
		return atw_err_set(err, ATW_E_NONE,
				   "there is no process called '%s' in either source",
				   space->task);
	return r;
}

/* ---- the answer ---- */

/* What one side lacks, in one sentence each. */
static void diff_complain(const struct diff *d)
{
	const struct changes_unknown *u = &d->unknown;
	const char *b = d->side[1].src->name;
	char size[16];

	for (unsigned i = 0; i < 2; i++)
		if (session_has_gaps(d->side[i].src) &&
		    (!i || d->side[0].src != d->side[1].src))
			print_defects(d->c, d->side[i].src);
	if (d->doubtful)
		print_incomplete("%s: %" PRIu64 " process%s not compared: the other side "
			      "may not read all processes",
			      b, d->doubtful, d->doubtful == 1 ? " is" : "es are");
	if (u->areas)
		print_incomplete("%s: %s of memory areas cannot be compared: areas of one "
			      "side cannot be read",
			      b, num_human(u->areas, size));
	if (u->area_rights)
		print_incomplete("%s: rights of %s of memory areas cannot be compared: they "
			      "are not known",
			      b, num_human(u->area_rights, size));
	if (u->pages)
		print_incomplete(
			"%s: pages of %s cannot be compared: what is there is not known",
			b, num_human(u->pages, size));
	if (u->physical)
		print_incomplete("%s: whether %s moved is not known: only one side has "
			      "physical addresses",
			      b, num_human(u->physical, size));
	if (u->rights)
		print_incomplete("%s: rights of pages of %s cannot be compared: only one "
			      "side has them",
			      b, num_human(u->rights, size));
}

static void diff_notes(const struct diff *d)
{
	struct atw_output *out = d->rows.out;
	const struct changes_unknown *u = &d->unknown;

	if (!d->rows.changes)
		atw_output_note(out, "no difference%s",
				d->unknown.areas + u->area_rights + u->pages +
						u->physical + u->rights + d->doubtful
					? _(" in what is known")
					: "");
	if (u->no_physical)
		atw_output_note(
			out,
			"physical addresses are not compared: neither side has them");
	if (u->no_rights)
		atw_output_note(
			out, "rights of pages are not compared: neither side has them");
	if (d->left_out)
		atw_output_note(out, "atwalk itself is left out");
}

static bool diff_is_partial(const struct diff *d)
{
	const struct changes_unknown *u = &d->unknown;
	uint64_t sum = u->areas + u->area_rights + u->pages + u->physical + u->rights;

	for (unsigned i = 0; i < 2; i++)
		if (d->side[i].unread || session_has_gaps(d->side[i].src))
			return true;
	return sum + d->doubtful > 0;
}

static void diff_remark_release(const struct diff *d)
{
	const char *a = d->side[0].src->target->release,
		   *b = d->side[1].src->target->release;

	if (*a && *b && strcmp(a, b) != 0)
		print_warning(d->c, "%s is of Linux %s, %s of Linux %s", d->side[0].src->name, a,
		       d->side[1].src->name, b);
}

static int diff_answer(struct diff *d, const struct timespec *interval)
{
	struct atw_output_opts oo;
	struct atw_err err = {0};
	int status, r;

	output_opts(d->c, d->side[0].src, &oo);
	d->rows.o = d->o;
	d->rows.unknown = &d->unknown;
	r = diff_rows_open(&d->rows, &oo, &err);
	if (r == ATW_OK)
		diff_remark_release(d);
	if (r == ATW_OK)
		r = diff_list_both(d, interval, &err);
	if (r == ATW_OK) {
		d->rows.page = (uint64_t)1 << d->side[1].prov->page_shift;
		r = diff_compare(d, &err);
	}
	status = diff_is_partial(d) ? EXIT_PARTIAL
		 : d->rows.changes  ? EXIT_NO
				    : EXIT_COMPLETE;
	if (r == ATW_OK)
		diff_notes(d);
	status = output_end(d->rows.out, r, status, &err);
	if (r == ATW_OK && status == EXIT_PARTIAL)
		diff_complain(d);
	diff_rows_close(&d->rows);
	for (unsigned i = 0; i < 2; i++)
		diff_forget(&d->side[i]);
	return status;
}

/* ---- the command ---- */

static bool diff_parse_interval(const char *text, struct timespec *ret)
{
	char *end;
	double seconds;

	if (!text || !*text || strspn(text, "0123456789.") != strlen(text))
		return false;
	seconds = strtod(text, &end);
	if (*end || !(seconds >= 0.001) || seconds > 1e6)
		return false;
	ret->tv_sec = (time_t)seconds;
	ret->tv_nsec = (long)((seconds - (double)ret->tv_sec) * 1e9);
	return true;
}

static int diff_check(const struct common *c, const struct diff_opts *o, int argc,
		      struct timespec *interval)
{
	if (o->interval && argc != 1)
		return usage_error("diff", argc ? "--interval takes one SOURCE"
						   : "SOURCE is missing");
	if (!o->interval && argc != 2)
		return usage_error("diff",
				      argc > 2 ? "it takes two sources, A and B"
					       : "two sources are needed, A and B");
	if (o->interval && !diff_parse_interval(o->interval, interval))
		return usage_error("diff",
				      "--interval: '%.40s' is no number of seconds",
				      o->interval);
	if (c->parts.n || (c->layout && argc == 2))
		return usage_error(
			"diff", "%s: it is not known which of the sources it belongs to",
			c->parts.n ? "--part" : "--layout");
	return EXIT_COMPLETE;
}

static int diff_open_one(const struct common *c, const struct diff_opts *o,
			 const char *name, struct session *ret)
{
	struct space_opts space = o->space;

	/* A process may be in one of the sources alone. */
	space.pid.given = false;
	space.task = NULL;
	return open_session(c, name, &space,
			    TARGET_PAGES | (o->kernel_map ? TARGET_TABLES : 0), ret);
}

static int diff_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct diff_opts *o = opts;
	struct session src[2] = {{0}, {0}};
	struct timespec interval = {0};
	struct diff d = {.c = c, .o = o};
	int status = diff_check(c, o, argc, &interval), opened = 0;

	for (; opened < argc && !status; opened += !status)
		status = diff_open_one(c, o, argv[opened], &src[opened]);
	for (unsigned i = 0; i < 2; i++)
		d.side[i].src = &src[argc == 2 ? i : 0];
	if (src[0].target && o->interval && !target_has(src[0].target, TARGET_RUNNING))
		status = usage_error("diff",
					"--interval is for a live SOURCE, and %s is none",
					src[0].name);
	if (!status)
		status = diff_answer(&d, o->interval ? &interval : NULL);
	while (opened--)
		session_close(&src[opened]);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.args = "A B",
	.summary = "list changes of processes, areas and pages between two sources",
	.about =
		"Compares the processes of two sources (dumps, captures, live): which began and\n"
		"ended, which memory areas were mapped, unmapped, resized or got other rights,\n"
		"and which pages were mapped, unmapped, moved, swapped or got other rights.\n"
		"Exit status 0: no difference; 1: they differ; 4: some of it cannot be compared.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct diff_opts),
	.run = diff_run,
};
