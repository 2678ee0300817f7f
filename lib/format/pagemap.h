/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pagemap.h - words of /proc/PID/pagemap and results of PAGEMAP_SCAN: Linux,
 * Documentation/admin-guide/mm/pagemap.rst. Pure.
 */
#pragma once

#include <atwalk/base.h>

#define PAGEMAP_FRAME (((uint64_t)1 << 55) - 1)
#define PAGEMAP_SOFT_DIRTY ((uint64_t)1 << 55)
#define PAGEMAP_EXCLUSIVE ((uint64_t)1 << 56)
#define PAGEMAP_UFFD_WP ((uint64_t)1 << 57)
#define PAGEMAP_GUARD ((uint64_t)1 << 58)
#define PAGEMAP_FILE ((uint64_t)1 << 61)
#define PAGEMAP_SWAP ((uint64_t)1 << 62)
#define PAGEMAP_PRESENT ((uint64_t)1 << 63)

/* Of a word that is PAGEMAP_SWAP and not hidden. */
static inline unsigned pagemap_swap_type(uint64_t word)
{
	return word & 31;
}

static inline uint64_t pagemap_swap_offset(uint64_t word)
{
	return (word & PAGEMAP_FRAME) >> 5;
}

/* PAGE_IS_...: linux/fs.h of 6.7 and later; older headers lack them. */
#define PAGESCAN_PRESENT ((uint64_t)1 << 3)
#define PAGESCAN_SWAPPED ((uint64_t)1 << 4)
#define PAGESCAN_PFNZERO ((uint64_t)1 << 5)
#define PAGESCAN_HUGE ((uint64_t)1 << 6)

/* struct page_region */
struct pagescan_region {
	uint64_t start, end, categories;
};

/* struct pm_scan_arg */
struct pagescan_arg {
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

/* Of a pagemap; <sys/ioctl.h> */
#define PAGESCAN_IOCTL _IOWR('f', 16, struct pagescan_arg)

/*
 * The kernel buffers 512 regions before it copies them out. If it did so before the end
 * of the range and then reached the end, `walk_end` is still that of the copy (seen in
 * 6.18): a caller that continues from there gets everything twice. So never request more
 * at once.
 */
enum { PAGESCAN_REGIONS = 512 };

/*
 * Validate the `n` regions that the kernel returned for `a`: ascending, inside of the
 * requested range, whole pages. Invalid parts are cut off or removed. Returns the number
 * of remaining regions; *next is where to continue, a->end if this was all.
 */
size_t pagescan_check(const struct pagescan_arg *a, struct pagescan_region *v, size_t n,
		      uint64_t page, uint64_t *next);
