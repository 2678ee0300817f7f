/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_large.h - memory of a process in large pages, and the reasons for small ones. */
#ifndef CLI_MAP_LARGE_H
#define CLI_MAP_LARGE_H

#include "atwalk.h"
#include "target/large.h"

/* `map --large`: a row an area. Prints errors; the exit status. */
int map_large(const struct common *c, const struct session *src, int argc, char **argv);
/* A few lines below the summary of a whole process; none where they are not shown. */
void map_large_notes(const struct common *c, const struct session *src,
		     struct atw_output *out);

/* How --units has amounts. */
struct large_units {
	enum atw_units units;
	unsigned page_shift;
};
const char *large_amount(const struct large_units *by, uint64_t bytes, char buf[24]);
/* The lines themselves; `here`: it is this machine's memory. */
void large_note(const struct large_sum *s, const struct large_units *by, uint64_t block,
		bool here, struct atw_output *out);

#endif
