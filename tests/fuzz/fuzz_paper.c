/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures that are written in the form of 2005: what that form takes is a capture without
 * a fault, of as many tasks and areas, and is written once more as the same text.
 */
#include "capture_copy.h"
#include "report/write_paper.h"

/* A file in memory, or -1: it cannot be read, or that form has no place for it. */
static int paper_of(const char *path, struct copy *c, char name[64])
{
	struct paper_writer *w = NULL;
	struct atw_err err;
	int fd = memory_file("", 0, name), r;

	FUZZ_CHECK(paper_writer_open(fd, 0, &w, &err) == ATW_OK, "%s", err.text);
	c->to = paper_writer_sink(w);
	r = copy_read(path, c, &err);
	if (r == ATW_OK) {
		r = paper_writer_end(w, &err);
		check_err(r, &err);
	}
	paper_writer_close(w);
	if (r != ATW_OK)
		close(fd);
	return r == ATW_OK ? fd : -1;
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
		FUZZ_CHECK(copy_same(a, b), "a copy of a copy is another");
	}
	close(a);
	if (b >= 0)
		close(b);
	return 0;
}
