/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unknown.h - first words that are neither a command nor a SOURCE, and suggestions for
 * them.
 */
#pragma once

#include "atwalk.h"

/* main.c: the list of commands; NULL past its end. */
const struct command *command_at(size_t i);

/* Is the first word neither a SOURCE nor a path? */
bool is_unknown(const char *word);
/* The command that stands behind options; NULL: there is none. */
const char *unknown_late(int argc, char **argv);
/*
 * A first word that is no SOURCE was meant as a command: reports the nearest names and
 * all commands, or what does here what the word does in other programs.
 */
int unknown_command(const char *word);
suggest_fn suggest_command;
