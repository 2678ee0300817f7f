/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_annotate.c - addresses of a profile or a trace, each with its physical address, page
 * size, node, memory area and frame.
 */
#include <stdio.h>

#include "annotate.h"
#include "base/clock.h"
#include "base/message.h"
#include "common/progress.h"
#include "atwalk.h"

struct annotate_opts {
	struct space_opts space;
	enum annotate_input {
		ANNOTATE_DETECT, ANNOTATE_PERF, ANNOTATE_CSV, ANNOTATE_LACKEY, ANNOTATE_DYNAMORIO,
	} input;
	const char *fields, *address;
	bool summary;
};

static const struct opt_choice inputs[] = {
	{ "perf", ANNOTATE_PERF }, { "csv", ANNOTATE_CSV }, { "lackey", ANNOTATE_LACKEY },
	{ "dynamorio", ANNOTATE_DYNAMORIO }, { 0 }
};

static const struct opt options[] = {
	{ 0, "summary", OPT_FLAG, offsetof(struct annotate_opts, summary), NULL,
	  "print sums by memory area and page size, and what large pages would avoid", NULL },
	{ 0, "input", OPT_CHOICE, offsetof(struct annotate_opts, input), "FORM",
	  "parse FILE in this form instead of detecting it", inputs },
	{ 0, "fields", OPT_TEXT, offsetof(struct annotate_opts, fields), "LIST",
	  "set the fields of perf script, as given to its -F", NULL },
	{ 0, "address-column", OPT_TEXT, offsetof(struct annotate_opts, address), "NAME",
	  "take addresses from column NAME; of perf script: addr or ip", NULL },
	{ 0, "pid", OPT_NUMBER, offsetof(struct annotate_opts, space.pid), "N",
	  "look up every address in process N, whatever the lines name", NULL },
	{ 0, "task", OPT_TEXT, offsetof(struct annotate_opts, space.task), "NAME",
	  "the same for the process named NAME", NULL },
	OPT_ALLOW(struct annotate_opts, space.allow),
	OPT_FREEZE(struct annotate_opts, space),
	OPT_KERNEL(struct annotate_opts, space),
	{ 0 }
};

/* Limit repeated warnings. */
enum { GONE = 3 };

struct annotate {
	const struct common *c;
	const struct annotate_opts *o;
	struct session src;
	const char *file;
	struct trace_reader *in;
	struct placer *placer;
	struct listing list;             /* regions of the kernel */
	struct annotate_rows rows;
	struct annotate_sums sums;
	struct atw_output *out;
	struct unreadable unreadable;
	struct progress progress;
	uint64_t renewed;                /* ns: when the placer was */
	uint64_t refs;                   /* with an address */
	uint64_t placeless;              /* without one */
	uint64_t bad;                    /* lines */
	uint64_t gone;                   /* of processes that are not in the source */
	uint64_t denied;                 /* of processes that may not be read */
	uint64_t unread;                 /* that something in the source hides */
	uint64_t kernel;                 /* of the kernel, where the source has none */
	uint64_t gone_said;
	uint64_t faults, lost, excluded, unstable, invalid;
	uint64_t last_gone, last_denied; /* processes that were reported */
	char task[64];
};

/* ---- failures ---- */

static void annotate_fault(struct annotate *a, const char *what, const struct atw_err *err)
{
	struct atw_err e = *err;

	if (a->faults++ >= FAULTS)
		return;
	if (what)
		atw_err_wrap(&e, "%s", what);
	atw_err_wrap(&e, "%s", a->src.name);
	print_error(&e);
}

/* What cannot be read of a process, and the rest is used. */
static void annotate_cannot(void *arg, const char *what, const struct atw_err *err)
{
	struct annotate *a = arg;

	if (err->status == ATW_E_PERM &&
	    unreadable_take(&a->unreadable, a->c, a->src.name, what, err->text))
		return;
	a->unread++;
	annotate_fault(a, what, err);
}

/* A line that cannot be parsed: the first ones are reported, the others counted. */
static void annotate_bad_line(struct annotate *a, const struct atw_err *err)
{
	struct atw_err e = *err;

	if (a->bad++ >= FAULTS)
		return;
	atw_err_wrap(&e, "%s", a->file);
	print_error(&e);
}

/* ---- one reference ---- */

static uint64_t annotate_pid(const struct trace_ref *t)
{
	return t->has & TRACE_HAS_PID ? t->pid : t->has & TRACE_HAS_TID ? t->tid : 0;
}

