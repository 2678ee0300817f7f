/* SPDX-License-Identifier: GPL-2.0-or-later */
/* map_large_note.c - the sum of many areas, a line for each reason. */
#include "map.h"
#include "host/tlb.h"
#include "base/message.h"

const char *large_amount(const struct large_units *by, uint64_t bytes, char buf[24])
{
	if (by->units == ATW_UNITS_HUMAN)
		return num_human(bytes, buf);
	snprintf(buf, 24, "%" PRIu64,
		 by->units == ATW_UNITS_BYTES ? bytes : bytes >> by->page_shift);
	return buf;
}

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* What says that they are off: each knob by its name, and what it is set to. */
static void map_large_note_disabled(uint64_t off, uint64_t block, char *buf, size_t len)
{
	static const struct { const char *name, *never, *advised; } knobs[THP_KNOBS] = {
		[THP_BY_NONE] = { N_("the setting of the system"), "never", "madvise" },
		[THP_BY_CONFIG] = { "CONFIG_TRANSPARENT_HUGEPAGE", N_("not set"), "" },
		[THP_BY_ENABLED] = { THP "enabled", "never", "madvise" },
		[THP_BY_SIZE_ENABLED] = { THP "hugepages-%kB/enabled", "never", "madvise" },
		[THP_BY_SHMEM] = { THP "shmem_enabled", "never", "advise" },
		[THP_BY_SHMEM_DENY] = { THP "shmem_enabled", "deny", "" },
		[THP_BY_SIZE_SHMEM] = { THP "hugepages-%kB/shmem_enabled", "never", "advise" },
		[THP_BY_MOUNT] = { N_("huge= of the mounted tmpfs"), "never", "advise" },
	};
	size_t n = 0;

	buf[0] = '\0';
	if (off & LARGE_OFF_PROCESS)
		n = (size_t)snprintf(buf, len, _("large pages are off for the process (prctl, PR_SET_THP_DISABLE)"));
	for (unsigned k = 0; k < THP_KNOBS && n < len; k++) {
		const char *at = strchr(knobs[k].name, '%');
		bool never = off & LARGE_OFF_NEVER_BY(k), advised = off & LARGE_OFF_UNADVISED_BY(k);
		char name[80];

		if (!never && !advised)
			continue;
		if (at)
			snprintf(name, sizeof(name), "%.*s%" PRIu64 "%s", (int)(at - knobs[k].name),
				 knobs[k].name, block / 1024, at + 1);
		else
			snprintf(name, sizeof(name), "%s", message(knobs[k].name));
		n += (size_t)snprintf(buf + n, len - n, _("%s%s is %s%s"), n ? "; " : "", name,
				      message(never ? knobs[k].never : knobs[k].advised),
				      never ? "" : _(", and MADV_HUGEPAGE was not given"));
	}
}

static const char *const reasons[LARGE_WHYS] = {
	[LARGE_NONE] = N_("unknown"),
	[LARGE_SMALL] = N_("the area is smaller than a large page"),
	[LARGE_UNALIGNED] = N_("outside of the aligned blocks of the area"),
	[LARGE_NOHUGEPAGE] = N_("large pages are disabled for the area (madvise, MADV_NOHUGEPAGE)"),
	[LARGE_FILE] = N_("a file or device: misaligned, or cached in small pages"),
	[LARGE_SPARSE] = N_("the block has holes (khugepaged/max_ptes_none limits them)"),
	[LARGE_RIGHTS] = N_("the block has pages of different rights, or inaccessible ones"),
	[LARGE_SWAPPED] = N_("some of the block is on swap (khugepaged/max_ptes_swap limits it)"),
	[LARGE_POSSIBLE] = N_("large pages are possible: khugepaged has not scanned the block yet (khugepaged/scan_sleep_millisecs), or memory was fragmented (defrag)"),
};

static void map_large_note_reason(const struct large_sum *s, enum large_why why,
				  const struct large_units *by, uint64_t block,
				  struct atw_output *out)
{
	bool marked = why == LARGE_NOHUGEPAGE || why == LARGE_DISABLED;
	char size[24], buf[24], more[80] = "", fill[80] = "", off[512];

	if (!s->small[why])
		return;
	/* What it would come to if they were allowed. */
	if (why == LARGE_SPARSE || (marked && s->holes[why]))
		snprintf(fill, sizeof(fill), _("; to fill %s takes %s more"),
			 why == LARGE_SPARSE ? _("it") : _("the blocks"),
			 large_amount(by, s->holes[why], buf));
	if (why == LARGE_POSSIBLE && s->unknown)
		snprintf(more, sizeof(more), _("; the setting of the system is unknown"));
	else if (why != LARGE_POSSIBLE && s->in_full[why])
		snprintf(more, sizeof(more), _("; %s of it in full blocks"),
			 large_amount(by, s->in_full[why], buf));
	if (why == LARGE_DISABLED)
		map_large_note_disabled(s->off, block, off, sizeof(off));
	atw_output_note(out, "%10s %-10s %s%s%s", large_amount(by, s->small[why], size),
			large_why_names[why],
			why == LARGE_DISABLED ? off : message(reasons[why]), more, fill);
}

