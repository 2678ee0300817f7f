/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row_tape.h - rows that a thread found, and what it has to say between them, until it is
 * their turn (base/turns.h).
 */
#pragma once

#include "atwalk.h"
#include "base/turns.h"
#include "output/kept.h"

struct row_tape {
	struct kept_rows kept;
};

/* In a thread. `kind` and `data`, which is copied, mean something for the command alone. */
int row_tape_row(struct turn *t, const struct atw_schema *sc, const struct atw_row *row,
		 struct atw_err *err);
int row_tape_event(struct turn *t, unsigned kind, const void *data, size_t len,
		   struct atw_err *err);

struct row_tape_to {
	int (*row)(void *arg, const struct atw_row *row, struct atw_err *err);
	int (*event)(void *arg, unsigned kind, const void *data, size_t len, struct atw_err *err);
	void *arg;
};

/* Passes on what is on the tape, until something fails; then it is empty. */
int row_tape_play(struct row_tape *t, const struct atw_schema *sc, const struct row_tape_to *to,
		  struct atw_err *err);
/* turns_ops.drop */
void row_tape_drop(void *tape);
