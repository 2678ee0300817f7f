/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unreadable.h - --allow-unreadable: processes that may not be read, or that /proc hides,
 * are reported and counted, and the answer without them is a complete one.
 */
#ifndef CLI_UNREADABLE_H
#define CLI_UNREADABLE_H

#include "atwalk.h"

#define OPT_ALLOW(s, m) \
	{ 0, "allow-unreadable", OPT_FLAG, offsetof(s, m), NULL, \
	  "report processes that may not be read without exit status 4", NULL }

struct unreadable {
	bool allow;              /* the option was given */
	uint64_t n;              /* reasons that were reported */
	char what[200];          /* of the first: "1 of 249 processes" */
};

/* Accepts and reports a missing process, if that is allowed; false: it counts as lost. */
bool unreadable_take(struct unreadable *u, const struct common *c, const char *source,
		     const char *what, const char *why);
/* The line of a summary; nothing if there is nothing to report. */
void unreadable_note(const struct unreadable *u, struct atw_output *out);
/* The same after a search of all processes of which some could not be read. */
void unread_note(const struct common *c, const struct session *src, struct atw_output *out);

#endif
