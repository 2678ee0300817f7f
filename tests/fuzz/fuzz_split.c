/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split dumps: two to four bytes of where to cut, then the parts. Any of them
 * may be flattened, or not of the same dump.
 */
#include "source.h"

enum { PARTS = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	unsigned n = 2 + (take(&in, 1) & 1);
	char path[PARTS][64], text[96];
	const char *more[PARTS - 1] = { path[1], path[2] };
	struct atw_source *s = NULL;
	struct atw_err err = { 0 };
	int fd[PARTS], r;

	for (unsigned i = 0; i < n; i++) {
		size_t part = i + 1 < n ? take(&in, 3) : in.len;

		part = part < in.len ? part : in.len;
		fd[i] = memory_file(in.p, part, path[i]);
		in.p += part;
		in.len -= part;
	}
	snprintf(text, sizeof(text), "kdump:%s", path[0]);
	r = atw_source_open(text, more, n - 1, &s, &err);
	check_err(r, &err);
	if (r == ATW_OK) {
		check_source(s);
		atw_source_close(s);
	}
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	return 0;
}
