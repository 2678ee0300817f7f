/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info.h - facts, a row each: what the files of `atwalk info` share. */
#pragma once

#include "atwalk.h"

struct facts {
	struct atw_output *out;
	struct atw_err *err;
	int r;                   /* the first failure ends it */
};

void fact(struct facts *f, const char *name, const char *fmt, ...) ATW_PRINTF(3, 4);

/* info_kernel.c: what was found of the kernel; `every`: with -v. */
void kernel_facts(struct facts *f, const struct session *o, bool every);
/* info_control.c: control registers, and what they protect. */
void control_facts(struct facts *f, const struct session *o);
/* info_symbols.c: --symbols; returns the exit status. */
int info_symbols(const struct common *c, const struct space_opts *o, const char *name);
/* info_crash.c: the machine, its crash and the last lines of its log. */
enum { INFO_LOG_LINES = 8 };
void crash_facts(struct facts *f, struct atw_kernel *k, const struct opt_number *lines);
