/* SPDX-License-Identifier: GPL-2.0-or-later */
/* large.c - reasons why memory is not mapped by large pages. */
#include "target/large.h"

#include <stdio.h>
#include <string.h>

#include "linux/vm_flags.h"

const char *const large_why_names[LARGE_WHYS] = {
	"-", "small", "unaligned", "nohugepage", "disabled", "file", "sparse", "rights",
	"swapped", "possible",
};

/*
 * What holds for all blocks of an area: mm/huge_memory.c,
 * __thp_vma_allowable_orders() in its order.
 */
static enum large_why large_why_of_area(struct large_scan *s, uint64_t start,
					const struct large_may *may)
{
	bool unadvised = may->have_advice && !may->advised;
	bool system = may->system == THP_NEVER || (may->system == THP_ADVISED && unadvised);

	if (may->refused)
		return LARGE_NOHUGEPAGE;
	if (may->process == THP_NEVER || (may->process == THP_ADVISED && unadvised)) {
		s->off = LARGE_OFF_PROCESS;
		return LARGE_DISABLED;
	}
	if (may->unknown)
		return LARGE_NONE;
	if (may->special || may->kind == LARGE_OF_FILE)
		return LARGE_FILE;
	/* What is off is off wherever it lies: its alignment is the next question. */
	if (system) {
		s->off = may->system == THP_NEVER ? LARGE_OFF_NEVER_BY(may->by)
						  : LARGE_OFF_UNADVISED_BY(may->by);
		return LARGE_DISABLED;
	}
	/* Where a file is aligned, address and place in it are so together. */
	if (may->kind == LARGE_SHMEM && (start - may->offset) & (s->block - 1))
		return LARGE_FILE;
	/* The result depends on the advice (MADV_HUGEPAGE), which is not known. */
	if (!may->have_advice && (may->system == THP_ADVISED || may->process == THP_ADVISED))
		return LARGE_NONE;
	s->unknown = may->system == THP_UNKNOWN;
	return LARGE_POSSIBLE;
}

void large_begin(struct large_scan *s, uint64_t start, uint64_t end,
		 const struct large_may *may, uint64_t block)
{
	uint64_t up = -start & (block - 1), whole = end & ~(block - 1);

	*s = (struct large_scan){ .block = block, .first = 1 };
	s->edge = end - start < block ? LARGE_SMALL : LARGE_UNALIGNED;
	if (start + up >= start && start + up < whole) {
		s->first = start + up;
		s->last = whole - 1;
		s->sum.blocks = (whole - s->first) / block;
	}
	s->area = large_why_of_area(s, start, may);
}

static enum large_why large_why_of_block(const struct large_scan *s, uint64_t holes)
{
	if (s->area != LARGE_POSSIBLE)
		return s->area;
	return s->now.lost ? LARGE_NONE : holes ? LARGE_SPARSE :
	       s->now.other || s->now.mixed ? LARGE_RIGHTS :
	       s->now.swapped ? LARGE_SWAPPED : LARGE_POSSIBLE;
}

/* The block under way, which is the last one at the end of the area. */
void large_end(struct large_scan *s)
{
	struct large_sum *t = &s->sum;

	if (s->now.small) {
		uint64_t holes = s->block - s->now.small - s->now.swapped - s->now.other -
				 s->now.lost;
		enum large_why why = large_why_of_block(s, holes);

		t->entries_large++;
		t->small[why] += s->now.small;
		t->holes[why] += holes;
		if (why == LARGE_DISABLED)
			t->off |= s->off;
		if (s->unknown)
			t->unknown += s->now.small;
		if (s->now.small == s->block) {
			t->full++;
			t->in_full[why] += s->block;
		}
	}
	s->now.small = s->now.swapped = s->now.other = s->now.lost = 0;
	s->now.mixed = false;
}

