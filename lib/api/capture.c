/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - the stream of a target, from a capture or from what is there, for reports;
 * captures written by the public API.
 */
#include <atwalk/report.h>

#include "api/api.h"

struct census_pass {
	const struct census_sink *to;
	struct api_lost *lost;
	uint64_t pid, area; /* under way, for messages */
	struct api_progress progress;
	uint64_t tasks;
	bool collected; /* by collect.c, which reports progress */
	bool stopped;
};

static void capture_pass_progress(void *arg, uint64_t done, uint64_t all)
{
	struct census_pass *c = arg;

	if (c->progress.fn && !c->progress.fn(c->progress.arg, done, all))
		c->stopped = true;
}

static int capture_pass_goes_on(const struct census_pass *c, struct atw_err *err)
{
	return c->stopped ? atw_err_set(err, ATW_E_STOPPED, "stopped") : ATW_OK;
}

static int capture_pass_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct census_pass *c = arg;
	struct atw_err why;

	if (rec->letter == 'T') {
		c->pid = rec->t.pid;
		if (!c->collected)
			capture_pass_progress(c, c->tasks++, 0);
	}
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
	return capture_pass_goes_on(c, err) ?: c->to->record(c->to->arg, rec, err);
}

/* More than can be counted is left out; the stream goes on. */
static int capture_pass_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct census_pass *c = arg;
	struct atw_err why = {0};
	int r = capture_pass_goes_on(c, &why) ?: c->to->run(c->to->arg, run, &why);

	if (r == ATW_E_LIMIT) {
		atw_err_wrap(&why, "process %" PRIu64 ", VMA at 0x%" PRIx64, c->pid,
			     c->area);
		api_lost_add(c->lost, NULL, &why);
		return ATW_OK;
	}
	return atw_err_give(err, r, &why);
}

static int capture_pass_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	const struct census_pass *c = arg;

	return c->to->frames(c->to->arg, run, err);
}

static void capture_pass_damaged(void *arg, const struct atw_err *err)
{
	api_lost_add(((struct census_pass *)arg)->lost, NULL, err);
}

int api_census(struct atw_target *t, const struct census_collect_opts *o,
	       const struct census_sink *to, const struct api_progress *progress,
	       struct api_lost *lost, struct atw_err *err)
{
	struct target_query q = {
		.pid = o->pid,
		.frames = true,
		.flags = true,
		.counts = true,
		.pace = t->paced ? &t->pace : NULL,
	};
	struct census_pass c = {.to = to, .lost = lost, .progress = *progress};
	struct census_collect_opts co = *o;
	const struct census_sink sink = {
		.record = capture_pass_record, .run = capture_pass_run,
		.frames = capture_pass_frames, .arg = &c,
	};
	const struct census_read_opts ro = {.damaged = capture_pass_damaged, .arg = &c};
	const char *path = target_capture_path(t->t);
	struct subject s = {0};
	struct provider *p;
	int r;

	if (path)
		return census_read(path, &ro, &sink, err);
	if (o->pid) {
		r = subject_by_pid(t->t, o->pid, SUBJECT_BOTH, &s, err);
		if (r < 0)
			return r;
		q.mm = s.mm;
	}
	r = target_provider(t->t, &q, NULL, NULL, &p, err);
	if (r < 0)
		return r;
	c.collected = true;
	co.progress = capture_pass_progress;
	co.arg = &c;
	r = census_collect(p, &co, &sink, err);
	provider_close(p);
	return r;
}

/* ---- captures ---- */

enum { CAPTURE_LEVEL_MAX = 19 };

int atw_capture_write(struct atw_target *target, const struct atw_capture_opts *opts,
		      int fd, struct atw_err *err)
{
	struct census_collect_opts co = {.slabs = true, .refs = true};
	struct api_progress progress;
	struct census_writer *w = NULL;
	struct api_lost lost = {0};
	struct atw_capture_opts o;
	struct census_sink sink;
	int r = api_opts(&o, sizeof(o), opts, err) ?:
		atw_target_need(target, ATW_CAP_PROCESSES, err);

	if (r == ATW_OK && o.level > CAPTURE_LEVEL_MAX)
		r = atw_err_set(err, ATW_E_USAGE, "options: level %u is above %d",
				o.level, CAPTURE_LEVEL_MAX);
	if (r == ATW_OK && target_capture_path(target->t))
		r = atw_err_set(err, ATW_E_UNSUPPORTED, "%s is a capture itself",
				target->source);
	if (r == ATW_OK)
		r = census_writer_open(fd, (int)o.level, &w, err);
	if (r < 0)
		return r;
	co.frames = o.frames;
	co.threads = o.threads;
	co.pid = o.pid;
	sink = census_writer_sink(w);
	progress = (struct api_progress){o.progress, o.arg};
	r = api_census(target, &co, &sink, &progress, &lost, err) ?: census_writer_end(w, err);
	census_writer_close(w);
	if (r < 0)
		return r;
	return api_lost_end(&lost, err) == ATW_END ? ATW_OK : ATW_E_PARTIAL;
}
