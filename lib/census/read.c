/* SPDX-License-Identifier: GPL-2.0-or-later */
/* read.c - parser of captures, from a file or a pipe, as a producer of the stream. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "census/census.h"
#include "target/captured.h"

/* ---- pages that no run lists ---- */

/*
 * A sink that adds L: records for pages that a capture counts but does not
 * describe.
 *
 * A V: line has the number of resident pages of a VMA. If runs list fewer, or no line
 * describes the pages, an L: record is added behind the VMA, as for pages that the
 * collector could not read: consumers need not distinguish the two.
 */
struct unlisted {
	const struct census_sink *to;
	const struct capture_reader *rd; /* its format and page size */
	uint64_t pid;
	uint64_t lost[2];                /* range of the last L: line, already reported */
	/* The current VMA. */
	bool open, any;                  /* any: it has a P: or an M: line */
	uint64_t start, last;
	uint64_t resident, listed;       /* pages */
};

/* Emits the L: record of the VMA that ends here, if pages are missing. */
static int read_unlisted_end_area(struct unlisted *u, struct atw_err *err)
{
	uint64_t missing = u->resident > u->listed ? u->resident - u->listed : 0;
	bool known = u->any || u->rd->paper;
	const struct capture_record none = { .letter = 'P' };
	struct capture_record rec = {
		.letter = 'L', .has = CAPTURE_L_START | CAPTURE_L_LAST,
		.l = { .pid = u->pid, .what = { "pages", 5 }, .start = u->start, .last = u->last },
	};
	char why[96] = "which of them are in memory is not recorded";

	if (!u->open)
		return ATW_OK;
	u->open = false;
	/* In the current format, a VMA without a P: line has no known pages. */
	if (!u->any && !missing && u->rd->paper)
		return u->to->record(u->to->arg, &none, err);
	/* /proc has no pagemap words for [vsyscall], so none are missing. */
	if ((known && !missing) || (!missing && u->start > INT64_MAX) ||
	    (u->lost[0] <= u->start && u->lost[1] >= u->last))
		return ATW_OK;
	if (missing)
		snprintf(why, sizeof(why), "%" PRIu64 " of %" PRIu64
			 " that are in memory are not recorded", missing, u->resident);
	rec.l.why = (struct atw_blob){ why, strlen(why) };
	return u->to->record(u->to->arg, &rec, err);
}

static void read_unlisted_begin_area(struct unlisted *u, const struct capture_area *v)
{
	u->open = true;
	u->any = false;
	u->start = v->start;
	u->last = v->last;
	u->resident = v->resident / u->rd->page;
	u->listed = 0;
}

static int read_unlisted_on_record(void *arg, const struct capture_record *rec,
			    struct atw_err *err)
{
	struct unlisted *u = arg;
	int r = ATW_OK;

	switch (rec->letter) {
	case 'P':
		u->any = true;
		break;
	case 'L':
		u->lost[0] = rec->has & CAPTURE_L_START ? rec->l.start : UINT64_MAX;
		u->lost[1] = rec->has & CAPTURE_L_LAST ? rec->l.last : u->lost[0];
		break;
	default:
		r = read_unlisted_end_area(u, err);
		break;
	}
	if (rec->letter == 'T') {
		u->pid = rec->t.pid;
		u->lost[0] = UINT64_MAX;
	}
	if (rec->letter == 'V')
		read_unlisted_begin_area(u, &rec->v);
	return r == ATW_OK ? u->to->record(u->to->arg, rec, err) : r;
}

static int read_unlisted_on_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct unlisted *u = arg;

	u->any = true;
	if (run->entry & CAPTURE_PRESENT)
		u->listed += run->pages;
	return u->to->run(u->to->arg, run, err);
}

static int read_unlisted_on_frames(void *arg, const struct capture_frames *run,
			    struct atw_err *err)
{
	struct unlisted *u = arg;
	int r = read_unlisted_end_area(u, err);

	return r == ATW_OK ? u->to->frames(u->to->arg, run, err) : r;
}

/* Passes all records on to `u->to`. */
static struct census_sink read_unlisted_sink(struct unlisted *u)
{
	u->lost[0] = UINT64_MAX;
	return (struct census_sink){
		.record = read_unlisted_on_record, .run = read_unlisted_on_run,
		.frames = read_unlisted_on_frames, .arg = u,
	};
}

/* ---- reading ---- */

enum { FAULTS = 20 };            /* reported individually */

struct read_reading {
	const char *name;            /* of the file, for messages */
	const struct census_read_opts *o;
	const struct census_sink *to;
	uint64_t faults;
	bool theirs;                 /* the failure is the sink's and not the file's */
	struct atw_err e;            /* of the last fault */
	struct atw_err why;          /* of a run that the sink rejects; else empty */
	struct capture_stream *s;
};

/* Where the message of a faulty run goes: beyond the first FAULTS it is not reported. */
static struct atw_err *read_place(struct read_reading *x)
{
	return x->faults < FAULTS ? &x->e : NULL;
}

static int read_failed(const struct read_reading *x, struct atw_err *err)
{
	return atw_err_set(err, x->e.status, "%s", x->e.text);
}

