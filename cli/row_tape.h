/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_tape.h - rows that threads find for the output of a command, and what they have to say
 * between them, until it is their turn (base/turns.h).
 *
 * A tape has rows or, as soon as the output allows it (output/part.h), the bytes of rows that
 * the thread has formatted.
 */
#pragma once

#include <stdatomic.h>

#include "atwalk.h"
#include "base/turns.h"
#include "output/kept.h"
#include "output/part.h"

struct row_tape {
	struct kept_rows kept;
};

/* What all threads share. */
struct row_tape_output {
	struct atw_output *out;          /* the command's */
	const struct atw_schema *schema; /* of its rows */
	atomic_bool parts;               /* output_parts() */
};

/* ---- in a thread ---- */

struct row_tape_thread {
	const struct row_tape_output *of;
	struct atw_output *out;  /* takes rows, which pass the command's filter here */
	struct turn *turn;       /* of the item under way */
	struct atw_tap tap;
	struct output_part *part;        /* NULL: rows are not formatted here */
	char *heading;           /* above the next row; or NULL */
};

/* By any thread. row_tape_close() also after a failure. */
int row_tape_open(struct row_tape_thread *t, const struct row_tape_output *of,
		  const struct common *c, const struct session *src, struct atw_err *err);
void row_tape_close(struct row_tape_thread *t);

/* Around the rows of an item, of which `r` is the result; it returns the item's. */
void row_tape_begin(struct row_tape_thread *t, struct turn *turn);
int row_tape_end(struct row_tape_thread *t, int r, struct atw_err *err);
/* `text` is freed. */
void row_tape_heading(struct row_tape_thread *t, char *text);
/*
 * `kind`, at most ROW_TAPE_KINDS, and `data`, which is copied, mean something for the command
 * alone. Without memory for it, what follows fails as well.
 */
enum { ROW_TAPE_KINDS = 100 };
void row_tape_event(struct row_tape_thread *t, unsigned kind, const void *data, size_t len);

/* ---- in the command's ---- */

typedef void row_tape_event_fn(void *arg, unsigned kind, const void *data);

/* Emits what is on the tape, until something fails; then it is empty. */
int row_tape_play(struct row_tape *t, struct row_tape_output *to, row_tape_event_fn *event,
		  void *arg, struct atw_err *err);
/* turns_ops.drop */
void row_tape_drop(void *tape);