/* The process may not be read: every address of it is unreadable. */
static void annotate_denied(struct annotate *a, struct annotate_ref *r,
			    const struct atw_err *err)
{
	uint64_t pid = annotate_pid(r->ref);
	char what[40];

	r->state = ANNOTATE_UNREADABLE;
	r->have_state = true;
	a->denied++;
	if (a->denied > 1 && pid == a->last_denied)
		return;
	a->last_denied = pid;
	snprintf(what, sizeof(what), _("process %" PRIu64), pid);
	if (!unreadable_take(&a->unreadable, a->c, a->src.name, what, err->text))
		annotate_fault(a, NULL, err);
}

static void annotate_gone(struct annotate *a, uint64_t pid, const struct atw_err *err)
{
	if (a->gone++ && pid == a->last_gone)
		return;
	a->last_gone = pid;
	if (a->gone_said++ < GONE)
		print_warning(a->c, "%s: %s", a->src.name, err->text);
}

/* What is wrong with one address, if it is not fatal. */
static int annotate_no_place(struct annotate *a, struct annotate_ref *r, int status,
			     struct atw_err *err)
{
	switch (status) {
	case ATW_E_PERM:
		annotate_denied(a, r, err);
		return ATW_OK;
	case ATW_E_NONE:
		annotate_gone(a, annotate_pid(r->ref), err);
		return ATW_OK;
	case ATW_E_UNSUPPORTED:
		if (!a->kernel++)
			annotate_fault(a, NULL, err);
		return ATW_OK;
	case ATW_E_MISSING:
	case ATW_E_DAMAGED:
	case ATW_E_IO:
	case ATW_E_LIMIT:
		r->state = STATE_LOST;
		r->have_state = true;
		a->lost++;
		annotate_fault(a, NULL, err);
		return ATW_OK;
	case ATW_E_USAGE:
		atw_err_wrap(err, "%s: line %" PRIu64, a->file, trace_reader_lines(a->in));
		atw_err_hint(err, "specify its process with --pid N");
		return status;
	}
	return status;
}

static void annotate_count_state(struct annotate *a, unsigned state)
{
	switch (state) {
	case STATE_LOST:
		a->lost++;
		break;
	case STATE_EXCLUDED:
		a->excluded++;
		break;
	case STATE_UNSTABLE:
		a->unstable++;
		break;
	case STATE_BAD:
		a->invalid++;
		break;
	}
}

/* Names of the line, if the source has none. */
static void annotate_name(struct annotate *a, struct annotate_ref *r)
{
	const struct place_process *p = r->place.process;
	const struct trace_ref *t = r->ref;
	struct atw_region region;

	if (p && !p->why.status) {
		r->pid = p->subject.pid;
		r->have_pid = true;
		r->task = p->subject.task[0] ? p->subject.task : NULL;
	} else if (t->has & TRACE_HAS_PID) {
		r->pid = t->pid;
		r->have_pid = true;
	}
	if (!r->task && t->task.len) {
		size_t n = t->task.len < sizeof(a->task) - 1 ? t->task.len : sizeof(a->task) - 1;

		memcpy(a->task, t->task.data, n);
		a->task[n] = '\0';
		r->task = a->task;
	}
	if (r->place.area)
		r->area = r->place.area->name;
	else if (r->place.kernel && target_has(a->src.target, TARGET_SYMBOLS) &&
		 listing_area(&a->list, t->address, t->address, &region))
		r->area = region.name;
}

static int annotate_one(struct annotate *a, const struct trace_ref *t, struct atw_blob line,
			struct atw_err *err)
{
	struct annotate_ref r = { .ref = t, .input = line };
	uint64_t pid = annotate_pid(t);
	bool named = t->has & (TRACE_HAS_PID | TRACE_HAS_TID);
	struct atw_err why = { 0 };
	int rc;

	a->refs++;
	/* The idle task has number 0 and no memory of its own. */
	if (!pid && named && !a->src.subject.pid && t->address <= INT64_MAX)
		rc = atw_err_set(&why, ATW_E_NONE, "process 0 is the idle task: it has no address space of its own");
	else
		rc = placer_find(a->placer, pid, t->address, &r.place, &why);
	if (rc < 0)
		rc = annotate_no_place(a, &r, rc, &why);
	if (rc < 0) {
		*err = why;
		return rc;
	}
	if (r.place.have & PLACE_HAS_STATE) {
		r.state = state_shown(r.place.state);
		r.have_state = true;
		annotate_count_state(a, r.state);
	}
	annotate_name(a, &r);
	return a->o->summary ? annotate_sums_add(&a->sums, &r, err)
			     : annotate_row(&a->rows, &r, trace_reader_lines(a->in), a->out,
					    err);
}

/* ---- all of them ---- */