/* Reports the fault and continues; without a callback it is a failure. */
static int read_emit(struct read_reading *x, struct atw_err *err)
{
	if (!x->o || !x->o->damaged)
		return read_failed(x, err);
	atw_err_about(&x->e, x->name);
	x->o->damaged(x->o->arg, &x->e);
	return ATW_OK;
}

/* Handles a faulty line or run. ATW_END: there were too many. */
static int read_fault(struct read_reading *x, struct atw_err *err)
{
	int r = x->faults++ < FAULTS ? read_emit(x, err) : ATW_OK;

	x->s->terse = x->faults >= FAULTS;
	return r == ATW_OK && x->faults == CAPTURE_FAULTS ? ATW_END : r;
}

/* Remembers whether the sink failed, and returns its result. */
static int read_sink_result(struct read_reading *x, int r)
{
	x->theirs = r != ATW_OK;
	return r;
}

/* The sink rejected a run, which is not final. */
static int read_refused(struct read_reading *x, const struct atw_err *why,
			struct atw_err *err)
{
	atw_err_set(read_place(x), why->status, "line %" PRIu64 ": %s", x->s->rd.line,
		    why->text);
	return read_fault(x, err);
}

static int read_emit_run(struct read_reading *x, const struct capture_run *run,
			 struct atw_err *err)
{
	int r = x->to->run(x->to->arg, run, &x->why);

	if (r == ATW_E_LIMIT) {
		const struct atw_err why = x->why;

		x->why = (struct atw_err){ 0 };
		return read_refused(x, &why, err);
	}
	if (r != ATW_OK && err)
		*err = x->why;
	return read_sink_result(x, r);
}

static int read_runs(struct read_reading *x, struct atw_blob text, struct atw_err *err)
{
	struct capture_run run;
	int r;

	while ((r = capture_run(&x->s->rd, &text, &run, read_place(x))) != ATW_END) {
		r = r == ATW_OK ? read_emit_run(x, &run, err) : read_fault(x, err);
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

static int read_frames(struct read_reading *x, struct atw_blob text, struct atw_err *err)
{
	struct capture_frames run;
	int r;

	while ((r = capture_frames_run(&x->s->rd, &text, &run, read_place(x))) !=
	       ATW_END) {
		if (r == ATW_OK)
			r = read_sink_result(x, x->to->frames(x->to->arg, &run, err));
		else
			r = read_fault(x, err);
		if (r != ATW_OK)
			return r;
	}
	return ATW_OK;
}

/* Reports the number of further faults, before a failure of the stream. */
static int read_more_faults(struct read_reading *x, struct atw_err *err)
{
	uint64_t n = x->faults;

	x->faults = 0;
	if (n <= FAULTS)
		return ATW_OK;
	atw_err_set(&x->e, ATW_E_DAMAGED, "%" PRIu64 " more lines or runs are wrong", n - FAULTS);
	return read_emit(x, err);
}

/* Handles a failure of the stream. */
static int read_failure(struct read_reading *x, struct atw_err *err)
{
	int r = x->s->over ? read_more_faults(x, err) : ATW_OK;

	x->e = x->s->e;
	if (r != ATW_OK)
		return r;
	if (x->s->fatal)
		return read_failed(x, err);
	return x->s->of_line ? read_fault(x, err) : read_emit(x, err);
}

/* ATW_END: too many faults. */
static int read_each_line(struct read_reading *x, struct atw_err *err)
{
	struct capture_record rec;
	int r;

	while ((r = capture_stream_next(x->s, &rec)) != ATW_END) {
		if (r != ATW_OK)
			r = read_failure(x, err);
		else if (rec.letter == 'M')
			r = read_runs(x, rec.m, err);
		else if (rec.letter == 'F')
			r = read_frames(x, rec.f, err);
		else
			r = read_sink_result(x, x->to->record(x->to->arg, &rec, err));
		if (r != ATW_OK)
			return r;
	}
	return read_more_faults(x, err);
}

static int read_whole(struct read_reading *x, struct atw_err *err)
{
	int r = read_each_line(x, err);

	if (r != ATW_END)
		return r;
	atw_err_set(&x->e, ATW_E_DAMAGED, "line %" PRIu64 ": %d lines or runs were wrong so "
		    "far: nothing behind it is read", x->s->rd.line, CAPTURE_FAULTS);
	return read_emit(x, err);
}

int census_read(const char *path, const struct census_read_opts *o,
		const struct census_sink *to, struct atw_err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct unlisted u = { .to = to };
	const struct census_sink sink = read_unlisted_sink(&u);
	struct read_reading x = {.name = name, .o = o, .to = &sink};
	int r = capture_stream_open_path(path, &x.s, err);

	if (r == ATW_OK) {
		u.rd = &x.s->rd;
		capture_stream_threads(x.s, o ? o->threads : 0);
		r = read_whole(&x, err);
	}
	if (r == ATW_OK)
		r = read_sink_result(&x, read_unlisted_end_area(&u, err));
	capture_stream_close(x.s);
	/* A failure of the sink has another subject. */
	if (r < 0 && !x.theirs)
		atw_err_wrap(err, "%s", name);
	return r;
}
