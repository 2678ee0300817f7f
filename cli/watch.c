/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch.c - timing and end of --watch. */
#include "watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/clock.h"
#include "base/message.h"
#include "common/ending.h"
#include "target/guest.h"

enum { TRIES = 3 };

struct clock {
	uint64_t every;          /* ns */
	uint64_t times;          /* looks; 0: without end */
	uint64_t start, looks;
	int process;             /* pidfd: readable when it has ended; -1: of none */
	bool ended;              /* the process in a guest, which has no pidfd */
};

/* ---- SECONDS[,TIMES] ---- */

/* "2", "0.25"; at least a millisecond. */
static bool watch_parse_seconds(const char *s, size_t len, uint64_t *ret)
{
	const char *dot = memchr(s, '.', len);
	size_t whole = dot ? (size_t)(dot - s) : len, rest = dot ? len - whole - 1 : 0;
	uint64_t v = 0, part = 0;

	if ((whole && !num_dec(s, whole, &v)) || v > 1000000 || rest > 9 || !(whole + rest) ||
	    (dot && rest && !num_dec(dot + 1, rest, &part)))
		return false;
	for (; rest < 9; rest++)
		part *= 10;
	*ret = v * SECOND + part;
	return *ret >= SECOND / 1000;
}

static bool watch_parse(const char *text, struct clock *ret)
{
	const char *comma = strchr(text, ',');
	size_t len = comma ? (size_t)(comma - text) : strlen(text);

	*ret = (struct clock){ .process = -1 };
	return watch_parse_seconds(text, len, &ret->every) &&
	       (!comma ||
		(num_dec(comma + 1, strlen(comma + 1), &ret->times) && ret->times));
}

static int watch_bad_times(const char *command, const char *text)
{
	return usage_error(command, "--watch: '%.40s' is not SECONDS[,TIMES] (2, 0.5, 1,60)",
			   text);
}

int open_watched(const char *command, const struct common *c, const char *name,
		 const char *text, const struct space_opts *space, struct session *ret)
{
	struct clock k;

	if (!text)
		return open_frozen(c, name, space, TARGET_PAGES, ret);
	if (!watch_parse(text, &k))
		return watch_bad_times(command, text);
	return open_session(c, name, space, TARGET_PAGES, ret);
}

/* ---- waiting ---- */

/* Written by the signal handler to end ppoll(2), also if the signal comes before it. */
static int wake_fd = -1;
static volatile sig_atomic_t stopped;

static void watch_stop(void)
{
	const uint64_t one = 1;

	stopped = 1;
	if (write(wake_fd, &one, sizeof(one)) < 0)
		stopped = 2;
}

static void watch_catch_signals(void)
{
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd >= 0)
		ending_notify(watch_stop);
}

/* Wait; true if the process has ended or a signal came. */
static bool watch_happens(const struct clock *k, uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / SECOND), (long)(ns % SECOND) };
	struct pollfd p[2] = { { wake_fd, POLLIN, 0 }, { k->process, POLLIN, 0 } };

	return ppoll(p, 2, &t, NULL) > 0;
}

/*
 * Wait until the next multiple of the interval, so that times do not drift; missed ones
 * are skipped.
 */
static bool watch_wait_for_next(struct clock *k)
{
	uint64_t at = now(), next;

	if (!k->looks++) {
		k->start = at;
		return true;
	}
	if (stopped || (k->times && k->looks > k->times))
		return false;
	next = k->start + ((at - k->start) / k->every + 1) * k->every;
	while (!stopped && !pidfd_has_ended(k->process) && (at = now()) < next)
		watch_happens(k, next - at);
	return !stopped && !pidfd_has_ended(k->process);
}

/* ---- what may end ---- */

/* The process of this machine that is looked at, or that runs the guest; 0: there is none. */
static uint64_t watch_process(const struct session *o)
{
	return target_has(o->target, TARGET_HERE) ? o->subject.pid :
	       guest_host(o->name)		  ? 0 : freeze_process(o);
}

/* Has the process in a guest ended? One that called execve(2) has other page tables. */
static bool watch_has_ended_in_guest(const struct session *o, const struct space_opts *space)
{
	struct subject unused;

	return o->target && !target_has(o->target, TARGET_HERE) && o->subject.pid &&
	       !mmu_space_lives(&o->subject.space) &&
	       subject_by_pid(o->target, o->subject.pid, space->pti, &unused, NULL) == ATW_E_NONE;
}

