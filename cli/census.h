/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - stream of records from a SOURCE. The running kernel, a dump and a capture
 * produce the same stream.
 */
#pragma once

#include "atwalk.h"
#include "census/census.h"
#include "fleet/fleet.h"

struct census_source_opts {
	struct space_opts space;     /* pid or task: only that process */
	bool frames;                 /* records for all frames of RAM as well */
	bool threads;                /* records for threads as well */
	bool cached;                 /* records for all frames and files in the page cache */
	/* What the receiver does not use and what it requires; not options. */
	bool no_areas, no_tasks, no_count, need_frames, need_slabs;
	bool need_threads, need_cached;
	bool sums, kinds;            /* as census_collect() takes them */
	bool looks;                  /* it is one of several snapshots */
	bool no_refs, raw;
	bool allow;                  /* --allow-unreadable */
	/*
	 * The stream is written to a file: an LPMA capture is marked by an H: line, and
	 * damage or truncation of a capture by L: lines.
	 */
	bool keep;
	const char *into;            /* prefix for errors of `to`, or NULL */
	/*
	 * Of several looks at a live source: opened by the first one, used by the others,
	 * closed by the caller. NULL: each opens and closes its own.
	 */
	struct session *session;
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

/* Of the capture, for its tables; see struct fleet_opts. */
#define OPT_FLEET(s, m) \
	{ 0, "host", OPT_TEXT, offsetof(s, m.host), "NAME", \
	  "in tables, use NAME as the name of the machine", NULL }, \
	{ 0, "time", OPT_TEXT, offsetof(s, m.time), "SECONDS", \
	  "in tables, use SECONDS since 1970 as the time of the capture", NULL }

struct census_summary {
	uint64_t lost;               /* L: lines, except those in `unreadable` */
	uint64_t damaged;            /* lines of a capture that cannot be read */
	bool defective;              /* the dump is marked as incomplete */
	struct unreadable unreadable;
};

/*
 * Passes all records to `to`. Prints errors; returns 0 or an exit status. Records that
 * were passed on before a failure remain.
 */
int census_source(const struct common *c, const char *name,
		  const struct census_source_opts *o, const struct census_sink *to,
		  struct census_summary *ret);
/*
 * The exit status of what was written; reports how much could not be read. `where`: the
 * place of the details, or "".
 */
int census_incomplete(const char *name, const struct census_summary *s, const char *where);

/* cmd_export.c: the tables of a source. Prints errors; returns an exit status. */
int export_tables(const struct common *c, const char *name, const struct census_source_opts *o,
		  const struct fleet_opts *tables);
