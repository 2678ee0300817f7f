/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - --watch: repeated snapshots and their changes. watch.c has the timing,
 * watch_map.c and watch_pages.c the rows.
 */
#pragma once

#include "pages.h"

#define OPT_WATCH(s, m) \
	{ 0, "watch", OPT_TEXT, offsetof(s, m), "SECONDS[,TIMES]", \
	  "print sums and their changes every SECONDS (live only)", NULL }

struct watched {
	const struct atw_schema *schema;
	/* Takes a snapshot; the process is stopped meanwhile with --freeze. */
	int (*look)(void *arg, struct atw_err *err);
	/* Emits the rows of that snapshot, `ms` milliseconds after the first. */
	int (*show)(void *arg, struct atw_output *out, uint64_t ms, struct atw_err *err);
	void *arg;
};

/*
 * Without --watch (`text` NULL) as open_frozen(); otherwise each snapshot freezes the
 * process by itself. An invalid SECONDS[,TIMES] is a usage error of the command.
 */
int open_watched(const char *command, const struct common *c, const char *name,
		 const char *text, const struct space_opts *space, struct session *ret);
/* Takes all snapshots and closes the output; returns an exit status. */
int watch(const struct common *c, struct session *o, const struct space_opts *space,
	  const char *text, const struct watched *w);

/*
 * Calls `look_at` as often as `text` says, until a signal ends it or the process has ended:
 * `pid` of this machine (0: none), or that of session `o`, which the first look opens. An
 * exit status, `look_at`'s if that is not 0.
 */
int watch_looks(const char *command, const char *text, uint64_t pid, const struct session *o,
		const struct space_opts *space, int (*look_at)(void *arg), void *arg);

/* ---- watch_map.c ---- */

enum { LOOK_SIZES = 8 };

/* Sums of one snapshot of a map. */
struct map_look {
	uint64_t ranges, mapped, unsized;   /* in pages of unknown sizes */
	size_t nsizes;
	uint64_t size[LOOK_SIZES], bytes[LOOK_SIZES];   /* of pages; mapped by such */
};

/* `page` 0: of several sizes, or not known. */
void map_look_add(struct map_look *l, uint64_t page, uint64_t bytes);
/* `look` adds what it sees to an empty one. */
int watch_map(const struct common *c, struct session *o, const struct space_opts *space,
	      const char *text, int (*look)(void *arg, struct map_look *l, struct atw_err *err),
	      void *arg);

/* ---- watch_pages.c ---- */

/* `look` hands each process to p->taken(). */
int watch_pages(struct pages *p, struct session *o, const struct space_opts *space,
		const char *text, int (*look)(void *arg, struct atw_err *err), void *arg);
