/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - atwalk-collect(8), which writes a capture of the running system from /proc,
 * like `atwalk collect live:pagemap`, as one small static file. collector.mk lists the
 * parts of the library that it links.
 */

#include "base/text.h"
#include "budget.h"
#include "census/census.h"
#include "cli/common/complete.h"
#include "cli/common/ending.h"
#include "cli/common/progress.h"
#include "output/outfile.h"
#include "output/peer.h"
#include "target/provider.h"

struct opts {
	struct opt_number pid;
	bool frames, raw, no_refs, allow, progress, quiet, verbose, help, version;
	const char *mem, *rate, *output;
};

#define AT(field) offsetof(struct opts, field)
static const struct opt options[] = {
	{ 'o', "output", OPT_TEXT, AT(output), "TO", "write to TO, as without the option", NULL },
	{ 0, "pid", OPT_NUMBER, AT(pid), "N", "select process N only", NULL },
	{ 0, "frames", OPT_FLAG, AT(frames), NULL,
	  "record the use of every frame of RAM as well", NULL },
	{ 0, "raw", OPT_FLAG, AT(raw), NULL, "record all page flags", NULL },
	{ 0, "allow-unreadable", OPT_FLAG, AT(allow), NULL,
	  "report processes that may not be read without exit status 4", NULL },
	{ 0, "no-refs", OPT_FLAG, AT(no_refs), NULL,
	  "do not count mappings; use only the counts kept by the kernel", NULL },
	{ 0, "mem", OPT_TEXT, AT(mem), "BYTES",
	  "use at most BYTES of memory (K, M, G)", NULL },
	{ 0, "rate", OPT_TEXT, AT(rate), "BYTES",
	  "read at most BYTES per second (K, M, G)", NULL },
	{ 0, "progress", OPT_FLAG, AT(progress), NULL,
	  "report progress even if standard error is not a terminal", NULL },
	{ 'q', "quiet", OPT_FLAG, AT(quiet), NULL, "suppress warnings on standard error", NULL },
	{ 'v', "verbose", OPT_FLAG, AT(verbose), NULL,
	  "report the cost at the end: time, bytes read, memory", NULL },
	{ 'h', "help", OPT_FLAG, AT(help), NULL, "show this help", NULL },
	{ 'V', "version", OPT_FLAG, AT(version), NULL, "show the version", NULL },
	{ 0 }
};

/* ---- errors ---- */

/* Names in files are untrusted: escape control characters for the terminal. */
static void collector_print_line(const char *before, const char *s)
{
	struct buf b = { 0 };

	text_plain(&b, s);
	fprintf(stderr, "%s%s\n", before, b.failed ? "out of memory" : b.data);
	buf_deinit(&b);
}

static int collector_failed(const struct atw_err *err)
{
	collector_print_line("atwalk-collect: ", err->text);
	if (err->hint[0])
		collector_print_line("                ", err->hint);
	return exit_status(err->status);
}

static int collector_misused(const char *why)
{
	collector_print_line("atwalk-collect: ", why);
	fputs("                see: atwalk-collect --help\n", stderr);
	return EXIT_USAGE;
}

/* ---- output: a file, or a socket, so that nothing is written to a disk here ---- */

struct to {
	const char *name;        /* name for errors */
	int fd;
	bool socket;
	struct outfile target;    /* if it is no socket */
};

/* "tcp:ADDRESS:PORT", "unix:PATH", or what outfile_open_private() takes. */
static int collector_to_open(const char *where, struct to *ret, struct atw_err *err)
{
	int r;

	*ret = (struct to){ .name = where, .fd = -1, .target = { .fd = -1 } };
	if (where && peer_is(where)) {
		r = peer_connect(where, &ret->fd, err);
		ret->socket = r == ATW_OK;
	} else {
		r = outfile_open_private(where, &ret->target, err);
		ret->name = outfile_name(&ret->target);
		ret->fd = ret->target.fd;
	}
	return r;
}

/* Then a file is in its place, and the receiver of a socket has all data. */
static int collector_to_commit(struct to *t, struct atw_err *err)
{
	if (!t->socket)
		return outfile_commit(&t->target, err);
	return peer_deliver(t->fd, err) < 0 ? atw_err_wrap(err, "%s", t->name) : ATW_OK;
}

