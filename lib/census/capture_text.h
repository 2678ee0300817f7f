/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_text.h - the census stream as lines of a capture, which a writer or a thread puts into
 * its own memory.
 *
 * Runs are appended to one line until it is long enough. Where a line begins there must be
 * room for CAPTURE_LINE bytes. What is added returns its length.
 */
#pragma once

#include <atwalk/base.h>

#include "format/capture.h"

enum { CAPTURE_TEXT_TAILS = 8 };

struct capture_text {
	char open;                   /* letter of the line that runs are appended to;
				      * 0: none */
	size_t len;                  /* of that line */
	struct capture_tail tail[CAPTURE_TEXT_TAILS];
	struct capture_end count;    /* of what was added, without the open line */
};

/* The line of a record; no line may be open. 0: it is too long. */
size_t capture_text_add(struct capture_text *l, const struct capture_record *rec, char *at,
		 struct atw_err *err);

/* Can a run of this letter be appended to the open line? If not, that line is closed first. */
bool capture_text_go_on(const struct capture_text *l, char letter);
size_t capture_text_open(struct capture_text *l, char letter, char *at);
size_t capture_text_add_run(struct capture_text *l, const struct capture_run *run, char *at);
size_t capture_text_add_frames(struct capture_text *l, const struct capture_frames *run, char *at);
/* Nothing, if none is open. */
size_t capture_text_close(struct capture_text *l, char *at);

/* Lines that others formatted. */
void capture_text_count(struct capture_text *l, const struct capture_end *count);