/* Pages of a running machine move: what is known of them is renewed every second. */
static void annotate_renew(struct annotate *a)
{
	uint64_t time;

	if (!target_has(a->src.target, TARGET_RUNNING))
		return;
	time = now();
	if (time - a->renewed < SECOND)
		return;
	if (a->renewed)
		placer_renew(a->placer);
	a->renewed = time;
}

static int annotate_read(struct annotate *a, struct atw_err *err)
{
	struct atw_err why = { 0 };
	struct trace_ref ref;
	struct atw_blob line;
	int r;

	progress_begin(&a->progress, a->c, a->src.name, "lines");
	while ((r = trace_reader_next(a->in, &ref, &line, &why)) != ATW_END) {
		if (r == ATW_E_FORMAT || r == ATW_E_LIMIT) {
			annotate_bad_line(a, &why);
			continue;
		}
		if (r < 0) {
			*err = why;
			break;
		}
		if (!(ref.has & TRACE_HAS_ADDRESS)) {
			a->placeless++;
			continue;
		}
		annotate_renew(a);
		r = annotate_one(a, &ref, line, err);
		if (r < 0)
			break;
		progress_at(&a->progress, trace_reader_lines(a->in), 0);
	}
	progress_end(&a->progress);
	return r == ATW_END ? ATW_OK : r;
}

static int annotate_status(const struct annotate *a)
{
	bool allowed = a->unreadable.allow;

	if (a->bad || a->gone || (a->denied && !allowed) || a->unread || a->kernel || a->lost ||
	    a->excluded || a->unstable)
		return EXIT_PARTIAL;
	return a->refs ? EXIT_COMPLETE : EXIT_NO;
}

static void annotate_note(struct annotate *a)
{
	uint64_t cannot = a->lost + a->excluded + a->unstable;

	unreadable_note(&a->unreadable, a->out);
	atw_output_note(a->out, "%" PRIu64 " address%s in %" PRIu64 " line%s of %s", a->refs,
			a->refs == 1 ? "" : "es", trace_reader_lines(a->in),
			trace_reader_lines(a->in) == 1 ? "" : "s",
			trace_reader_format(a->in)->name);
	if (a->placeless)
		atw_output_note(a->out, "%" PRIu64 " record%s no address", a->placeless,
				a->placeless == 1 ? " has" : "s have");
	if (a->gone)
		atw_output_note(a->out, "%" PRIu64 " address%s of processes that are not in the source",
				a->gone, a->gone == 1 ? " is" : "es are");
	if (a->denied)
		atw_output_note(a->out, "%" PRIu64 " address%s of processes that may not be read",
				a->denied, a->denied == 1 ? " is" : "es are");
	if (a->invalid)
		atw_output_note(a->out, "%" PRIu64 " entr%s bad: reserved bits are set",
				a->invalid, a->invalid == 1 ? "y is" : "ies are");
	if (cannot)
		atw_output_note(a->out, "%" PRIu64 " address%s without a page table: %" PRIu64 " lost, %" PRIu64 " excluded, %" PRIu64 " unstable",
				cannot, cannot == 1 ? " is" : "es are", a->lost, a->excluded,
				a->unstable);
}

/* Why the answer is one in part, in one sentence each. */
static void annotate_incomplete(const struct annotate *a)
{
	const char *name = a->src.name;
	uint64_t cannot = a->lost + a->excluded + a->unstable;

	if (a->bad)
		print_incomplete("%s: cannot parse %" PRIu64 " line%s", a->file, a->bad,
				 a->bad == 1 ? "" : "s");
	if (a->gone)
		print_incomplete("%s: %" PRIu64 " address%s of processes that are not in it", name,
				 a->gone, a->gone == 1 ? " is" : "es are");
	if (a->denied && !a->unreadable.allow)
		print_incomplete("%s: %" PRIu64 " address%s of processes that may not be read",
				 name, a->denied, a->denied == 1 ? " is" : "es are");
	if (a->kernel)
		print_incomplete("%s: cannot look up %" PRIu64 " address%s of the kernel", name,
				 a->kernel, a->kernel == 1 ? "" : "es");
	if (cannot)
		print_incomplete("%s: cannot read the page tables of %" PRIu64 " address%s (%" PRIu64 " lost, %" PRIu64 " excluded, %" PRIu64 " unstable)",
				 name, cannot, cannot == 1 ? "" : "es", a->lost, a->excluded,
				 a->unstable);
}

