/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_command.h - a program that runs traced, and the moments of a look at it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum check_moment {
	CHECK_AT_EXIT, /* a process is about to end; its memory is still there */
	CHECK_AT_USR1, /* a thread of it was sent the signal, which is not delivered */
	CHECK_AT_USR2,
	CHECK_AT_PEAK, /* it is about to release memory, and has more than ever before */
	CHECK_MOMENTS,
};

extern const char *const check_moment_words[CHECK_MOMENTS];

struct check_command {
	const char *name;
	unsigned at;   /* the moments that are wanted: 1 << enum check_moment */
	bool children; /* of processes that it starts as well */
	/* Everything that is traced stands still. An exit status other than 0 is the last
	 * look. */
	int (*look)(void *arg, pid_t pid, enum check_moment at);
	void *arg;
	/* Of a run: */
	unsigned seen; /* moments that came */
	int ended;     /* as of waitpid(2) */
};

/*
 * Runs it from its start to its end; with `children`, to the end of all processes that it
 * started. Prints errors; 0 or the exit status: of a look, or EXIT_PARTIAL where a moment
 * did not come.
 */
int check_command_run(struct check_command *x, char **argv);
/* `status`, unless the program failed: then EXIT_NO, and its end is reported. */
int check_command_end(const struct check_command *x, int status);
