/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_large_note.c - the sum of many areas, a line for each reason. */
#include <inttypes.h>
#include <stdio.h>

#include "base/num.h"
#include "map_large.h"

const char *large_amount(const struct large_units *by, uint64_t bytes, char buf[24])
{
	if (by->units == ATW_UNITS_HUMAN)
		return num_human(bytes, buf);
	snprintf(buf, 24, "%" PRIu64,
		 by->units == ATW_UNITS_BYTES ? bytes : bytes >> by->page_shift);
	return buf;
}

static const char *who(uint64_t off)
{
	static const char *const words[] = {
		[LARGE_OFF_NEVER] = "the system's setting is never",
		[LARGE_OFF_UNADVISED] = "the system's setting is madvise, and nobody advised",
		[LARGE_OFF_NEVER | LARGE_OFF_UNADVISED] =
			"the system's settings are never, or madvise and nobody advised",
	};

	return off & LARGE_OFF_PROCESS ? "large pages are off for the process" : words[off];
}

static const char *const reasons[LARGE_WHYS] = {
	[LARGE_NONE] = "nothing is told of them",
	[LARGE_SMALL] = "the area is smaller than a large page",
	[LARGE_UNALIGNED] = "outside of the aligned blocks of the area",
	[LARGE_NOHUGEPAGE] = "the area is marked so (MADV_NOHUGEPAGE)",
	[LARGE_FILE] = "of a file or device: not aligned in it, or kept in small pages",
	[LARGE_SPARSE] = "the block has holes",
	[LARGE_RIGHTS] = "the block has pages of several rights, or some that may not be touched",
	[LARGE_SWAPPED] = "some of the block is on swap",
	[LARGE_POSSIBLE] = "nothing is in the way: khugepaged has not been there, or memory was fragmented",
};

static void reason(const struct large_sum *s, enum large_why why,
		   const struct large_units *by, struct atw_output *out)
{
	bool marked = why == LARGE_NOHUGEPAGE || why == LARGE_DISABLED;
	char size[24], buf[24], more[80] = "", fill[80] = "";

	if (!s->small[why])
		return;
	/* What it would come to if they were allowed. */
	if (why == LARGE_SPARSE || (marked && s->holes[why]))
		snprintf(fill, sizeof(fill), "; to fill %s takes %s more",
			 why == LARGE_SPARSE ? "it" : "the blocks",
			 large_amount(by, s->holes[why], buf));
	if (why == LARGE_POSSIBLE && s->untold)
		snprintf(more, sizeof(more), "; what the system is set to is not told");
	else if (why != LARGE_POSSIBLE && s->in_full[why])
		snprintf(more, sizeof(more), "; %s of it in blocks that lack nothing",
			 large_amount(by, s->in_full[why], buf));
	atw_output_note(out, "%10s %-10s %s%s%s", large_amount(by, s->small[why], size),
			large_why_names[why],
			why == LARGE_DISABLED ? who(s->off) : reasons[why], more, fill);
}

void large_note(const struct large_sum *s, const struct large_units *by, uint64_t block,
		struct atw_output *out)
{
	uint64_t smaller = large_smaller(s);
	char page[16], in[24], rest[24], either[24], more[64] = "";

	if (s->unsized)
		snprintf(more, sizeof(more), "%s of which it is not told, ",
			 large_amount(by, s->unsized, either));
	atw_output_note(out, "large pages (%s): %s in them, %s%s in smaller ones%s",
			num_human(block, page),
			s->unsized && !s->large ? "n/a" : large_amount(by, s->large, in), more,
			large_amount(by, smaller, rest), smaller ? ", because:" : "");
	for (unsigned i = 1; i < LARGE_WHYS; i++)
		reason(s, (enum large_why)i, by, out);
	reason(s, LARGE_NONE, by, out);
}
