/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_marks.c - flags of a page as in /proc/PID/pagemap. */
#include "target/provider.h"

#include "format/pagemap.h"
#include "linux/kpf.h"
#include "linux/soft.h"

const char *const mark_names[MARKS] = { "soft-dirty", "exclusive", "file", "uffd-wp" };

/* The flag of leaves that is this bit. */
static uint64_t page_marks_flag_of(const struct atw_paging *pg, uint64_t bit)
{
	for (unsigned i = 0; bit && i < MARKS_FIRST && pg->flags[i].letter; i++)
		if (pg->flags[i].mask == bit && pg->flags[i].value == bit &&
		    pg->flags[i].kinds & ATW_K(ATW_LEAF))
			return (uint64_t)1 << i;
	return 0;
}

void marks_find(struct page_marks *m, const struct atw_paging *pg, const char *release)
{
	const struct atw_soft_abi abi = atw_soft_abi_for(pg, release);
	struct soft_bits bits = soft_page_bits(&abi);

	*m = (struct page_marks){.unknown = MARK(MARK_EXCLUSIVE) | MARK(MARK_FILE)};
	if (!abi.known || pg->stage2) {
		m->unknown = MARKS_ALL;
		return;
	}
	m->soft_dirty = page_marks_flag_of(pg, bits.soft_dirty);
	m->uffd_wp = page_marks_flag_of(pg, bits.uffd_wp);
	m->special = bits.special;
}

uint64_t marks_of_flags(const struct page_marks *m, atw_va va, uint64_t flags)
{
	/* For its own pages the kernel has other uses of these bits. */
	if (va.u >> 63)
		return 0;
	return (flags & m->soft_dirty ? MARK(MARK_SOFT_DIRTY) : 0) |
	       (flags & m->uffd_wp ? MARK(MARK_UFFD_WP) : 0);
}

uint64_t marks_of_soft(const struct atw_soft_word *s)
{
	return (s->soft_dirty ? MARK(MARK_SOFT_DIRTY) : 0) |
	       (s->uffd_wp ? MARK(MARK_UFFD_WP) : 0);
}

uint64_t marks_of_word(uint64_t word)
{
	return (word & PAGEMAP_SOFT_DIRTY ? 1u << MARK_SOFT_DIRTY : 0) |
	       (word & PAGEMAP_EXCLUSIVE ? 1u << MARK_EXCLUSIVE : 0) |
	       (word & PAGEMAP_FILE ? 1u << MARK_FILE : 0) |
	       (word & PAGEMAP_UFFD_WP ? 1u << MARK_UFFD_WP : 0);
}

/* Pages that are mapped but not counted have no owner: zero pages, device memory. */
uint64_t marks_of_page(const struct lnx_page *page)
{
	return (page->count == 1 ? MARK(MARK_EXCLUSIVE) : 0) |
	       (page->count && !(page->flags & kpf(KPF_ANON)) ? MARK(MARK_FILE) : 0);
}
