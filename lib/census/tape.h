/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tape.h - a stretch of the census stream in memory: made by one thread, passed on by
 * another when everything before it has been.
 */
#pragma once

#include "census/census.h"

struct tape {
	char *data;
	size_t len, cap;
	struct capture_run last;     /* the run before, if `like` */
	bool like;
	bool full;                   /* something did not fit: see tape_cut() */
};

/* A position in the collector's list of tasks. */
enum tape_mark { TAPE_NEXT, TAPE_GONE };

/*
 * Records everything but frames. A tape has a maximum length; what exceeds it fails, as a
 * failed allocation does, and sets `full`.
 */
struct census_sink tape_sink(struct tape *t);
int tape_add_mark(struct tape *t, enum tape_mark mark, uint64_t pid, struct atw_err *err);

/* Discards everything from position `len` on, which is that of a mark, and `full`. */
void tape_cut(struct tape *t, size_t len);

struct tape_to {
	const struct census_sink *sink;
	int (*mark)(void *arg, enum tape_mark mark, uint64_t pid, struct atw_err *err);
	void *arg;
};
/* Passes on what was recorded. Texts of records are valid until the tape is changed. */
int tape_play(const struct tape *t, const struct tape_to *to, struct atw_err *err);

void tape_deinit(struct tape *t);