/* Part of a block. */
static void large_count(struct large_scan *s, uint64_t bytes, const struct page_run *run)
{
	uint8_t rights = run->have & RUN_RIGHTS ? run->rights : 0;

	switch (run->state) {
	case PAGE_PRESENT:
		s->now.mixed |= s->now.small && rights != s->now.rights;
		s->now.rights = rights;
		s->now.small += bytes;
		break;
	case PAGE_ABSENT:
		s->now.lost += run->have & RUN_STATE_HIDDEN ? bytes : 0;
		break;
	case PAGE_SWAP:
		s->now.swapped += bytes;
		break;
	case PAGE_LOST:
	case PAGE_EXCLUDED:
	case PAGE_DAMAGED:
	case PAGE_UNSTABLE:
	case PAGE_BAD:
		s->now.lost += bytes;
		break;
	default:
		s->now.other += bytes;
	}
}

/* A page that an area has in part takes an entry all the same. */
static uint64_t large_slot_count(uint64_t bytes, uint64_t slot)
{
	return slot ? bytes / slot + (bytes % slot ? 1 : 0) : 0;
}

void large_add(struct large_scan *s, uint64_t first, uint64_t last,
	       const struct page_run *run)
{
	bool unsized = run->state == PAGE_PRESENT && run->have & RUN_SIZE_HIDDEN;
	bool is_large = unsized || (run->state == PAGE_PRESENT && run->slot >= s->block);
	bool sized = run->state == PAGE_PRESENT && !unsized;

	if (sized)
		s->sum.entries += large_slot_count(last - first + 1, run->slot);
	if (sized && is_large)
		s->sum.entries_large += large_slot_count(last - first + 1, run->slot);
	if (run->state == PAGE_ABSENT && run->have & RUN_STATE_HIDDEN)
		s->sum.hidden += last - first + 1;
	if (is_large)
		*(unsized ? &s->sum.unsized : &s->sum.large) += last - first + 1;
	for (uint64_t end;; first = end + 1) {
		bool inside = s->first <= s->last && first >= s->first && first <= s->last;

		end = last;
		if (inside) {
			uint64_t at = first & ~(s->block - 1), whole = 0;

			if (at != s->now.at)
				large_end(s);
			s->now.at = at;
			if (end > s->last)
				end = s->last;
			/* Blocks without a small page have nothing to tell. */
			if (first == at && (is_large || run->state == PAGE_ABSENT))
				whole = (end - at + 1) & ~(s->block - 1);
			if (whole)
				end = at + whole - 1;
			else if (end - at >= s->block)
				end = at + s->block - 1;
			if (!whole && !is_large)
				large_count(s, end - first + 1, run);
		} else {
			if (s->first <= s->last && first < s->first && end >= s->first)
				end = s->first - 1;
			if (run->state == PAGE_PRESENT && !is_large) {
				s->sum.small[s->edge] += end - first + 1;
				s->sum.entries_large +=
					large_slot_count(end - first + 1, run->slot);
			}
		}
		if (end == last)
			break;
	}
}

void large_sum_add(struct large_sum *to, const struct large_sum *s)
{
	for (unsigned i = 0; i < LARGE_WHYS; i++) {
		to->small[i] += s->small[i];
		to->in_full[i] += s->in_full[i];
		to->holes[i] += s->holes[i];
	}
	to->large += s->large;
	to->unsized += s->unsized;
	to->hidden += s->hidden;
	to->blocks += s->blocks;
	to->full += s->full;
	to->off |= s->off;
	to->unknown += s->unknown;
	to->entries += s->entries;
	to->entries_large += s->entries_large;
}

void large_sum_outside(struct large_sum *to, uint64_t bytes, uint64_t slot, uint64_t block)
{
	*(slot >= block ? &to->large : &to->small[LARGE_NONE]) += bytes;
	to->entries += large_slot_count(bytes, slot);
	to->entries_large += large_slot_count(bytes, slot);
}

uint64_t large_smaller(const struct large_sum *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LARGE_WHYS; i++)
		n += s->small[i];
	return n;
}

uint64_t large_mapped(const struct large_sum *s)
{
	return s->large + s->unsized + large_smaller(s);
}

enum large_why large_main(const struct large_sum *s)
{
	unsigned most = 0;

