/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unreadable.h"

/* Of a capture there may be any number. */
enum { SHOWN = 8 };

bool unreadable_take(struct unreadable *u, const struct common *c, const char *source,
		     const char *what, const char *why)
{
	if (!u->allow)
		return false;
	if (!u->n++)
		snprintf(u->what, sizeof(u->what), "%s", what);
	if (u->n <= SHOWN)
		print_warning(c, "%s: %s could not be read: %s", source, what, why);
	return true;
}

void unread_note(const struct common *c, const struct session *src, struct atw_output *out)
{
	if (!src->unread[0])
		return;
	print_warning(c, "%s: not every process could be read: %s", src->name, src->unread);
	atw_output_note(out, "not every process could be read: %s", src->unread);
}

void unreadable_note(const struct unreadable *u, struct atw_output *out)
{
	if (u->n == 1)
		atw_output_note(out, "left out: %s, which could not be read", u->what);
	else if (u->n)
		atw_output_note(out, "left out: %s, which could not be read, and %" PRIu64 " more",
				u->what, u->n - 1);
}