/* Without a commit, removes the file. */
static void collector_to_close(struct to *t)
{
	if (t->socket)
		close(t->fd);
	else if (t->name)
		outfile_close(&t->target);
	*t = (struct to){ .fd = -1 };
}

/* ---- signals ---- */

static struct to going; /* to be removed by collector_tidy() */

/* Remove a temporary file that has a name. */
static void collector_tidy(void)
{
	if (going.target.temp)
		unlink(going.target.temp);
}

static void collector_catch_signals(sigset_t *ret)
{
	signal(SIGPIPE, SIG_IGN); /* reported as errors of write(2) */
	signal(SIGXFSZ, SIG_IGN);
	ending_signals(ret);
	ending_catch(collector_tidy);
}

/* ---- collecting ---- */

/* Pass-through sink: counts records and remembers whether the writer failed. */
struct tee {
	struct census_sink to;
	struct progress progress;
	uint64_t tasks, areas, lost, denied;     /* denied: of those lost, processes */
	bool failed;             /* the writer did */
};

static int collector_on_record(void *arg, const struct capture_record *rec,
			       struct atw_err *err)
{
	struct tee *e = arg;
	int r = e->to.record(e->to.arg, rec, err);

	e->tasks += rec->letter == 'T';
	e->areas += rec->letter == 'V';
	e->lost += rec->letter == 'L';
	e->denied += rec->letter == 'L' && rec->has & CAPTURE_L_DENIED;
	e->failed |= r != ATW_OK;
	return r;
}

static int collector_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct tee *e = arg;
	int r = e->to.run(e->to.arg, run, err);

	e->failed |= r != ATW_OK;
	return r;
}

static int collector_on_frames(void *arg, const struct capture_frames *run,
			       struct atw_err *err)
{
	struct tee *e = arg;
	int r = e->to.frames(e->to.arg, run, err);

	e->failed |= r != ATW_OK;
	return r;
}

/* Write the capture; *lacks: what was hidden, or status 0. */
static int collector_write_it(const struct opts *o, const struct budget *budget,
			      struct pace *pace, struct census_writer *w,
			      struct tee *e, struct atw_err *lacks,
			      struct atw_err *err)
{
	const struct pagemap_provider_opts po = {
		.only = (uint32_t)o->pid.u, .flags = true, .counts = true, .pace = pace,
	};
	const struct census_collect_opts co = {
		.frames = o->frames, .slabs = true, .refs = !o->no_refs, .raw = o->raw,
		.pid = (uint32_t)o->pid.u, .area_runs = budget->runs,
		.progress = progress_at, .arg = &e->progress,
	};
	const struct common c = { .quiet = o->quiet, .progress = o->progress };
	const struct census_sink sink = {
		.record = collector_on_record, .run = collector_on_run,
		.frames = collector_on_frames, .arg = e,
	};
	struct provider *p = NULL;
	int r = pagemap_provider_open(&po, NULL, NULL, &p, err);

	if (r < 0)
		return r;
	p->counts.most = budget->counts;
	progress_begin(&e->progress, &c, NULL, "processes");
	e->progress.program = "atwalk-collect";
	r = census_collect(p, &co, &sink, err);
	progress_end(&e->progress);
	if (r == ATW_OK)
		*lacks = p->lacks;
	provider_close(p);
	if (r == ATW_OK) {
		r = census_writer_end(w, err);
		e->failed |= r != ATW_OK;
	}
	return r;
}

/* *whole: the file is valid and may be renamed. */
static int collector_collect(const struct opts *o, const struct budget *budget,
			     struct pace *pace, bool *whole)
{
	struct census_writer *w = NULL;
	struct atw_err err = { 0 }, lacks = { 0 };
	struct tee e = {0};
	int r = census_writer_open(going.fd, 0, &w, &err);

