/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures as files, packed or not: what can be read of one becomes a capture that
 * has no fault, and a copy of that is the same.
 */
#include "capture_copy.h"

/* A file in memory with the copy, or -1: it cannot be read, or not be written. */
static int copy_of(const char *path, struct copy *c, char name[64])
{
	struct census_writer *w = NULL;
	struct atw_err err;
	int fd = memory_file("", 0, name), r;

	FUZZ_CHECK(census_writer_open(fd, 0, &w, &err) == ATW_OK, "%s", err.text);
	c->to = census_writer_sink(w);
	r = copy_read(path, c, &err);
	if (r == ATW_OK) {
		r = census_writer_end(w, &err);
		FUZZ_CHECK(r == ATW_OK, "%s", err.text);
	}
	census_writer_close(w);
	if (r != ATW_OK)
		close(fd);
	return r == ATW_OK ? fd : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char name[64], once[64], twice[64];
	struct copy first = { 0 }, second = { 0 };
	int fd = memory_file(data, len, name), a, b;

	a = copy_of(name, &first, once);
	close(fd);
	if (a < 0)
		return 0;
	b = copy_of(once, &second, twice);
	FUZZ_CHECK(b >= 0, "what was written cannot be read");
	/* That nothing is in it may be true of both. */
	FUZZ_CHECK(second.faults <= (first.tasks || first.frames ? 0 : 1),
		   "what was written has faults");
	FUZZ_CHECK(second.tasks == first.tasks && second.frames == first.frames &&
		   copy_same(a, b), "a copy of a copy is another");
	close(a);
	close(b);
	return 0;
}
