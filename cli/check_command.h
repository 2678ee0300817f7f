/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_command.h - a program that is run until it is about to end. */
#ifndef CLI_CHECK_COMMAND_H
#define CLI_CHECK_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct check_command {
	pid_t pid; /* 0: it has ended */
	const char *name;
	int mark;  /* a signal that is kept from it; 0: none */
	bool ends; /* it stopped at its end, not at the mark */
	int ended; /* as of waitpid(2) */
};

/*
 * Starts it and returns when its main thread is sent the signal `mark`; without one, when
 * it is about to end and its memory is still there. Prints errors; 0 or an exit
 * status. Afterwards check_command_end() lets it end and returns what `status` becomes.
 */
int check_command_run(struct check_command *ret, char **argv, int mark);
int check_command_end(struct check_command *x, int status);

#endif
