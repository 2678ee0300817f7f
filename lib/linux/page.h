/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.h - state of a physical page, from its struct page and folio. */
#pragma once

#include "linux/linux.h"

/*
 * Flags have the numbers of /proc/kpageflags (KPF_*: Linux,
 * include/uapi/linux/kernel-page-flags.h and include/linux/kernel-page-flags.h) and the
 * meaning that they have in this file of the same kernel. The exception is KSM, which
 * kernels from dee3d0bef2b0 (6.10) to 81401cebfc15 (7.2 and stable releases) report for
 * every anonymous page, and which kernels do so cannot be detected: here it is correct.
 */
struct lnx_page {
	uint64_t pfn, head;      /* first page of its folio; itself if small */
	uint64_t flags;          /* 1 << KPF_... */
	uint64_t raw;            /* page->flags, unchanged */
	uint64_t mapping;        /* page->mapping of the folio, raw */
	int64_t refcount;        /* of its folio */
	uint64_t count;          /* mappings, as in /proc/kpagecount */
	uint32_t node;           /* NUMA node */
	uint8_t order;           /* of its folio, or of the free block */
	bool have_node, have_order;
	char cache[32];          /* SLAB: the cache's name; else empty */
};

struct atw_memmap;
/* ATW_E_UNSUPPORTED names the information that the kernel lacks. */
int atw_memmap_open(struct atw_kernel *k, struct atw_memmap **ret, struct atw_err *err);
/*
 * ATW_E_MISSING: there is no struct page, or the source lacks it; the error states which.
 * ATW_E_DAMAGED: the struct page is invalid.
 */
int atw_memmap_page(struct atw_memmap *m, uint64_t pfn,
		    struct lnx_page *ret, struct atw_err *err);
/* A cheap subset of the state of a frame. */
struct lnx_page_kind {
	uint64_t flags;          /* as in struct lnx_page, without those that come and go while
				  * it is used for the same: REFERENCED, ACTIVE, PRIVATE, ... */
	uint64_t same;           /* number of frames from it on, at least, with this
				  * result */
	/*
	 * The page is in a per-CPU list of free pages, which no flag shows. Others without
	 * references that are in no free block are the tails of allocations that are not
	 * compound. Where the layout of the lists is not known, all of them are taken for
	 * free ones.
	 */
	bool waits;
	bool unsure;             /* it was put into a list or taken from one meanwhile */
	bool unmade;             /* the kernel has not initialized its struct page so far */
	/* a large kmalloc() allocation, which the kernel counts as Slab, too */
	bool kmalloc;
};
/*
 * For all frames in ascending order, each call `same` frames behind the last: struct
 * pages are read once, many together, and none is kept. On failure only `same` is set, to
 * the number of frames without readable struct pages.
 */
int atw_memmap_kind(struct atw_memmap *m, uint64_t pfn, struct lnx_page_kind *ret,
		    struct atw_err *err);
/*
 * Report pages that processes map, before other calls about them: `pages` frames from
 * `pfn` on, in one translation. No flag marks the kernel's zero page. If no symbol exists
 * (a kernel without CONFIG_KALLSYMS_ALL), it is recognised as a page that is mapped, has
 * neither a mapcount nor a mapping, and contains only zeroes. Cheap if the page is known
 * already.
 */
void atw_memmap_mapped(struct atw_memmap *m, uint64_t pfn, uint64_t pages);
/*
 * For the running kernel: atw_memmap_kind() calls `is_zero` for large folios that may be
 * the huge zero folio, until it is known.
 */
void atw_memmap_ask_zero(struct atw_memmap *m, bool (*is_zero)(uint64_t pfn));
/*
 * The NUMA node of a frame, without reading its struct page; `same`: the number of frames
 * from it on, up to `max`, for which the result is known to be valid. The frames behind
 * them may have the same node. false: there is no struct page, or the node is not
 * recorded.
 */
bool atw_memmap_node(struct atw_memmap *m, uint64_t pfn, uint64_t max,
		     uint32_t *ret, uint64_t *same);
/*
 * The memory cgroup that a page is charged to, by the inode of its folder, as in
 * /proc/kpagecgroup; 0: none. Only the first page of a folio has one. ATW_E_UNSUPPORTED:
 * this kernel has no memory cgroups, or lacks the information.
 */
int atw_memmap_cgroup(struct atw_memmap *m, uint64_t pfn, uint64_t *ret);
void atw_memmap_close(struct atw_memmap *m);
/* "LOCKED" for bit 0; NULL for a bit without a name. */
const char *lnx_page_flag_name(unsigned bit);

/* Swap devices: `type` as in struct atw_soft_word. */
struct atw_swap {
	char name[256];          /* path of the file or device */
	uint64_t pages, used;
};
int atw_swap_device(struct atw_kernel *k, unsigned type,
		    struct atw_swap *ret, struct atw_err *err);
