/* SPDX-License-Identifier: GPL-2.0-or-later */
/* walk_lines.h - walk --cache-line: rows of cache lines below those of each address. */
#pragma once

#include "line_places.h"
#include "line_refs.h"

struct walk_lines_opts {
	struct opt_number line;
	const char *from;
};

struct walk_lines {
	struct line_places places;
	struct line_refs refs;
	struct listing *list;
	struct atw_output *out;  /* set by walk_lines_put() */
};

/* Is the size one of a line? Prints errors; 0 or an exit status. */
int walk_lines_check(const struct walk_lines_opts *o);
/* Reads references, and adds columns to the listing. Prints errors; 0 or an exit status. */
int walk_lines_init(struct walk_lines *w, const struct common *c, struct session *src,
		    const struct walk_lines_opts *o, struct listing *list);
void walk_lines_deinit(struct walk_lines *w);
/* The lines of an address, or those with references. */
int walk_lines_put(struct walk_lines *w, const struct address_arg *a, struct atw_output *out,
		   struct atw_err *err);
void walk_lines_note(const struct walk_lines *w, struct atw_output *out);
/* Prints why the exit status is EXIT_PARTIAL; returns it, or `status`. */
int walk_lines_status(const struct walk_lines *w, int status);
