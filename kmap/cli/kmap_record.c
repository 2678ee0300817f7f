/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmap_record.c - atwalk kmap record: runs QEMU with the recorder in it, and writes what
 * it records until it ends.
 *
 * The two share one piece of memory (kmap/lib/share.h) and the guest's RAM. At the first
 * code of a kernel the recorder stops and waits until atwalk has found the kernel in
 * RAM.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "host/host.h"
#include "kmap_recording.h"
#include "output/peer.h"
#include "stalled.h"

static const struct opt_choice mode_choices[] = {
	{ "instance", RECORD_INSTANCE }, { "site", RECORD_SITE }, { "sample", RECORD_SAMPLE }, { 0 }
};
static const struct opt_choice to_choices[] = {
	{ "v1", KMAP_V1 }, { "v2", KMAP_V2 }, { "v3", KMAP_V3 }, { "v4", KMAP_V4 }, { 0 }
};

static const struct opt options[] = {
	{ 0, "mode", OPT_CHOICE, offsetof(struct record_opts, mode), "MODE",
	  "record every object, one for each allocation site, or one of --sample objects",
	  mode_choices },
	{ 0, "sample", OPT_NUMBER, offsetof(struct record_opts, sample), "N",
	  "record one of N objects; the file is marked as sampled", NULL },
	{ 0, "cache", OPT_LIST, offsetof(struct record_opts, caches), "NAME",
	  "record only objects of slab cache NAME; may be repeated", NULL },
	{ 0, "site", OPT_LIST, offsetof(struct record_opts, sites), "WHERE",
	  "record only objects allocated by this function or instruction address; may be repeated", NULL },
	{ 0, "range", OPT_TEXT, offsetof(struct record_opts, range), "A-B",
	  "record only accesses to guest addresses A to B", NULL },
	{ 0, "task-pid", OPT_NUMBER, offsetof(struct record_opts, task_pid), "N",
	  "record only accesses of thread N of the guest", NULL },
	{ 0, "times", OPT_FLAG, offsetof(struct record_opts, times), NULL,
	  "record the first and last access time of each object", NULL },
	{ 0, "lines", OPT_FLAG, offsetof(struct record_opts, lines), NULL,
	  "record accesses to each 64-byte line of each object", NULL },
	{ 0, "calls", OPT_FLAG, offsetof(struct record_opts, calls), NULL,
	  "record which code calls which, and how often", NULL },
	{ 0, "mem", OPT_TEXT, offsetof(struct record_opts, mem), "SIZE",
	  "use at most SIZE of memory for the recording; default: 512M", NULL },
	{ 0, "off", OPT_FLAG, offsetof(struct record_opts, off), NULL,
	  "start with recording switched off", NULL },
	{ 0, "control", OPT_TEXT, offsetof(struct record_opts, control), "FOLDER",
	  "mount Memorizer's control files in FOLDER; access logging starts switched off", NULL },
	{ 0, "control-socket", OPT_TEXT, offsetof(struct record_opts, control_socket), "PATH",
	  "serve the controls on a UNIX socket, for `atwalk kmap ctl`", NULL },
	{ 0, "to", OPT_CHOICE, offsetof(struct record_opts, to), "VERSION",
	  "select the format to write; default: v4", to_choices },
	{ 0, "zstd", OPT_FLAG, offsetof(struct record_opts, zstd), NULL,
	  "compress with zstd; implied by an output name that ends in .zst", NULL },
	{ 0, "no-symbols", OPT_FLAG, offsetof(struct record_opts, no_symbols), NULL,
	  "do not write the names of kernel functions", NULL },
	{ 0, "bare", OPT_FLAG, offsetof(struct record_opts, bare), NULL,
	  "record every instruction of a guest without a kernel; no objects are known", NULL },
	{ 0, "live", OPT_FLAG, offsetof(struct record_opts, live), NULL,
	  "record the running kernel: all objects and a sample of accesses", NULL },
	{ 0, "pid", OPT_NUMBER, offsetof(struct record_opts, pid), "N",
	  "record only allocations of process N and its children (--live only)", NULL },
	{ 0, "seconds", OPT_NUMBER, offsetof(struct record_opts, seconds), "N",
	  "stop after N seconds (--live only)", NULL },
	{ 0, "watch", OPT_NUMBER, offsetof(struct record_opts, watch), "MS",
	  "watch each word for MS milliseconds (--live only); default: 20; 0: no accesses", NULL },
	{ 0, "plugin", OPT_TEXT, offsetof(struct record_opts, plugin), "FILE",
	  "load the recorder (a QEMU plugin) from FILE", NULL },
	{ 0 }
};

