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

/* ---- complete_table.c ---- */

/* A program without commands. */
struct complete_table {
	const struct opt *options;
	bool one_dash;                   /* "-pid" is the same as "--pid" */
	bool file;                       /* its operand is one */
};

/* The same of a program without commands. */
void complete_table_run(const struct complete_table *t, int argc, char **argv);

/* The word that is completed. */
struct complete_word {
	const char *before;      /* a part of the word that stays: "--columns=address," */
	int before_len;
	const char *cur;         /* what candidates begin with */
};

void complete_put(const struct complete_word *w, const char *word, const char *help);
void complete_put_pids(const struct complete_word *w);
void complete_put_files(void);
/* By what --help calls the value of an option: is it the name of a file? */
bool complete_takes_file(const char *arg);
/* Shells that split words at "=" give "--format", "=", "csv". Returns how many words are left. */
int complete_join(int argc, char **argv);