static bool watch_has_ended(const struct clock *k)
{
	return k->ended || pidfd_has_ended(k->process);
}

/* ---- looking ---- */

/*
 * Take one snapshot. An error is in *err, or was printed and is in *status, or is that the
 * process could not be chosen again, which is not printed: *gone. It may have ended.
 */
static int watch_look(const struct common *c, struct session *o,
		      const struct space_opts *space, const struct watched *w,
		      int *status, bool *gone, struct atw_err *err)
{
	int r;

	*status = EXIT_COMPLETE;
	*gone = false;
	if (space->freeze) {
		*status = freeze(c, o, space);
	} else if (o->subject.pid) {
		diagnostics_silence(true);
		*status = choose_again(o, space);
		diagnostics_silence(false);
		*gone = *status;
	}
	if (*status)
		return ATW_E_MISSING;
	r = w->look(w->arg, err);
	thaw(o);
	return r;
}

int watch(const struct common *c, struct session *o, const struct space_opts *space,
	  const char *text, const struct watched *w)
{
	struct atw_output_opts oo;
	struct atw_output *out = NULL;
	struct atw_err err = { 0 };
	struct clock k;
	unsigned tries = 0;
	int r, status = EXIT_COMPLETE;
	bool gone;

	if (!watch_parse(text, &k) || !target_has(o->target, TARGET_RUNNING)) {
		atw_err_set(&err, ATW_E_USAGE, "--watch: %s is a %s, not a live source", o->name,
			    message(o->target->backend->noun));
		return print_error(&err);
	}
	status = check_number(o, space, "--watch");
	if (status)
		return status;
	output_opts(c, o, &oo);
	oo.page_shift = o->subject.space.paging.page_shift;
	r = atw_output_open(&oo, w->schema, &out, &err);
	if (r < 0)
		return print_error(&err);
	k.process = pidfd_hold(watch_process(o));
	watch_catch_signals();
	while (r == ATW_OK && watch_wait_for_next(&k)) {
		uint64_t at = now();

		k.ended = watch_has_ended_in_guest(o, space);
		if (k.ended)
			break;
		r = watch_look(c, o, space, w, &status, &gone, &err);
		/* The process ended or called execve(2) during the snapshot. */
		k.ended = r < 0 && watch_has_ended_in_guest(o, space);
		if (r < 0 && watch_has_ended(&k)) {
			r = ATW_OK;
			status = EXIT_COMPLETE;
			k.looks--;
			break;
		}
		/* It has not: this says why, or all is well by now. */
		if (gone)
			status = choose_again(o, space);
		if (gone && !status) {
			r = ATW_OK;
			continue;
		}
		if (r == ATW_E_LIMIT && !status && ++tries < TRIES) {
			r = ATW_OK;
			continue;
		}
		tries = 0;
		if (r == ATW_OK)
			r = w->show(w->arg, out, (at - k.start) / (SECOND / 1000), &err);
		if (r == ATW_OK)
			r = atw_output_flush(out, &err);
	}
	if (r == ATW_OK && watch_has_ended(&k) && !stopped)
		print_warning(c, "%s: %s has ended", o->name,
			      k.ended || target_has(o->target, TARGET_HERE) ? o->subject.label
									    : _("the guest"));
	if (k.process >= 0)
		close(k.process);
	if (status) {
		atw_output_close(out);
		return status;
	}
	return output_end(out, r, EXIT_COMPLETE, &err);
}

int watch_looks(const char *command, const char *text, uint64_t pid, const struct session *o,
		const struct space_opts *space, int (*look_at)(void *arg), void *arg)
{
	int status = EXIT_COMPLETE;
	struct clock k;

	if (!watch_parse(text, &k))
		return watch_bad_times(command, text);
	k.process = pidfd_hold(pid);
	watch_catch_signals();
	while (!status && watch_wait_for_next(&k) && !watch_has_ended_in_guest(o, space)) {
		status = look_at(arg);
		if (k.process < 0 && o->target)
			k.process = pidfd_hold(watch_process(o));
		k.ended = status && watch_has_ended_in_guest(o, space);
		/* It ended during this look, which is not one then. */
		if (status && k.looks > 1 && watch_has_ended(&k)) {
			status = EXIT_COMPLETE;
			break;
		}
	}
	if (k.process >= 0)
		close(k.process);
	return status;
}