/* How much a TLB of that many entries reaches, as words. */
static void map_large_note_reach(const struct tlb_size *t, uint64_t page, uint64_t block,
				 char *buf, size_t len)
{
	char small[16], large[16], size[16], sizes[16];

	num_human(page, size);
	num_human(block, sizes);
	num_human(t->small * page, small);
	num_human(t->large * block, large);
	if (t->small && t->large)
		snprintf(buf, len, _("%" PRIu32 " for pages of %s, which reach %s, %s%" PRIu32
			 " for pages of %s, which reach %s"), t->small, size, small,
			 t->shared ? _("the same ") : _("and "), t->large, sizes, large);
	else if (t->small)
		snprintf(buf, len, _("%" PRIu32 " for pages of %s, which reach %s"), t->small, size, small);
	else
		snprintf(buf, len, _("%" PRIu32 " for pages of %s, which reach %s"), t->large, sizes, large);
}

/* CPUID is about pages of 4K and 2M. */
static void map_large_note_tlb(const struct large_sum *s, const struct large_units *by,
			       uint64_t block, bool here, struct atw_output *out)
{
	uint64_t page = (uint64_t)1 << by->page_shift;
	struct tlb_size t = { 0 };
	char text[160] = "", hidden[24];

	if (s->hidden)
		snprintf(text, sizeof(text), _("; whether %s is mapped is unknown"),
			 large_amount(by, s->hidden, hidden));
	if (s->unsized)
		atw_output_note(out, "TLB entries: n/a, because page sizes are unknown");
	else
		atw_output_note(out, "TLB entries: %" PRIu64 " for what is mapped now, %" PRIu64
				" if every block with small pages were one large page%s",
				s->entries, s->entries_large, text);
	if (!here)
		return;
	if (page != 4096 || block != 2 << 20 || !tlb_of_host(&t)) {
		atw_output_note(out, "TLB reach: n/a, because this CPU does not report the size of its TLB");
		return;
	}
	map_large_note_reach(&t, page, block, text, sizeof(text));
	atw_output_note(out, "TLB reach: CPUID reports %s", text);
}

void large_note(const struct large_sum *s, const struct large_units *by, uint64_t block,
		bool here, struct atw_output *out)
{
	uint64_t smaller = large_smaller(s);
	char page[16], in[24], rest[24], either[24], more[64] = "";

	if (s->unsized)
		snprintf(more, sizeof(more), _("%s unknown, "),
			 large_amount(by, s->unsized, either));
	atw_output_note(out, "large pages (%s): %s in them, %s%s in smaller ones%s",
			num_human(block, page),
			s->unsized && !s->large ? "n/a" : large_amount(by, s->large, in), more,
			large_amount(by, smaller, rest), smaller ? _(", because:") : "");
	for (unsigned i = 1; i < LARGE_WHYS; i++)
		map_large_note_reason(s, (enum large_why)i, by, block, out);
	map_large_note_reason(s, LARGE_NONE, by, block, out);
	map_large_note_tlb(s, by, block, here, out);
}

void large_guest_note(const struct large_guest_sum *s, const struct large_units *by,
		      uint64_t block, struct atw_output *out)
{
	const struct { uint64_t bytes; const char *what; } parts[] = {
		{ s->both, N_("in large pages of both: stage 2 can have large pages, at best") },
		{ s->guest, N_("in large pages of the guest, on small ones of the host") },
		{ s->apart, N_("in large pages of the guest, at other addresses of the host") },
		{ s->host, N_("in small pages of the guest, on large ones of the host") },
		{ s->neither, N_("in small pages of both") },
		{ s->out, N_("not in the host's memory") },
		{ s->unknown, N_("unknown") },
	};
	char size[24], page[16];

	atw_output_note(out, "of the guest's pages and those of the host (%s) below them:",
			num_human(block, page));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].bytes)
			atw_output_note(out, "%10s %s", large_amount(by, parts[i].bytes, size),
					message(parts[i].what));
	if (s->misaligned)
		atw_output_note(out, "%s lies at addresses of the guest and of its process that differ modulo %s, so stage 2 cannot have large pages there: align the guest's memory (align=%s of QEMU's memory backend), or use hugetlb pages",
				large_amount(by, s->misaligned, size), page, page);
}
