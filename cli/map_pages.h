/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_pages.h - map and walk of targets without page tables. */
#ifndef CLI_MAP_PAGES_H
#define CLI_MAP_PAGES_H

#include "listing.h"
#include "address_args.h"

/*
 * Both return an exit status, and leave the source open. Without targets map lists all
 * of the process that is asked for.
 */
int map_by_pages(const struct common *c, struct session *src, struct listing *l, unsigned split,
		const struct address_arg *t, int n);
/* map --watch. */
int watch_by_pages(const struct common *c, struct session *src, const struct space_opts *space,
		  const char *text, unsigned split, int argc, char **argv);
int walk_by_pages(const struct common *c, struct session *src, struct listing *l,
		 const struct address_arg *t, int n);

#endif
