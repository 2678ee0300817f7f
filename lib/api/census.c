/* SPDX-License-Identifier: GPL-2.0-or-later */
/* census.c - the stream of a target, from a capture or from what is there. */
#include "api/census.h"

#include <inttypes.h>

#include "target/provider.h"

struct census_pass {
	const struct census_sink *to;
	struct api_lost *lost;
	uint64_t pid, area; /* under way, for messages */
};

static int census_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct census_pass *c = arg;
	struct atw_err why;

	if (rec->letter == 'T')
		c->pid = rec->t.pid;
	if (rec->letter == 'V')
		c->area = rec->v.start;
	if (rec->letter == 'L') {
		atw_err_set(&why, ATW_E_MISSING, "%.*s: %.*s", (int)rec->l.what.len,
			    (const char *)rec->l.what.data, (int)rec->l.why.len,
			    (const char *)rec->l.why.data);
		if (rec->l.pid)
			atw_err_wrap(&why, "process %" PRIu64, rec->l.pid);
		api_lost_add(c->lost, NULL, &why);
	}
	return c->to->record(c->to->arg, rec, err);
}

/* More than can be counted is left out; the stream goes on. */
static int census_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct census_pass *c = arg;
	struct atw_err why = {0};
	int r = c->to->run(c->to->arg, run, &why);

	if (r == ATW_E_LIMIT) {
		atw_err_wrap(&why, "process %" PRIu64 ", VMA at 0x%" PRIx64, c->pid,
			     c->area);
		api_lost_add(c->lost, NULL, &why);
		return ATW_OK;
	}
	if (r != ATW_OK && err)
		*err = why;
	return r;
}

static int census_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	const struct census_pass *c = arg;

	return c->to->frames(c->to->arg, run, err);
}

static void census_damaged(void *arg, const struct atw_err *err)
{
	api_lost_add(((struct census_pass *)arg)->lost, NULL, err);
}

int api_census(struct atw_target *t, const struct census_collect_opts *o,
	       const struct census_sink *to, struct api_lost *lost, struct atw_err *err)
{
	const struct target_query q = {
		.pid = o->pid,
		.frames = true,
		.flags = true,
		.counts = true,
		.pace = t->paced ? &t->pace : NULL,
	};
	struct census_pass c = {.to = to, .lost = lost};
	const struct census_sink sink = {census_record, census_run, census_frames, &c};
	const struct census_read_opts ro = {.damaged = census_damaged, .arg = &c};
	const char *path = target_capture_path(t->t);
	struct provider *p;
	int r;

	if (path)
		return census_read(path, &ro, &sink, err);
	r = target_provider(t->t, &q, NULL, NULL, &p, err);
	if (r < 0)
		return r;
	r = census_collect(p, o, &sink, err);
	provider_close(p);
	return r;
}
