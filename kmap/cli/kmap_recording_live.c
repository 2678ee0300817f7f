/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap_recording_live.c - recording of the running kernel: see kmap/lib/live_record.h. */
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/message.h"
#include "cli/common/ending.h"
#include "format/btf.h"
#include "linux/kernel.h"
#include "kmap/lib/introduce.h"
#include "kmap/lib/live_record.h"
#include "kmap_recording.h"
#include "host/host.h"

enum {
	WATCH = 20,              /* ms */
	RATE = 16 * 1021,        /* of accesses: IBS wants a multiple of 16 */
	AT_ONCE = 4096,
};
/* Of rings, for all CPUs. */
#define RINGS (UINT64_C(64) << 20)
#define RING_LEAST (UINT64_C(1) << 20)

struct running {
	struct atw_source *source;
	struct atw_kernel *kernel;
	struct live_recorder *recorder;
	struct live_sums sums;
	uint64_t until;          /* CLOCK_MONOTONIC, ns; 0: no end */
	const char *command;     /* NULL: it records what runs already */
	int process;             /* of --pid; -1: of none */
};

/* ---- the kernel ---- */

static int recording_live_find_kernel(struct recording *r, struct running *x,
				      uint32_t *task_tgid, struct atw_err *err)
{
	struct atw_kernel_opts ko = { 0 };
	const struct btf *types;
	int ret = atw_source_open("live:bpf", NULL, 0, &x->source, err) ?:
		  atw_kernel_open(x->source, &ko, &x->kernel, err) ?:
		  kmap_introduce_running(r->s, x->kernel, err) ?:
		  kernel_btf(x->kernel, &types, err) ?:
		  btf_offset(types, "task_struct", "tgid", task_tgid, err);

	if (ret < 0)
		return ret;
	r->machine.family = x->kernel->own.paging.family;
	r->introduced = true;
	recording_find_sites(r, x->kernel);
	ret = recording_describe(r, x->kernel, err);
	if (ret == ATW_E_IO)     /* of writing, and so of a file */
		return atw_err_wrap(err, "%s", recording_output(r));
	if (ret == ATW_OK && r->refused.status < 0)
		ret = atw_err_set(err, ATW_E_USAGE, "%s", r->refused.text);
	return ret;
}

/* The store needs room: some of what waits is written. */
static bool recording_live_make_room(void *arg)
{
	struct recording *r = arg;
	unsigned n;

	return r->failed.status == ATW_OK &&
	       kmap_drain_some(r->drain, AT_ONCE, &n, &r->failed) == ATW_OK;
}

/* Ring buffers for pending events get an eighth as much memory as the recording. */
static uint32_t recording_live_ring_size(const struct recording *r)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF), size = RING_LEAST;
	uint64_t most = r->s->at.size / 8 < RINGS ? r->s->at.size / 8 : RINGS;

	while (size * 2 * cpus <= most)
		size *= 2;
	return (uint32_t)size;
}

static int recording_live_open_recorder(struct recording *r, struct running *x,
					bool everyone, struct atw_err *err)
{
	struct live_recorder_opts o = {
		.s = r->s, .wait = recording_live_make_room, .arg = r,
		.everyone = everyone, .ring = recording_live_ring_size(r),
		.accesses = !r->o->watch.given || r->o->watch.u,
		.rate = r->o->watch.given ? 0 : RATE,
		.period = r->o->watch.given ? (unsigned)r->o->watch.u : WATCH,
	};
	struct live_sums sums;
	int ret = recording_live_find_kernel(r, x, &o.task_tgid, err);

	o.kernel = x->kernel;
	if (ret == ATW_OK)
		ret = live_recorder_open(&o, &x->recorder, err);
	if (ret < 0)
		return ret;
	sums = live_recorder_sums(x->recorder);
	/* Without either there are no accesses, and objects are no sample. */
	ret = recording_write_mode(r, sums.words || sums.rate, err);
	if (ret == ATW_OK && (sums.words || sums.rate))
		ret = kmap_drain_header(r->drain, err, "sampling", "%s", sums.rate ? "rate" : "watch");
	return ret;
}

/* ---- processes to record ---- */

/* In the child: register it with the BPF programs before execve(2). */
static _Noreturn void recording_live_become(struct running *x, char **argv, int ready)
{
	struct atw_err err = { 0 };
	int failed = live_events_follow_me(live_recorder_events(x->recorder), &err);

	if (failed == ATW_OK) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGPIPE, SIG_DFL);
		execvp(argv[0], argv);
		atw_err_set(&err, ATW_E_USAGE, "%s: %s", argv[0], strerror(errno));
	}
	failed = write(ready, &err, sizeof(err)) < 0;
	_exit(failed ? 126 : 127);
}

static int recording_live_run_command(struct recording *r, struct running *x, char **argv,
				      struct atw_err *err)
{
	struct atw_err why;
	ssize_t n;
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return atw_err_set(err, ATW_E_IO, "cannot create a pipe: %s", strerror(errno));
	x->command = argv[0];
	r->child = fork();
	if (!r->child) {
		close(ready[0]);
		recording_live_become(x, argv, ready[1]);
	}
	close(ready[1]);
	if (r->child < 0) {
		close(ready[0]);
		r->child = 0;
		return atw_err_set(err, ATW_E_IO, "cannot fork: %s", strerror(errno));
	}
	/* The pipe is closed without data if execve(2) succeeded. */
	do
		n = read(ready[0], &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	close(ready[0]);
	if (n != (ssize_t)sizeof(why))
		return ATW_OK;
	*err = why;
	return why.status;
}

static int recording_live_follow(const struct recording *r, struct running *x,
				 struct atw_err *err)
{
	uint64_t pid = r->o->pid.u;

