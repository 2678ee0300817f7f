/* SPDX-License-Identifier: GPL-2.0-or-later */
/* searching.c - progress of searches through a dump for its kernel. */
#include "searching.h"
#include "common/progress.h"

struct searching {
	struct progress progress;
	const struct common *c;
	bool begun;
	char what[160];
};

struct searching *searching_new(const struct common *c, const char *name)
{
	struct searching *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->c = c;
	snprintf(s->what, sizeof(s->what), "%.120s: search for the kernel", name);
	return s;
}

void searching_at(void *arg, uint64_t done, uint64_t all)
{
	struct searching *s = arg;
	uint64_t next = s->progress.next;

	if (!done) {
		progress_begin(&s->progress, s->c, s->what, "bytes");
		/* Searches follow each other: keep the interval between lines. */
		if (s->c->progress && s->begun)
			s->progress.next = next;
		s->begun = true;
	}
	if (done < all)
		progress_at(&s->progress, done, all);
	else
		progress_end(&s->progress);
}
