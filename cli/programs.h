/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.h - commands of others: programs atwalk-NAME in the folders of PATH. */
#pragma once

#include "atwalk.h"

struct plugin_program {
	const char *name;        /* behind "atwalk-" */
	const char *path;
	const char *why;         /* it is not run; NULL: it is */
};

/* Finds commands of atwalk itself, which come first. To be called once before. */
void programs_begin(const struct command *(*own)(const char *name));

typedef int programs_fn(void *arg, const struct plugin_program *p);

/*
 * Every one, in the order of PATH and then of names; `fn` returns 0 to go on. Relative
 * folders are not searched. None is found where the program has more rights than its caller
 * (setuid, file capabilities): ATW_E_PERM.
 */
int programs_each(programs_fn *fn, void *arg, struct atw_err *err);
/* The path of the one that is run as a command; false: there is none. */
bool programs_find(const char *name, char *ret, size_t len);
