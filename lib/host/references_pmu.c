/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references_pmu.c - sampled references of a program that runs at its own speed, by the
 * CPU's PMU: one of so many loads and of so many stores, each with its latency, its place
 * in the memory hierarchy and its physical address.
 */
#include <stdlib.h>
#include <unistd.h>

#include "host/live_exec.h"
#include "host/live_pmu.h"
#include "host/references_backends.h"
#include "host/references_program.h"

static const char pmu_devices[] = "/sys/bus/event_source/devices";

struct pmu_run {
	struct live_pmu *p;
	struct live_exec *exec;
	const struct references_sink *sink;
	struct references_range *range;
	size_t nranges;
};

static uint64_t pmu_period(const struct references_options *o)
{
	return o->period ? o->period : REFERENCES_PERIOD;
}

static int pmu_probe(const struct references_options *o, struct atw_err *err)
{
	struct live_pmu *p = NULL;
	int r = live_pmu_open(pmu_devices, getpid(), pmu_period(o), &p, err);

	live_pmu_close(p);
	return r;
}

static int pmu_drain(void *arg, struct atw_err *err)
{
	struct pmu_run *x = arg;
	const struct live_touch *t;
	int r = ATW_OK;

	while (r >= 0 && (t = live_pmu_next(x->p, UINT64_MAX)))
		if (references_in_ranges(x->range, x->nranges, t->va, 1))
			r = x->sink->ref(x->sink->arg, &t->ref, err);
	return r < 0 ? r : ATW_OK;
}

static int pmu_record(struct pmu_run *x, pid_t pid, const struct references_options *o,
		      struct trace_recording *rec, int *status, struct atw_err *err)
{
	int r = references_ranges(o, rec, x->range, err) ?:
		live_exec_open(&x->exec, pid, err) ?:
		live_pmu_open(pmu_devices, pid, pmu_period(o), &x->p, err);

	if (r == ATW_OK) {
		rec->scale = live_pmu_scale(x->p);
		r = x->sink->head(x->sink->arg, rec, err);
	}
	if (r >= 0)
		r = references_program_follow(pid, x->exec, pmu_drain, x, rec, status, err);
	if (r < 0)
		references_program_kill(pid, status);
	else
		rec->lost = live_pmu_lost(x->p);
	return r;
}

static int pmu_run(char *const argv[], const struct references_options *o,
		   const struct references_sink *sink, struct trace_recording *rec, int *status,
		   struct atw_err *err)
{
	struct pmu_run x = { .sink = sink, .nranges = o->nranges };
	struct references_program *p = malloc(sizeof(*p));
	pid_t pid;
	int r;

	*rec = (struct trace_recording){ .backend = "pmu", .sampled = true };
	x.range = calloc(o->nranges + 1, sizeof(*x.range));
	r = p && x.range ? references_program_find(argv[0], p, err) : atw_err_nomem(err);
	if (r == ATW_OK)
		r = references_program_start(p, argv, rec, &pid, err) ?:
		    pmu_record(&x, pid, o, rec, status, err);
	live_pmu_close(x.p);
	live_exec_close(x.exec);
	free(x.range);
	free(p);
	return r;
}

const struct references_backend references_pmu = {
	.name = "pmu",
	.gives = "sampled references of a program that runs at its own speed",
	.needs = "a PMU that samples addresses",
	.sampled = true,
	.probe = pmu_probe,
	.run = pmu_run,
};