	if (r == ATW_OK) {
		e.to = census_writer_sink(w);
		r = collector_write_it(o, budget, pace, w, &e, &lacks, &err);
	}
	census_writer_close(w);
	*whole = r == ATW_OK;
	if (r < 0) {
		if (e.failed)
			atw_err_wrap(&err, "%s", going.name);
		if (err.status == ATW_E_NOMEM && o->mem)
			atw_err_hint(&err, "--mem %s is too small; use a larger one", o->mem);
		return collector_failed(&err);
	}
	if (o->verbose)
		fprintf(stderr, "atwalk-collect: %" PRIu64 " tasks, %" PRIu64 " areas, %" PRIu64 " not read\n",
			e.tasks, e.areas, e.lost);
	if (lacks.status && !o->quiet)
		collector_failed(&lacks);
	if (e.lost && !o->quiet)
		fprintf(stderr, "atwalk-collect: %" PRIu64 " read error%s: see the L: lines\n",
			e.lost, e.lost == 1 ? "" : "s");
	return e.lost > (o->allow ? e.denied : 0) || lacks.status ? EXIT_PARTIAL : EXIT_COMPLETE;
}

/* ---- the program ---- */

static int collector_run(const struct opts *o, const char *where)
{
	struct pace pace = { 0 };
	struct atw_err err = { 0 };
	struct budget budget;
	sigset_t signals;
	bool whole;
	int status;

	if (o->rate && (!num_size(o->rate, strlen(o->rate), &pace.rate) || !pace.rate)) {
		atw_err_set(&err, ATW_E_USAGE, "--rate: '%s' is not a number of bytes (65536, 64K, 1M)",
			    o->rate);
		return collector_misused(err.text);
	}
	if (o->pid.given && (!o->pid.u || o->pid.u > UINT32_MAX))
		return collector_misused("--pid: not a valid process number");
	if (budget_begin(o->mem, &budget, &err) < 0)
		return collector_failed(&err);
	collector_catch_signals(&signals);
	if (collector_to_open(where, &going, &err) < 0)
		return collector_failed(&err);
	status = collector_collect(o, &budget, &pace, &whole);
	if (!going.socket)
		sigprocmask(SIG_BLOCK, &signals, NULL);
	if (whole && collector_to_commit(&going, &err) < 0) {
		status = collector_failed(&err);
		whole = false;
	}
	collector_to_close(&going);
	if (o->verbose && whole)
		budget_print(&budget, &pace);
	return status;
}

static int collector_flush_stdout(void)
{
	struct atw_err err = { 0 };

	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_COMPLETE;
	atw_err_set(&err, ATW_E_IO, "standard output: cannot write: %m");
	return collector_failed(&err);
}

static int collector_help(void)
{
	fputs("usage: atwalk-collect [options] [TO]\n\n"
	      "Writes a capture (atwalk-capture(5)) of the running system, read from /proc.\n\n"
	      "TO: a file, created or replaced atomically; - or none: standard output;\n"
	      "    tcp:ADDRESS:PORT or unix:PATH: a listening socket.\n\n"
	      "options:\n", stdout);
	options_help(&(struct opt_set){ .table = options }, 1, stdout);
	fputs("\nExit status: 0 complete, 1 no such process, 2 wrong usage, 3 not written,\n"
	      "4 parts could not be read.\n", stdout);
	return collector_flush_stdout();
}

int main(int argc, char **argv)
{
	struct opts o = { 0 };
	const struct opt_set set = { .table = options, .base = &o };
	const struct complete_table own = { .options = options, .file = true };
	char why[256];
	int n;

	hold_standard_files();
	/* By itself, that word is a TO. */
	if (argc > 2 && !strcmp(argv[1], COMPLETE_WORD)) {
		complete_table_run(&own, argc - 2, argv + 2);
		return collector_flush_stdout();
	}
	if (!options_parse("atwalk-collect", &set, 1, argc - 1, argv + 1, &n, why, sizeof(why)))
		return collector_misused(why);
	if (o.help)
		return collector_help();
	if (o.version) {
		printf("atwalk-collect %s\n", atw_version());
		return collector_flush_stdout();
	}
	if (n > 1 || (n && o.output))
		return collector_misused("too many arguments; expected one TO");
	if (n)
		o.output = argv[1];
	if (o.output && !*o.output)
		return collector_misused("TO is empty");
	return collector_run(&o, o.output);
}
