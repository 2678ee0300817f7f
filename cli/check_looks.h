/* SPDX-License-Identifier: GPL-2.0-or-later */
/* check_looks.h - looks at a program while it runs: the worst result of each policy. */
#pragma once

#include "check_command.h"
#include "checking.h"

/* "usr1,peak,exit": 1 << enum check_moment each. Prints errors; 0 or an exit status. */
int check_looks_moments(const char *list, unsigned *ret);
/*
 * Runs the program and decides at each moment. *k has the worst result of each policy
 * afterwards, or none where there was no look. Prints errors; 0 or an exit status.
 */
int check_looks_run(struct checking *k, struct check_command *x, char **argv);
