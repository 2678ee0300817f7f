/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pagemap.h - map and walk where there are no page tables to read: live:pagemap. */
#ifndef CLI_PAGEMAP_H
#define CLI_PAGEMAP_H

#include "listing.h"
#include "target.h"

/*
 * Both return an exit status, and leave the source open. Without targets map lists all
 * of the process that is asked for.
 */
int map_pagemap(const struct common *c, struct opened *src, struct listing *l, unsigned split,
		const struct target *t, int n);
/* map --watch. */
int watch_pagemap(const struct common *c, struct opened *src, const struct space_opts *space,
		  const char *text, unsigned split, int argc, char **argv);
int walk_pagemap(const struct common *c, struct opened *src, struct listing *l,
		 const struct target *t, int n);

#endif
