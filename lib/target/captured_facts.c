/* SPDX-License-Identifier: GPL-2.0-or-later */
/* captured_facts.c - facts about a capture's processes and memory, and what it lacks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "target/captured.h"

#include "linux/page.h"

#include "base/num.h"

/* Those that are set and have a name, or that are not. */
static void captured_flag_names(uint64_t mask, bool set, char *buf, size_t len)
{
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < 64 && n < len; i++)
		if (lnx_page_flag_name(i) && (mask >> i & 1) == set)
			n += (size_t)snprintf(buf + n, len - n, "%s%s", n ? "," : "",
					      lnx_page_flag_name(i));
}

/* "1732132226.25", as people say it. */
static void captured_time(const struct target_facts *to, const char *name,
			  const char *text)
{
	size_t len = strcspn(text, ".");
	struct tm tm;
	uint64_t s;
	time_t t;
	char buf[32];

	if (!*text)
		return;
	if (!num_dec(text, len, &s) || s > INT32_MAX * UINT64_C(128)) {
		target_fact(to, name, "%s, which is no time", text);
		return;
	}
	t = (time_t)s;
	if (gmtime_r(&t, &tm) && strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		target_fact(to, name, "%s UTC", buf);
}

static void captured_origin(const struct target_facts *to, const struct captured *c)
{
	if (*c->way && !c->made)
		target_fact(to, "taken by", "%s", c->way);
	captured_time(to, "begun", c->begun);
	captured_time(to, "ended", c->ended);
	if (!c->whole)
		target_fact(to, "complete", "no: see standard error");
	else if (c->paper)
		target_fact(to, "complete", "not known: this form has no last line");
	else if (!c->made)
		target_fact(to, "complete", "yes, %" PRIu64 " lines", c->lines);
	if (*c->vanished)
		target_fact(to, "vanished", "%s processes ended before they were recorded",
			    c->vanished);
	if (*c->stale)
		target_fact(to, "stale",
			    "%s frames were given to others before they were asked for",
			    c->stale);
	if (c->all_lost)
		target_fact(to, "unread",
			    "%" PRIu64
			    " time%s something could not be read when the capture was taken",
			    c->all_lost, c->all_lost == 1 ? "" : "s");
	for (size_t i = 0; i < c->nlost && i < 8; i++)
		if (c->lost[i].pid)
			target_fact(to, "unread", "process %" PRIu64 ": %s: %s",
				    c->lost[i].pid, c->words.data + c->lost[i].what,
				    c->words.data + c->lost[i].why);
		else
			target_fact(to, "unread", "%s: %s",
				    c->words.data + c->lost[i].what,
				    c->words.data + c->lost[i].why);
}

static void captured_contents(const struct target_facts *to, const struct captured *c)
{
	uint64_t spaces = 0;
	size_t tasks = c->ntasks;
	char text[400];

	for (size_t i = 0; i < c->ntasks; i++) {
		spaces += c->task[i].owner == i;
		tasks -= capture_task_idle(c->task[i].pid, c->task[i].has);
	}
	target_fact(to, "tasks",
		    "%zu, with %" PRIu64 " address space%s and %" PRIu64 " area%s",
		    tasks, spaces, spaces == 1 ? "" : "s", c->areas,
		    c->areas == 1 ? "" : "s");
	target_fact(to, "page", "%s", num_human(c->page, text));
	target_fact(to, "rights", "%s",
		    c->bits & CAPTURE_WRITE ? "of each page"
					    : "of the area that a page is in");
	target_fact(to, "used", "%s",
		    (c->bits & (CAPTURE_ACCESSED | CAPTURE_DIRTY)) ==
				    (CAPTURE_ACCESSED | CAPTURE_DIRTY)
			    ? "which pages were accessed, written to"
			    : "not recorded");
	if (c->made) {
		target_fact(to, "page flags", "not recorded");
	} else if (c->old) {
		target_fact(to, "page flags",
			    "of the paper's kernel, with other numbers: not shown");
	} else if (c->pageflags != UINT64_MAX) {
		captured_flag_names(c->pageflags, false, text, sizeof(text));
		target_fact(to, "page flags", "all but %s",
			    *text ? text : "those without a name");
	}
	for (unsigned i = 0; i < CAPTURED_SWAPS; i++)
		if (c->swap[i].have)
			target_fact(to, "swap", "%u: %s", i, c->swap[i].name);
	if (c->frames)
		target_fact(to, "frames", "what each is used for: report machine");
	target_fact(to, "missing",
		    "page tables, and the kernel's addresses, symbols and structures: "
		    "extract, %s", to->tables);
}

static void captured_memory(const struct target_facts *to, const struct captured *c)
{
	uint64_t all = 0;
	char size[16];

	for (size_t i = 0; i < c->nram; i++) {
		const struct captured_ram *r = &c->ram[i];
		uint64_t len = r->last - r->start + 1;

		all += len;
		if (!to->every && i >= 16)
			continue;
		if (r->have_node)
			target_fact(to, "memory",
				    "0x%016" PRIx64 "-0x%016" PRIx64
				    " %s RAM, node %" PRIu64,
				    r->start, r->last + 1, num_human(len, size), r->node);
		else
			target_fact(to, "memory",
				    "0x%016" PRIx64 "-0x%016" PRIx64 " %s RAM", r->start,
				    r->last + 1, num_human(len, size));
	}
	if (c->nram)
		target_fact(to, "memory",
			    "%s RAM in %zu range%s%s; nothing of what is in it",
			    num_human(all, size), c->nram, c->nram == 1 ? "" : "s",
			    c->nram == CAPTURE_RAMS ? ", of which there may be more"
			    : !to->every && c->nram > 16
				    ? "; the first 16 are listed, -v lists all"
				    : "");
	else
		target_fact(
			to, "memory",
			"ranges of RAM and its content are not recorded");
}

void captured_facts(const struct captured *c, const struct target_facts *to)
{
	captured_origin(to, c);
	captured_contents(to, c);
	if (*c->cpus)
		target_fact(to, "cpus", "%s", c->cpus);
	else
		target_fact(to, "cpus", "not recorded in this source");
	captured_memory(to, c);
}
