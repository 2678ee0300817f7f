/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmap.h - what the commands of `atwalk kmap` share. */
#ifndef KMAP_CLI_KMAP_H
#define KMAP_CLI_KMAP_H

#include "cli/common/command.h"
#include "kmap/lib/read.h"

/* Of the table in main.c. */
extern const struct command kmap_record, kmap_ctl, kmap_show, kmap_report, kmap_diff,
			    kmap_convert;
/* The answer to `atwalk probe`; returns the exit status. */
int kmap_breakpoints(void);

/* --zstd, or an output whose name says so. */
bool kmap_is_packed(const struct common *c, bool zstd);
/*
 * All records of a KMAP go to `to`; what is wrong in it is said, and what it came to is
 * in *told. `name` as typed, "-" is standard input. A failure of `to` is said as that
 * of `into`, or by its own words if that is NULL. 0, EXIT_PARTIAL, or what is worse.
 */
int kmap_source(const struct common *c, const char *name, const struct kmap_sink *to,
		const char *into, struct kmap_summary *summary);

#endif
