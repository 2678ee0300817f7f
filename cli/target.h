/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - the addresses that walk and map are asked about, and whose each of them is. */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "atwalk.h"

struct target {
	struct address a;
	bool owned, nobody;      /* its process was looked for; none maps it */
	struct opened whose;     /* then: how that process is walked */
};

/*
 * Every address is checked before the first process is asked. Complains itself; 0 or
 * an exit status.
 */
int find_targets(const struct common *c, const struct space_opts *space, struct opened *src,
		 char **argv, struct target *t, int n);
/* What of `from` says whose page tables are walked. */
void take_whose(struct opened *to, const struct opened *from);
/* One address. Without page tables only those of processes are told of. */
int parse_target(const struct opened *src, const char *text, struct address *ret,
		 struct atw_err *err);

#endif
