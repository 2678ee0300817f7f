/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.h - how far long work is: a line on standard error that changes, on a
 * terminal; where somebody asked for it and there is none, a line now and then.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "command.h"

struct progress {
	bool on, terminal, shown;
	const char *program;         /* "atwalk" if nobody says another */
	const char *name, *unit;     /* "live", "tasks": of what nobody knows the number */
	uint64_t next;               /* ns of CLOCK_MONOTONIC: not told before */
};

/* --progress forces it, -q silences it all the same. `name` NULL: there is but one thing. */
void progress_begin(struct progress *p, const struct common *c, const char *name,
		    const char *unit);
/* For callbacks: `arg` is the struct progress; `all` 0: nobody knows. */
void progress_at(void *arg, uint64_t done, uint64_t all);
/* The line is taken away, for others to write there. */
void progress_end(struct progress *p);

#endif
