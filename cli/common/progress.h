/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - progress of long work: on a terminal, one line of standard error that
 * changes; elsewhere, with --progress, a line every few seconds.
 */
#pragma once

#include "command.h"

struct progress {
	bool on, terminal, shown;
	const char *program;         /* default: "atwalk" */
	const char *name, *unit;     /* unit: "tasks", if the total is unknown */
	uint64_t next;               /* ns of CLOCK_MONOTONIC: the earliest next update */
};

/* --progress forces it, -q silences it all the same. `name` NULL: there is but one thing. */
void progress_begin(struct progress *p, const struct common *c, const char *name,
		    const char *unit);
/*
 * A progress callback: `arg` is the struct progress; `all` is 0 if the total is unknown.
 */
void progress_at(void *arg, uint64_t done, uint64_t all);
/* The line is taken away, for others to write there. */
void progress_end(struct progress *p);
