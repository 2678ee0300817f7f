/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include "base/clock.h"

/* Work that ends within a second prints no progress. */
enum { FIRST_MS = 1000, AGAIN_MS = 200, AGAIN_LINE_MS = 5000 };

void progress_begin(struct progress *p, const struct common *c, const char *name,
		    const char *unit)
{
	bool terminal = isatty(STDERR_FILENO);

	*p = (struct progress){
		.on = !c->quiet && (c->progress || terminal), .terminal = terminal,
		.program = "atwalk", .name = name, .unit = unit,
		/* With --progress the first line is printed at once. */
		.next = c->progress ? 0 : now() + FIRST_MS * 1000000ull,
	};
}

void progress_at(void *arg, uint64_t done, uint64_t all)
{
	struct progress *p = arg;
	uint64_t at = p->on ? now() : 0;
	char far[40];

	if (!p->on || at < p->next)
		return;
	p->next = at + (p->terminal ? AGAIN_MS : AGAIN_LINE_MS) * 1000000ull;
	if (all)
		snprintf(far, sizeof(far), "%.0f %%", (double)done / (double)all * 100);
	else
		snprintf(far, sizeof(far), "%" PRIu64 " %s", done, p->unit);
	fprintf(stderr, "%s%s: %s%s%s%s", p->terminal ? "\r" : "", p->program,
		p->name ? p->name : "", p->name ? ": " : "", far, p->terminal ? "\033[K" : "\n");
	p->shown = true;
}

void progress_end(struct progress *p)
{
	if (p->shown && p->terminal)
		fputs("\r\033[K", stderr);
	p->on = false;
}