	x->process = pidfd_hold(pid);
	if (x->process < 0)
		return atw_err_set(err, ATW_E_NONE, "there is no process %" PRIu64, pid);
	if (!host_first_pid_namespace())
		return atw_err_set(err, ATW_E_UNSUPPORTED,
				   "--pid cannot be used in a PID namespace: process %" PRIu64 " has another number in the kernel; record a command",
				   pid);
	live_events_follow(live_recorder_events(x->recorder), (uint32_t)pid);
	return ATW_OK;
}

/* 0: the end does not fit into 64 bits of ns, which means no limit. */
static uint64_t recording_live_in_seconds(uint64_t n)
{
	uint64_t t = now();

	return n < (UINT64_MAX - t) / SECOND ? t + n * SECOND : 0;
}

int recording_run_live(struct recording *r, char **argv, struct atw_err *err)
{
	bool everyone = !argv && !r->o->pid.given;
	struct running *x = r->running = calloc(1, sizeof(*x));
	int ret;

	if (!x)
		return atw_err_nomem(err);
	x->process = -1;
	atomic_store(&r->s->attached, 1);
	ret = recording_live_open_recorder(r, x, everyone, err);
	if (ret == ATW_OK && everyone)
		ret = live_events_follow_me(live_recorder_events(x->recorder), err);
	else if (ret == ATW_OK && !argv)
		ret = recording_live_follow(r, x, err);
	if (r->o->seconds.given)
		x->until = recording_live_in_seconds(r->o->seconds.u);
	if (ret == ATW_OK) {
		unsigned n;

		/* Switch the programs on before the command runs. */
		ret = live_recorder_work(x->recorder, &n, err);
	}
	return ret == ATW_OK && argv ? recording_live_run_command(r, x, argv, err) : ret;
}

/* ---- and on ---- */

int recording_live_work(struct recording *r, unsigned *ret_n, struct atw_err *err)
{
	return live_recorder_work(r->running->recorder, ret_n, err);
}

void recording_live_stop(struct recording *r)
{
	live_recorder_stop(r->running->recorder);
}

bool recording_live_over(struct recording *r)
{
	if (r->running->until && now() >= r->running->until)
		return true;
	return pidfd_has_ended(r->running->process);
}

int recording_live_end(struct recording *r, struct atw_err *err)
{
	struct running *x = r->running;
	unsigned more = 1;
	uint64_t of;
	int ret = live_recorder_finish(x->recorder, err);

	while (more && ret == ATW_OK)
		ret = kmap_drain_some(r->drain, AT_ONCE, &more, err);
	x->sums = live_recorder_sums(x->recorder);
	of = live_sums_scale(&x->sums, r->o->sample.given ? r->o->sample.u : 1);
	if (ret < 0 || !of)
		return ret;
	return kmap_drain_header(r->drain, err, "scale", "%" PRIu64, of);
}

/* Our own status is that of the recording. */
static void recording_live_print_command(const struct recording *r)
{
	const char *command = r->running->command;

	if (!command || r->child_signaled)
		return;
	if (WIFSIGNALED(r->status))
		print_warning(r->c, "%s was killed by signal %d", command, WTERMSIG(r->status));
	else if (WEXITSTATUS(r->status))
		print_warning(r->c, "%s ended with status %d", command, WEXITSTATUS(r->status));
}

int recording_live_summarize(struct recording *r)
{
	const struct live_sums *s = &r->running->sums;
	bool lost = s->lost_events || s->lost_hits || r->s->count.lost_objects ||
		    r->s->count.lost_accesses;

	recording_live_print_command(r);
	if (r->o->sample.given && r->o->sample.u > 1)
		print_warning(r->c, "objects are a sample: one of %" PRIu64, r->o->sample.u);
	if (s->rate)
		print_warning(r->c, "accesses are a sample: one of %" PRIu64 ", %" PRIu64 " in all, and %" PRIu64 " to memory outside of objects",
			      s->rate, s->hits, s->elsewhere);
	else if (s->words)
		print_warning(r->c, "accesses are a sample: %u words at a time, %" PRIu64 " in all, were hit %" PRIu64 " times",
			      s->words, s->watches, s->hits);
	else if (s->why.status < 0)
		print_warning(r->c, "no accesses: %s", s->why.text);
	if (r->c->verbose && s->refused)
		print_warning(r->c, "%" PRIu64 " words cannot be watched", s->refused);
	if (lost)
		print_incomplete("lost: %" PRIu64 " allocations and frees that came too fast, %" PRIu64 " hits, %" PRIu64 " objects and %" PRIu64 " accesses for want of room%s",
				 s->lost_events, s->lost_hits, r->s->count.lost_objects,
				 r->s->count.lost_accesses,
				 r->s->count.lost_objects || r->s->count.lost_accesses ? _("; use a larger --mem") : "");
	return lost ? EXIT_PARTIAL : EXIT_COMPLETE;
}

void recording_live_close(struct recording *r)
{
	struct running *x = r->running;

	if (!x)
		return;
	live_recorder_close(x->recorder);
	if (x->process >= 0)
		close(x->process);
	atw_kernel_close(x->kernel);
	atw_source_close(x->source);
	free(x);
	r->running = NULL;
}