enum {
	AT_ONCE = 4096,          /* objects between two looks at everything else */
	SAMPLE = 64,             /* default: record one of this many */
	HEAP = 1024,             /* events that make it worth to go on at once */
	FLUSH = 1000,            /* idle moments between two times that all is written */
};
#define MEM_USUAL (UINT64_C(512) << 20)
#define MEM_LEAST (UINT64_C(16) << 20)

/* ---- until it ends ---- */

static volatile sig_atomic_t stop;

static void record_on_signal(int number)
{
	stop = number;
	stalled_begin_end();
}

static void record_catch_signals(void)
{
	struct sigaction a = {.sa_handler = record_on_signal};

	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
	sigaction(SIGHUP, &a, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The guest continues, and nothing more is recorded. */
static void record_write_failed(struct recording *r)
{
	if (r->running)
		recording_live_stop(r);
	atomic_store(&r->s->gate, 0);
	atomic_store(&r->s->failed, 1);
}

/* Once the child was reaped elsewhere, its PID may belong to another process. */
static bool record_is_gone(struct recording *r)
{
	pid_t pid = waitpid(r->child, &r->status, WNOHANG);

	return pid == r->child || (pid < 0 && errno == ECHILD);
}

static bool record_has_ended(struct recording *r)
{
	if (r->running && !r->child &&
	    (stop || recording_live_over(r) || r->failed.status < 0))
		return true;
	if (r->running && recording_live_over(r))
		stop = SIGTERM;
	if (r->child && record_is_gone(r)) {
		r->child = 0;
		return true;
	}
	if (r->child && (stop || (r->refused.status < 0 && !r->child_signaled))) {
		kill(r->child, SIGTERM);
		r->child_signaled = true;
		stop = 0;
	}
	return false;
}

/* QEMU is ending, and the recorder stands still. */
static bool record_is_complete(const struct recording *r)
{
	return !r->running && atomic_load(&r->s->attached) == 2;
}

/* Until then an old file of that name stays in place. */
static int record_show_file(struct recording *r, struct atw_err *err)
{
	int ret = outfile_commit(&r->target, err);

	outfile_close(&r->target);
	return ret;
}

/* Write some of the queued objects; false: the queue is empty. */
static bool record_drain(struct recording *r, bool flush)
{
	unsigned n = 0, events = 0;

	kmap_controls_lock(r->controls);
	if (r->running && r->failed.status == ATW_OK &&
	    recording_live_work(r, &events, &r->failed) < 0)
		record_write_failed(r);
	/* The names of its functions are not needed for the answer. */
	if (atomic_load(&r->s->asked) != atomic_load(&r->s->answered) && recording_answer(r) &&
	    recording_describe(r, r->kernel, &r->failed) < 0)
		record_write_failed(r);
	if (r->target.fd >= 0 && r->refused.status == ATW_OK && recording_has_begun(r) &&
	    record_show_file(r, &r->failed) < 0)
		record_write_failed(r);
	if (r->failed.status == ATW_OK &&
	    (kmap_drain_some(r->drain, AT_ONCE, &n, &r->failed) < 0 ||
	     (flush && kmap_drain_flush(r->drain, &r->failed) < 0)))
		record_write_failed(r);
	kmap_controls_unlock(r->controls);
	/* Events of the running kernel are collected now and then, in batches. */
	return (r->running ? events >= HEAP : n) && r->failed.status == ATW_OK;
}

static const struct timespec moment = { 0, 1000000 };

static void record_loop(struct recording *r)
{
	unsigned idle = 0;
	bool ended = false, more = false;

	/* The running kernel never stops producing events. */
	while (!ended || (more && !r->running)) {
		ended = ended || record_has_ended(r) || record_is_complete(r);
		more = record_drain(r, !ended && !more && ++idle % FLUSH == 0);
		if (!ended && !more) {
			recording_go_ahead(r);
			nanosleep(&moment, NULL);
		}
	}
}

/* QEMU takes time to free its memory: what the recorder left was written meanwhile. */
static void record_await_qemu(struct recording *r)
{
	while (!r->running && r->child && !record_has_ended(r))
		nanosleep(&moment, NULL);
}

/* ---- and after ---- */

static void record_write_rest(struct recording *r)
{
	recording_leave_guest(r);
	if (r->failed.status == ATW_OK && r->running)
		recording_live_end(r, &r->failed);
	if (r->failed.status == ATW_OK)
		kmap_drain_rest(r->drain, &r->failed);
	if (r->failed.status == ATW_OK)
		kmap_drain_calls(r->drain, &r->failed);
	if (r->failed.status == ATW_OK)
		kmap_drain_unnamed(r->drain, &r->failed);
}

static void record_write_end(struct recording *r, const char *cut)
{
	if (r->failed.status == ATW_OK)
		kmap_drain_end(r->drain, cut, &r->failed);
	if (r->failed.status < 0)
		r->mended = kmap_drain_mend(r->drain, r->failed.text);
}

/* Wait until a receiver at a socket has all the output. */
static void record_deliver(struct recording *r)
{
	if (r->failed.status == ATW_OK && r->c->output && peer_is(r->c->output))
		peer_deliver(r->out_fd, &r->failed);
	if (stalled_gave_up())
		atw_err_set(&r->failed, ATW_E_IO,
			    "gave up: its reader has read nothing for %d seconds", STALLED_S);
}

/* ---- the command ---- */

static int record_open_output(struct recording *r, struct atw_err *err)
{
	const char *name = r->c->output;
	int ret;

	if (!name || !strcmp(name, "-")) {
		if (isatty(1))
			return atw_err_set(err, ATW_E_USAGE, "-o FILE is required");
		r->out_fd = 1;
		return ATW_OK;
	}
	if (peer_is(name))
		return peer_connect(name, &r->out_fd, err);
	ret = outfile_open_private(name, &r->target, err);
	if (ret < 0)
		return ret;
	/* Duplicated, because output continues after the file has its name. */
	r->out_fd = fcntl(r->target.fd, F_DUPFD_CLOEXEC, 3);
	return r->out_fd < 0 ? atw_err_set(err, ATW_E_IO, "%s: %s", name, strerror(errno)) : ATW_OK;
}

/* Is the output format without the lines that atwalk adds? */
static bool record_is_older(const struct record_opts *o)
{
	return o->to != KMAP_UNKNOWN && o->to != KMAP_V4;
}

static int record_open_drain(struct recording *r, struct atw_err *err)
{
	struct kmap_drain_opts d = { .fd = r->out_fd, .version = KMAP_V4, .jobs = host_cpus_allowed() };
	int ret;

	if (r->o->to)
		d.version = r->o->to;
	d.level = kmap_is_packed(r->c, r->o->zstd) ? 1 : 0;
	ret = kmap_drain_open(r->s, &d, &r->drain, err) ?:
	      kmap_drain_begin(r->drain, err);
	/* For the running kernel the mode is known later. */
	if (ret == ATW_OK && !r->o->live)
		ret = recording_write_mode(r, false, err);
	return ret < 0 || !r->o->bare ? ret : recording_write_filters(r, err);
}

/* Open the controls before QEMU runs, so that an error is reported early. */
static int record_open_controls(struct recording *r, struct atw_err *err)
{
	int ret = ATW_OK;

	if (!r->o->control && !r->o->control_socket)
		return ATW_OK;
	ret = kmap_controls_open(r->s, r->drain, r->c->output, &r->controls, err);
	if (ret == ATW_OK && r->o->control)
		ret = kmap_folder_open(r->o->control, &r->folder, err);
	if (ret == ATW_OK && r->o->control_socket)
		ret = kmap_socket_open(r->o->control_socket, &r->socket, err);
	return ret;
}

/* Start the threads of the controls, once QEMU runs. */
static int record_start_controls(struct recording *r, struct atw_err *err)
{
	return kmap_folder_start(r->folder, r->c, r->controls, err) ?:
	       kmap_socket_start(r->socket, r->controls, err);
}

static void record_close_controls(struct recording *r, bool cut)
{
	kmap_controls_ended(r->controls, cut);
	kmap_socket_close(r->socket);
	if (!kmap_folder_close(r->folder))
		return;          /* a process in the folder may still read */
	kmap_controls_close(r->controls);
	r->controls = NULL;
}

static int record_begin(struct recording *r, int argc, char **argv, struct atw_err *err)
{
	char plugin[4096];
	uint64_t mem = MEM_USUAL;
	int ret = ATW_OK;

	if (r->o->mem && (!num_size(r->o->mem, strlen(r->o->mem), &mem) || mem < MEM_LEAST ||
			  mem > UINT64_C(64) << 30))
		return atw_err_set(err, ATW_E_USAGE, "--mem %s: expected 16M to 64G", r->o->mem);
	if (r->o->sample.given && record_is_older(r->o))
		return atw_err_set(err, ATW_E_USAGE, "--sample requires --to v4");
	if (r->o->watch.given && r->o->watch.u > 10000)
		return atw_err_set(err, ATW_E_USAGE, "--watch %" PRIu64 ": expected at most 10000 ms", r->o->watch.u);
	if (r->o->sample.given && !r->o->sample.u)
		return atw_err_set(err, ATW_E_USAGE, "--sample 0: expected at least 1");
	if (r->o->sample.u > UINT32_MAX)
		return atw_err_set(err, ATW_E_USAGE, "--sample %" PRIu64 ": expected at most %" PRIu32,
				   r->o->sample.u, UINT32_MAX);
	if (r->o->task_pid.u > INT32_MAX)
		return atw_err_set(err, ATW_E_USAGE, "--task-pid %" PRIu64 ": not a valid thread number",
				   r->o->task_pid.u);
	if (!r->o->live)
		ret = kmap_machine_read(&r->machine, argc, argv, err);
	if (ret == ATW_OK && !r->o->live)
		ret = kmap_machine_plugin(&r->machine, r->o->plugin, plugin, sizeof(plugin), err);
	if (ret == ATW_OK)
		ret = recording_make(r, mem, err);
	if (ret == ATW_OK && !r->o->live)
		ret = kmap_machine_add(&r->machine, plugin, r->share_fd, r->ram_fd, r->o->bare, err);
	if (ret == ATW_OK)
		ret = record_open_output(r, err);
	/* Until here signals end the program: a receiver may connect late. */
	stalled_watch(r->out_fd);
	record_catch_signals();
	if (ret == ATW_OK)
		ret = record_open_drain(r, err);
	if (ret < 0)
		return ret;
	/*
	 * Flush the header first: from the moment it has a name, the file must be a valid
	 * KMAP.
	 */
	if (kmap_drain_flush(r->drain, err) < 0)
		return atw_err_wrap(err, "%s", recording_output(r));
	ret = record_open_controls(r, err);
	if (ret == ATW_OK)
		ret = r->o->live ? recording_run_live(r, argc ? argv : NULL, err)
				 : recording_run_qemu(r, err);
	if (ret == ATW_OK)
		ret = record_start_controls(r, err);
	if (ret < 0 && r->child)
		kill(r->child, SIGTERM);
	return ret;
}

static void record_end(struct recording *r, bool cut)
{
	record_close_controls(r, cut);
	if (r->controls)
		return;
	recording_live_close(r);
	kmap_drain_close(r->drain);
	kmap_functions_of_deinit(&r->functions);
	kmap_machine_free(&r->machine);
	if (r->s)
		munmap(r->s, r->s->at.size);
	if (r->share_fd >= 0)
		close(r->share_fd);
	recording_leave_guest(r);
	if (r->out_fd > 1)
		close(r->out_fd);
	outfile_close(&r->target);
}

/* Mode "sample" is mode "instance" with a default for --sample. */
static void record_settle_mode(struct record_opts *o)
{
	if (o->mode != RECORD_SAMPLE)
		return;
	o->mode = RECORD_INSTANCE;
	if (!o->sample.given)
		o->sample = (struct opt_number){ .given = true, .u = SAMPLE };
}

/* Check for options that cannot be combined. */
static int record_check_opts(const struct recording *r, int argc, struct atw_err *err)
{
	const struct record_opts *o = r->o;
	const char *wrong = o->bare ? "--bare" : o->plugin ? "--plugin" : o->range ? "--range" :
			    o->times ? "--times" : o->calls ? "--calls" :
			    o->mode == RECORD_SITE ? "--mode site" : NULL;
	const char *unknown = o->caches.n ? "--cache" : o->sites.n ? "--site" :
			      o->task_pid.given ? "--task-pid" : NULL;

	if ((o->times || o->lines) && record_is_older(o))
		return atw_err_set(err, ATW_E_USAGE, "--to %s: --times and --lines require v4",
				   options_word(to_choices, o->to));
	if ((o->times || o->lines) && o->mode == RECORD_SITE)
		return atw_err_set(err, ATW_E_USAGE,
				   "--times and --lines cannot be used with --mode site");
	if (!o->live && (o->pid.given || o->seconds.given || o->watch.given))
		return atw_err_set(err, ATW_E_USAGE, "--pid, --seconds and --watch require --live");
	if (o->bare && unknown && !o->live)
		return atw_err_set(err, ATW_E_USAGE,
				   "%s cannot be used with --bare: without a kernel there are neither objects nor threads",
				   unknown);
	if (!o->live)
		return ATW_OK;
	if (wrong)
		return atw_err_set(err, ATW_E_USAGE, "%s cannot be used with --live", wrong);
	if (argc && o->pid.given)
		return atw_err_set(err, ATW_E_USAGE, "--pid and a command cannot be used together");
	if (argc && (!r->c->output || !strcmp(r->c->output, "-")))
		return atw_err_set(err, ATW_E_USAGE,
				   "-o FILE is required: the command uses standard output");
	if (record_is_older(o) && !(o->watch.given && !o->watch.u))
		return atw_err_set(err, ATW_E_USAGE,
				   "--to %s: sampled accesses require v4; use --watch 0 to record none",
				   options_word(to_choices, o->to));
	return ATW_OK;
}

static int record_run_program(const struct common *c, void *opts, int argc, char **argv)
{
	struct recording r = { .c = c, .o = opts, .share_fd = -1, .ram_fd = -1, .out_fd = -1,
			       .target.fd = -1 };
	struct atw_err err = { 0 };
	char why[256];
	const char *cut;
	int ret;

	/* With SIGCHLD ignored, the exit status of QEMU would be lost. */
	signal(SIGCHLD, SIG_DFL);
	record_settle_mode(opts);
	if (record_check_opts(&r, argc, &err) < 0)
		return usage_error_of("kmap record", &err);
	if (!argc && !r.o->live)
		return usage_error("kmap record", "QEMU is missing: kmap record -o FILE -- qemu-system-x86_64 ...");
	if (record_begin(&r, argc, argv, &err) < 0) {
		record_end(&r, true);
		return err.status == ATW_E_USAGE && !*error_hint(&err)
		       ? usage_error_of("kmap record", &err) : print_error(&err);
	}
	record_loop(&r);
	kmap_controls_over(r.controls);
	kmap_controls_lock(r.controls);
	record_write_rest(&r);
	record_await_qemu(&r);
	cut = recording_cut_by(&r, why, sizeof(why));
	record_write_end(&r, cut);
	kmap_controls_unlock(r.controls);
	record_deliver(&r);
	ret = recording_summarize(&r, cut);
	record_end(&r, cut || r.failed.status < 0);
	return ret;
}

const struct command kmap_record = {
	.name = "kmap record",
	.args = "-- QEMU [argument...]",
	.summary = "record accesses of a guest's kernel, or the running one, to its objects",
	.about =
		"Runs QEMU with a recorder plugin, the guest's memory as a shared file and the\n"
		"tracepoints of the guest kernel's allocators. The kernel can be an unmodified\n"
		"one of a distribution. --live records the running kernel instead: while a\n"
		"command runs (no QEMU), for the process --pid, or for --seconds. The output\n"
		"file exists as soon as something is recorded and can be read while it grows;\n"
		"with -o tcp:ADDRESS:PORT or unix:PATH, output goes to a listening socket.",
	.common = OPT_COMMON_OUTPUT | OPT_COMMON_VERBOSE,
	.options = options,
	.opts_size = sizeof(struct record_opts),
	.run = record_run_program,
};
