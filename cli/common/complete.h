/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete.h - words that a shell offers, from the option tables and from the columns. */
#pragma once

#include "command.h"

/* A program with commands. Names of commands may be two words, of which the last counts. */
struct complete_program {
	const struct command *(*at)(size_t i);   /* NULL past the end */
	const struct command *usual;     /* of a command line without a command; may be NULL */
};

/* The word in front of a command line that is to be completed. */
#define COMPLETE_WORD "__complete"

/*
 * `argv` is what was typed behind the program's name; the last word, which may be empty, is
 * completed. Prints one candidate a line, a tab and what it means, and ":files" if names of
 * files fit as well. Returns the exit status.
 */
int complete_run(const struct complete_program *p, int argc, char **argv);
