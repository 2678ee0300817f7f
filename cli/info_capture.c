/* SPDX-License-Identifier: GPL-2.0-or-later */
/* info_capture.c - what a capture tells of processes and memory, and what it does not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "info.h"
#include "base/num.h"
#include "provider/captured.h"

/* Those that are set and have a name, or that are not. */
static void flag_names(uint64_t mask, bool set, char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < 64 && n < len; i++)
		if (atw_page_flag_name(i) && (mask >> i & 1) == set)
			n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? "," : "",
					      atw_page_flag_name(i));
}

/* "1732132226.25", as people say it. */
static void when(struct facts *f, const char *name, const char *text)
{
	size_t len = strcspn(text, ".");
	struct tm tm;
	uint64_t s;
	time_t t;
	char buf[32];

	if (!*text)
		return;
	if (!num_dec(text, len, &s) || s > INT32_MAX * UINT64_C(128)) {
		fact(f, name, "%s, which is no time", text);
		return;
	}
	t = (time_t)s;
	if (gmtime_r(&t, &tm) && strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		fact(f, name, "%s UTC", buf);
}

static void taken(struct facts *f, const struct captured *c)
{
	if (*c->way)
		fact(f, "taken by", "%s", c->way);
	when(f, "begun", c->begun);
	when(f, "ended", c->ended);
	if (!c->whole)
		fact(f, "complete", "no: see standard error");
	else if (c->paper)
		fact(f, "complete", "not known: this form has no last line");
	else
		fact(f, "complete", "yes, %" PRIu64 " lines", c->lines);
	if (*c->vanished)
		fact(f, "vanished", "%s processes ended before they were told", c->vanished);
	if (*c->stale)
		fact(f, "stale", "%s frames were given to others before they were asked for", c->stale);
	if (c->all_lost)
		fact(f, "unread", "%" PRIu64 " time%s something could not be read when it was taken", c->all_lost,
		     c->all_lost == 1 ? "" : "s");
	for (size_t i = 0; i < c->nlost && i < 8; i++)
		if (c->lost[i].pid)
			fact(f, "unread", "process %" PRIu64 ": %s: %s", c->lost[i].pid,
			     c->words.data + c->lost[i].what, c->words.data + c->lost[i].why);
		else
			fact(f, "unread", "%s: %s", c->words.data + c->lost[i].what,
			     c->words.data + c->lost[i].why);
}

static void tells(struct facts *f, const struct captured *c)
{
	uint64_t spaces = 0;
	char text[400];

	for (size_t i = 0; i < c->ntasks; i++)
		spaces += c->task[i].owner == i;
	fact(f, "tasks", "%zu, with %" PRIu64 " address space%s and %" PRIu64 " area%s", c->ntasks, spaces,
	     spaces == 1 ? "" : "s", c->areas, c->areas == 1 ? "" : "s");
	fact(f, "page", "%s", num_human(c->page, text));
	fact(f, "rights", "%s", c->bits & CAPTURE_WRITE ? "of each page" : "of the area that a page is in");
	fact(f, "used", "%s", (c->bits & (CAPTURE_ACCESSED | CAPTURE_DIRTY)) ==
	     (CAPTURE_ACCESSED | CAPTURE_DIRTY) ? "which pages were accessed, written to" : "not told");
	if (c->old) {
		fact(f, "page flags", "of the paper's kernel, with other numbers: not shown");
	} else if (c->pageflags != UINT64_MAX) {
		flag_names(c->pageflags, false, text, sizeof(text));
		fact(f, "page flags", "all but %s", *text ? text : "those without a name");
	}
	for (unsigned i = 0; i < CAPTURED_SWAPS; i++)
		if (c->swap[i].have)
			fact(f, "swap", "%u: %s", i, c->swap[i].name);
	if (c->frames)
		fact(f, "frames", "what each is used for: report machine");
	fact(f, "missing", "page tables, and the kernel's addresses, symbols and structures: walk, extract, --root, --cpu, --pti");
}

static void ram(struct facts *f, const struct captured *c, bool every)
{
	uint64_t all = 0;
	char size[16];

	for (size_t i = 0; i < c->nram; i++) {
		const struct captured_ram *r = &c->ram[i];
		uint64_t len = r->last - r->start + 1;

		all += len;
		if (!every && i >= 16)
			continue;
		if (r->have_node)
			fact(f, "memory", "0x%016" PRIx64 "-0x%016" PRIx64 " %s RAM, node %" PRIu64,
			     r->start, r->last + 1, num_human(len, size), r->node);
		else
			fact(f, "memory", "0x%016" PRIx64 "-0x%016" PRIx64 " %s RAM", r->start,
			     r->last + 1, num_human(len, size));
	}
	if (c->nram)
		fact(f, "memory", "%s RAM in %zu range%s%s; nothing of what is in it",
		     num_human(all, size), c->nram, c->nram == 1 ? "" : "s",
		     c->nram == CAPTURE_RAMS ? ", of which there may be more" :
		     !every && c->nram > 16 ? "; the first 16 are listed, -v lists all" : "");
	else
		fact(f, "memory", "not told which addresses are RAM, and nothing of what is in it");
}

void capture_facts_of(struct facts *f, const struct opened *o, bool every)
{
	const struct captured *c = o->capture;

	taken(f, c);
	tells(f, c);
	if (*c->cpus)
		fact(f, "cpus", "%s", c->cpus);
	else
		fact(f, "cpus", "not recorded in this source");
	ram(f, c, every);
	if (o->process[0])
		fact(f, "process", "%" PRIu64 " (%s)", o->pid, o->task);
}
