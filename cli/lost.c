/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lost.h"

static void cli_lost_print(const struct common *c, const char *source,
			   const struct capture_lost *rec, uint32_t has, const char *reason)
{
	char process[40] = "", where[60] = "";

	if (rec->pid)
		snprintf(process, sizeof(process), "process %" PRIu64 ": ", rec->pid);
	if (has & CAPTURE_L_START && has & CAPTURE_L_LAST)
		snprintf(where, sizeof(where), "0x%" PRIx64 " to 0x%" PRIx64 ": ", rec->start,
			 rec->last);
	else if (has & CAPTURE_L_START)
		snprintf(where, sizeof(where), "0x%" PRIx64 ": ", rec->start);
	print_warning(c, "%s: not read: %s%s%s", source, process, where, reason);
}

void lost_add(struct lost *l, const struct common *c, const char *source,
	      const struct capture_lost *rec, uint32_t has)
{
	char reason[200];
	size_t i;

	l->n++;
	if (!c->verbose)
		return;
	snprintf(reason, sizeof(reason), "%.*s: %.*s", (int)rec->what.len,
		 (const char *)rec->what.data, (int)rec->why.len, (const char *)rec->why.data);
	if (l->n <= LOST_SHOWN)
		cli_lost_print(c, source, rec, has, reason);
	for (i = 0; i < l->reasons && strcmp(l->reason[i].text, reason) != 0; i++)
		;
	if (i == LOST_REASONS)
		return;
	if (i == l->reasons) {
		l->reasons++;
		memcpy(l->reason[i].text, reason, sizeof(reason));
	}
	l->reason[i].n++;
}

void lost_sums(const struct lost *l, const struct common *c, const char *source)
{
	uint64_t others = l->n;

	if (!c->verbose || !l->n)
		return;
	if (l->n > LOST_SHOWN)
		print_warning(c, "%s: ... and %" PRIu64 " more", source, l->n - LOST_SHOWN);
	for (size_t i = 0; i < l->reasons; i++) {
		print_warning(c, "%s: not read: %" PRIu64 " time%s: %s", source, l->reason[i].n,
			      l->reason[i].n == 1 ? "" : "s", l->reason[i].text);
		others -= l->reason[i].n;
	}
	if (others)
		print_warning(c, "%s: not read: %" PRIu64 " time%s: other kinds", source, others,
			      others == 1 ? "" : "s");
}
