/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cost.c - cost of reading a running machine, and the options that reduce it. */
#include <sys/resource.h>
#include <time.h>

#include "atwalk.h"
#include "host/pace.h"
#include "host/vmm.h"
#include "source/wrap.h"
#include "base/message.h"

static double started;

static double cost_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cost_cpu(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* Includes the time since exec: loading the program is part of the cost. */
void cost_start(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	started = cost_now() - cost_cpu(&u);
}

int cost_begin(const struct common *c, struct session *o)
{
	bool live = target_has(o->target, TARGET_RUNNING);
	struct atw_source *paced;
	struct atw_err err = { 0 };
	uint64_t rate = 0;

	o->print_swapped = c->verbose && !c->quiet;
	if (c->rate && (!num_size(c->rate, strlen(c->rate), &rate) || !rate)) {
		atw_err_set(&err, ATW_E_USAGE, "--rate: '%.64s' is not a number of bytes (65536, 64K, 1M)",
			    c->rate);
		return print_error(&err);
	}
	if (c->rate && !live) {
		atw_err_set(&err, ATW_E_USAGE, "--rate: %s is a %s, not a live source",
			    o->name, message(o->target->backend->noun));
		return print_error(&err);
	}
	if (!live || (!rate && !c->verbose))
		return EXIT_COMPLETE;
	o->pace = calloc(1, sizeof(*o->pace));
	if (!o->pace) {
		atw_err_nomem(&err);
		return print_error(&err);
	}
	o->pace->rate = rate;
	o->print_cost = c->verbose && !c->quiet;
	if (!target_has(o->target, TARGET_MEMORY))
		return EXIT_COMPLETE;
	if (paced_source(o->target->source, o->pace, &paced, &err) < 0)
		return print_error(&err);
	o->target->source = paced;
	return EXIT_COMPLETE;
}

void cost_print_swapped(const struct session *o)
{
	const struct vmm *guest = o->target ? source_guest(o->target->source) : NULL;
	uint64_t bytes = guest ? process_memory_swapped(guest->memory) : 0;
	const struct common c = { 0 };

	if (bytes && o->print_swapped)
		print_warning(&c,
			      "%s: %" PRIu64
			      " bytes that were read had been swapped out by this machine",
			      o->name, bytes);
}

void cost_print(const struct session *o)
{
	const struct pace *p = o->pace;
	const struct common c = { 0 };
	struct rusage u;

	if (!p || !o->print_cost)
		return;
	getrusage(RUSAGE_SELF, &u);
	print_warning(&c,
		      "%s: cost: %.3f s, %.3f s of CPU; %" PRIu64
		      " bytes of memory read in %" PRIu64 " calls, %" PRIu64
		      " bytes of /proc; page faults: %ld minor, %ld major",
		      o->name, cost_now() - started, cost_cpu(&u), p->memory.bytes,
		      p->memory.calls, p->proc.bytes, u.ru_minflt, u.ru_majflt);
}