	for (unsigned i = 1; i < LARGE_WHYS; i++)
		if (s->small[i] > s->small[most])
			most = i;
	return (enum large_why)most;
}

/* ---- settings of large pages that an area has itself ---- */

static bool large_may_starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* By its name: is it shared memory of the kernel's own tmpfs, not of a mounted one? */
static bool large_is_shmem(const char *name)
{
	/* memfd_create(), MAP_SHARED without a file, shmget(), and a name given. */
	return large_may_starts(name, "/memfd:") ||
	       large_may_starts(name, "/dev/zero (deleted)") ||
	       large_may_starts(name, "/SYSV") || large_may_starts(name, "[anon_shmem:");
}

void large_may_of_area(const struct atw_area *a, uint64_t vm_flags, struct large_may *ret)
{
	*ret = (struct large_may){
		.kind = !a->file ? LARGE_ANON :
			large_is_shmem(a->name) ? LARGE_SHMEM : LARGE_OF_FILE,
		.unknown = a->file && !a->name[0], .offset = a->offset,
		.have_advice = vm_flags, .advised = vm_flags & VM_HUGEPAGE,
		.refused = vm_flags & VM_NOHUGEPAGE,
		.special = vm_flags & (VM_SPECIAL | VM_HUGETLB),
	};
}

/* ---- /proc ---- */

/* The option huge= among those that are separated by commas. */
static enum thp_when large_may_option(const char *s, const char *end)
{
	static const struct { const char *word; enum thp_when when; } words[] = {
		{ "huge=always", THP_ALWAYS }, { "huge=within_size", THP_ALWAYS },
		{ "huge=advise", THP_ADVISED }, { "huge=never", THP_NEVER },
	};

	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		size_t n = (size_t)((comma ? comma : end) - s);

		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i].word) == n && !memcmp(words[i].word, s, n))
				return words[i].when;
		s += n + 1;
	}
	return THP_NEVER;        /* shmem_show_options() does not write that one */
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
bool large_mounted(struct atw_blob text, uint32_t major, uint32_t minor, enum thp_when *ret)
{
	const char *s = text.data, *end = s + text.len;

	for (const char *next; s < end; s = next) {
		const char *e = memchr(s, '\n', (size_t)(end - s)), *fs, *at = s;
		char device[32];
		size_t n;

		e = e ? e : end;
		next = e < end ? e + 1 : end;
		n = (size_t)snprintf(device, sizeof(device), "%u:%u ", major, minor);
		for (unsigned field = 0; field < 2 && at; field++) {
			at = memchr(at, ' ', (size_t)(e - at));
			at = at ? at + 1 : NULL;
		}
		if (!at || (size_t)(e - at) < n || memcmp(at, device, n))
			continue;
		fs = memmem(at, (size_t)(e - at), " - ", 3);
		if (!fs || e - fs < 9 || memcmp(fs + 3, "tmpfs ", 6))
			continue;
		at = memchr(fs + 9, ' ', (size_t)(e - (fs + 9)));
		*ret = at ? large_may_option(at + 1, e) : THP_NEVER;
		return true;
	}
	return false;
}

uint64_t large_vmflags(const char *line, size_t len)
{
	static const struct { char word[3]; uint64_t flag; } words[] = {
		{ "rd", VM_READ }, { "wr", VM_WRITE }, { "ex", VM_EXEC },
		{ "sh", VM_SHARED }, { "mr", VM_MAYREAD }, { "mw", VM_MAYWRITE },
		{ "me", VM_MAYEXEC }, { "pf", VM_PFNMAP }, { "io", VM_IO },
		{ "de", VM_DONTEXPAND }, { "ht", VM_HUGETLB }, { "mm", VM_MIXEDMAP },
		{ "hg", VM_HUGEPAGE }, { "nh", VM_NOHUGEPAGE },
	};
	uint64_t flags = 0;

	for (size_t i = 0; i + 1 < len; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
			if ((!i || line[i - 1] == ' ') && !memcmp(line + i, words[k].word, 2) &&
			    (i + 2 == len || line[i + 2] == ' '))
				flags |= words[k].flag;
	return flags;
}
