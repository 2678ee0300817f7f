/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tape.h - a stretch of the census stream in memory: made by one thread, passed on by
 * another when everything before it has been.
 */
#pragma once

#include "base/turns.h"
#include "census/census.h"
#include "census/capture_text.h"

struct tape {
	char *data;
	size_t len, cap;
	struct capture_run last;     /* the run before, if `like` */
	bool like;
	struct capture_text lines;
	size_t text;                 /* position of lines that are being added; 0: none */
};

/* A position in the collector's list of tasks. */
enum tape_mark { TAPE_NEXT, TAPE_GONE };

/*
 * Records everything but frames on the tape of an item, part after part. `lines`: what
 * census_sink.lines takes is recorded as such.
 */
struct census_sink tape_sink(struct turn *t, bool lines);
int tape_add_mark(struct turn *t, enum tape_mark mark, uint64_t pid, struct atw_err *err);

/* Empty, with the memory that it has. */
void tape_clear(struct tape *t);

struct tape_to {
	const struct census_sink *sink;
	int (*mark)(void *arg, enum tape_mark mark, uint64_t pid, struct atw_err *err);
	void *arg;
};
/* Passes on what was recorded. Texts of records are valid until the tape is changed. */
int tape_play(struct tape *t, const struct tape_to *to, struct atw_err *err);

void tape_deinit(struct tape *t);
