/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_copy.h - for targets that write captures: a sink that counts what passes through
 * it, and whether two files are equal.
 */
#pragma once

#include "census/census.h"
#include "fuzz.h"

struct copy {
	struct census_sink to;
	uint64_t faults, tasks, areas, frames;
};

static int copy_record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct copy *c = arg;

	c->tasks += rec->letter == 'T';
	c->areas += rec->letter == 'V';
	return c->to.record(c->to.arg, rec, err);
}

static int copy_run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct copy *c = arg;

	return c->to.run(c->to.arg, run, err);
}

static int copy_frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct copy *c = arg;

	c->frames++;
	return c->to.frames(c->to.arg, run, err);
}

static void copy_damaged(void *arg, const struct atw_err *err)
{
	struct copy *c = arg;

	check_err(err->status, err);
	FUZZ_CHECK(err->status < 0, "a fault that is none");
	c->faults++;
}

/* census_read(): what is in the file at `path` goes to c->to. */
static int copy_read(const char *path, struct copy *c, struct atw_err *err)
{
	struct census_read_opts o = { .damaged = copy_damaged, .arg = c };
	struct census_sink to = {
		.record = copy_record, .run = copy_run,
		.frames = copy_frames, .arg = c,
	};
	int r = census_read(path, &o, &to, err);

	check_err(r, err);
	return r;
}

static bool copy_same(int a, int b)
{
	static char x[65536], y[65536];
	off_t at = 0;
	ssize_t n;

	do {
		n = pread(a, x, sizeof(x), at);
		if (n < 0 || pread(b, y, sizeof(y), at) != n || memcmp(x, y, (size_t)n))
			return false;
		at += n;
	} while (n);
	return true;
}
