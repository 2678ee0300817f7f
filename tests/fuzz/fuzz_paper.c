/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures that are written in the form of 2005: what that form takes is a capture without
 * a fault, of as many tasks and areas, and is written once more as the same text.
 */
#include "census/write_paper.h"
#include "fuzz.h"

struct copy {
	struct census_sink to;
	uint64_t faults, tasks, areas;
};

static int record(void *arg, const struct capture_record *rec, struct atw_err *err)
{
	struct copy *c = arg;

	c->tasks += rec->letter == 'T';
	c->areas += rec->letter == 'V';
	return c->to.record(c->to.arg, rec, err);
}

static int run(void *arg, const struct capture_run *run, struct atw_err *err)
{
	struct copy *c = arg;

	return c->to.run(c->to.arg, run, err);
}

static int frames(void *arg, const struct capture_frames *run, struct atw_err *err)
{
	struct copy *c = arg;

	return c->to.frames(c->to.arg, run, err);
}

static void damaged(void *arg, const struct atw_err *err)
{
	struct copy *c = arg;

	check_err(err->status, err);
	FUZZ_CHECK(err->status < 0, "a fault that is none");
	c->faults++;
}

/* A file in memory, or -1: it cannot be read, or that form has no place for it. */
static int paper_of(const char *path, struct copy *c, char name[64])
{
	struct census_read_opts o = { damaged, c };
	struct census_sink to = { record, run, frames, c };
	struct paper_writer *w = NULL;
	struct atw_err err;
	int fd = memory_file("", 0, name), r;

	FUZZ_CHECK(paper_writer_open(fd, 0, &w, &err) == ATW_OK, "%s", err.text);
	c->to = paper_writer_sink(w);
	r = census_read(path, &o, &to, &err);
	check_err(r, &err);
	if (r == ATW_OK) {
		r = paper_writer_end(w, &err);
		check_err(r, &err);
	}
	paper_writer_close(w);
	if (r != ATW_OK)
		close(fd);
	return r == ATW_OK ? fd : -1;
}

static bool same(int a, int b)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char name[64], once[64], twice[64];
	struct copy first = { 0 }, second = { 0 };
	int fd = memory_file(data, len, name), a, b;

	a = paper_of(name, &first, once);
	close(fd);
	if (a < 0)
		return 0;
	/* Nothing at all is no capture. */
	b = paper_of(once, &second, twice);
	if (first.tasks) {
		FUZZ_CHECK(b >= 0, "what was written cannot be read and written");
		FUZZ_CHECK(!second.faults, "what was written has faults");
		FUZZ_CHECK(second.tasks <= first.tasks && second.areas <= first.areas,
			   "there are more tasks or areas than there were");
		FUZZ_CHECK(same(a, b), "a copy of a copy is another");
	}
	close(a);
	if (b >= 0)
		close(b);
	return 0;
}