/* No address at all: the usual reason is a profile without them. */
static void annotate_nothing(const struct annotate *a)
{
	struct atw_err err = { 0 };

	atw_err_set(&err, ATW_E_NONE, "%s: there is no address in %" PRIu64 " line%s", a->file,
		    trace_reader_lines(a->in), trace_reader_lines(a->in) == 1 ? "" : "s");
	if (a->placeless && !strcmp(trace_reader_format(a->in)->name, "perf"))
		atw_err_hint(&err, "record data addresses with `perf record -d` and print them with `perf script -F +addr`, or annotate code with --address-column ip");
	print_error(&err);
}

static int annotate_all(struct annotate *a)
{
	const struct place_opts po = {
		.pid = a->src.subject.pid, .large = a->o->summary, .pace = a->src.pace,
		.cannot = annotate_cannot, .arg = a,
	};
	struct atw_output_opts oo;
	struct atw_err err = { 0 };
	int r, status;

	output_opts(a->c, &a->src, &oo);
	r = placer_open(a->src.target, &po, &a->placer, &err) ?:
	    atw_output_open(&oo, a->o->summary ? &annotate_sums_schema : &a->rows.schema,
			    &a->out, &err) ?:
	    annotate_read(a, &err);
	thaw(&a->src);
	if (r == ATW_OK && a->o->summary && a->refs) {
		a->sums.smallest = placer_page(a->placer);
		r = annotate_sums_put(&a->sums, a->out, &err);
	}
	status = annotate_status(a);
	if (r == ATW_OK)
		annotate_note(a);
	status = output_end(a->out, r, status, &err);
	if (r == ATW_OK && status == EXIT_PARTIAL)
		annotate_incomplete(a);
	if (r == ATW_OK && !a->refs)
		annotate_nothing(a);
	placer_close(a->placer);
	return status;
}

/* ---- the command ---- */

static int annotate_open_input(struct annotate *a)
{
	const struct annotate_opts *o = a->o;
	const struct trace_options to = {
		.address = o->address, .fields = o->fields,
		.column_hint = o->input ? NULL : N_("name the column with --address-column NAME"),
	};
	const struct trace_format *format = NULL;
	struct atw_err err = { 0 };

	for (const struct opt_choice *i = inputs; i->word; i++)
		if (i->value == (unsigned)o->input)
			format = trace_format_named(i->word);
	if (!strcmp(a->file, "-") && isatty(STDIN_FILENO))
		return usage_error("annotate", "FILE is missing, and standard input is a terminal");
	if (trace_reader_open(a->file, format, &to, &a->in, &err) == ATW_OK)
		return EXIT_COMPLETE;
	if (err.status == ATW_E_FORMAT && !format)
		atw_err_hint(&err, "specify its form: --input perf, csv, lackey or dynamorio");
	return print_error(&err);
}

static int annotate_run(const struct common *c, void *opts, int argc, char **argv)
{
	const struct annotate_opts *o = opts;
	struct annotate *a;
	int status;

	if (!argc)
		return usage_error("annotate", "SOURCE is missing");
	if (argc > 2)
		return usage_error("annotate", "too many arguments; expected SOURCE and FILE");
	a = calloc(1, sizeof(*a));
	if (!a)
		return print_nomem();
	a->c = c;
	a->o = o;
	a->unreadable.allow = o->space.allow;
	a->file = argc > 1 ? argv[1] : "-";
	status = open_to_freeze(c, argv[0], &o->space, TARGET_PAGES, &a->src);
	if (!status) {
		listing_init(&a->list, "annotate", &a->src, 0);
		annotate_columns(&a->rows, &a->list, c->format == FORMAT_PLAIN);
		a->sums.eligible = target_has(a->src.target, TARGET_ELIGIBLE);
		a->sums.smallest = 4096;
		status = annotate_open_input(a) ?: freeze(c, &a->src, &o->space);
		if (!status)
			status = annotate_all(a);
		trace_reader_close(a->in);
		annotate_sums_deinit(&a->sums);
		listing_deinit(&a->list);
		session_close(&a->src);
	}
	free(a);
	return status;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.args = "SOURCE [FILE]",
	.summary = "add pages and memory areas to addresses of a profile",
	.about =
		"Adds to each address in FILE, or in standard input, what SOURCE contains about it:\n"
		"physical address, page size, NUMA node, memory area and use of the frame. FILE is\n"
		"what perf script, Valgrind's lackey or DynamoRIO print, or rows with a head. The\n"
		"process is that of the line, or --pid. --summary prints sums by area and page size\n"
		"instead. Exit status 1: there is no address; 4: some could not be looked up.",
	.common = OPT_COMMON_LISTING,
	.options = options,
	.opts_size = sizeof(struct annotate_opts),
	.run = annotate_run,
};
