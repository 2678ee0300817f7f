/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - from a source named by the user to a stream of records. All readers of the
 * stream see the running kernel, a dump and a capture in the same form.
 */
#ifndef CLI_CENSUS_H
#define CLI_CENSUS_H

#include "atwalk.h"
#include "census/census.h"
#include "unreadable.h"

struct census_source_opts {
	struct space_opts space;     /* pid or task: that process alone */
	bool frames;                 /* of all RAM, too */
	bool threads;                /* of processes, too */
	/* What the reader of the stream does not use and what it needs; not options. */
	bool no_areas, no_tasks, no_count, need_frames, need_slabs;
	bool need_threads;
	bool sums, kinds;            /* as census_collect() takes them */
	bool looks;                  /* others come behind it, or were before */
	bool no_refs, raw;
	bool allow;                  /* --allow-unreadable */
	/*
	 * It is to be kept: the paper's form gets an H: line that says so, and where a
	 * capture is wrong or cut off an L: line says it.
	 */
	bool keep;
	const char *into;            /* what failures of `to` are wrapped in, or NULL */
};
#define OPT_CENSUS(s, m) \
	{ 0, "pid", OPT_NUMBER, offsetof(s, m.space.pid), "N", \
	  "select process N only", NULL }, \
	{ 0, "task", OPT_TEXT, offsetof(s, m.space.task), "NAME", \
	  "select the process named NAME only", NULL }, \
	{ 0, "no-refs", OPT_FLAG, offsetof(s, m.no_refs), NULL, \
	  "do not count mappings; use only the counts kept by the kernel", NULL }, \
	OPT_ALLOW(s, m.allow), \
	OPT_FREEZE(s, m.space), \
	OPT_KERNEL(s, m.space)

struct census_summary {
	uint64_t lost;               /* L: lines, but for those of processes in `unreadable` */
	uint64_t damaged;            /* lines of a capture that cannot be read */
	bool defective;              /* the dump says of itself that it is not whole */
	struct unreadable unreadable;
};

/*
 * All of it goes to `to`. Complains itself; 0 or an exit status. Records that were passed
 * on before a failure are not taken back.
 */
int census_source(const struct common *c, const char *name,
		  const struct census_source_opts *o, const struct census_sink *to,
		  struct census_summary *ret);

#endif
