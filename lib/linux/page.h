/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.h - state of a physical page, from its struct page and folio. */
#ifndef LINUX_PAGE_H
#define LINUX_PAGE_H

#include "linux/linux.h"

/*
 * Flags are numbered as /proc/kpageflags numbers them (KPF_*: Linux,
 * include/uapi/linux/kernel-page-flags.h and include/linux/kernel-page-flags.h),
 * and mean what that file of the same kernel would have said. But for KSM, which
 * kernels from dee3d0bef2b0 (6.10) to 81401cebfc15 (7.2 and stable releases) say
 * of every anonymous page, and nothing shows which do: here it is true.
 */
struct lnx_page {
	uint64_t pfn, head;      /* its folio's first page; itself if small */
	uint64_t flags;          /* 1 << KPF_... */
	uint64_t raw;            /* page->flags as it lies there */
	uint64_t mapping;        /* page->mapping of the folio, raw */
	int64_t refcount;        /* of its folio */
	uint64_t count;          /* mappings, as /proc/kpagecount has it */
	uint32_t node;           /* NUMA node */
	uint8_t order;           /* of its folio, or of the free block */
	bool have_node, have_order;
	char cache[32];          /* SLAB: the cache's name; else empty */
};

struct atw_memmap;
/* ATW_E_UNSUPPORTED names what the kernel does not tell about itself. */
int atw_memmap_open(struct atw_kernel *k, struct atw_memmap **ret,
		    struct atw_err *err);
/*
 * ATW_E_MISSING: there is no struct page for it, or the source lacks it; the
 * error says which. ATW_E_DAMAGED: it says what cannot be.
 */
int atw_memmap_page(struct atw_memmap *m, uint64_t pfn,
		    struct lnx_page *ret, struct atw_err *err);
/* What a frame is used for, without what it would cost to know more of it. */
struct lnx_page_kind {
	uint64_t flags;          /* as in struct lnx_page */
	uint64_t same;           /* this is so of so many frames from it on, at least */
	/*
	 * The page has no reference and is in no free block: it waits in a list of a CPU
	 * to be allocated again. Such frames are free, but no flag shows it.
	 */
	bool waits;
	/* kmalloc()'s, and too large for a slab: what the kernel counts as Slab as well. */
	bool kmalloc;
};
/*
 * For all frames in ascending order, each question `same` frames behind the last:
 * struct pages are read once, many together, and none is kept. On failure `same`
 * alone is set, to the number of frames of which there is nothing to read.
 */
int atw_memmap_kind(struct atw_memmap *m, uint64_t pfn, struct lnx_page_kind *ret,
		    struct atw_err *err);
/*
 * Report pages that processes map, before asking about them: `pages` frames from `pfn`
 * on, in one translation. No struct page marks the kernel's zero page. Where no symbol
 * names it (a kernel without CONFIG_KALLSYMS_ALL), it is recognized as a page that is
 * mapped, has neither a mapcount nor a mapping, and holds only zeroes.
 * Cheap if the page is known already.
 */
void atw_memmap_mapped(struct atw_memmap *m, uint64_t pfn, uint64_t pages);
/*
 * That page will be asked for after a few others: what it takes can be fetched
 * meanwhile. Only a hint.
 */
void atw_memmap_soon(struct atw_memmap *m, uint64_t pfn);
/*
 * The NUMA node of a frame, without reading its struct page; `same`: for how many frames
 * from it on, up to `max`, the answer is known to be true. The frames behind them may
 * have the same node. false: there is no struct page, or the node is not recorded.
 */
bool atw_memmap_node(struct atw_memmap *m, uint64_t pfn, uint64_t max,
		     uint32_t *ret, uint64_t *same);
/*
 * The memory cgroup that pays for it, by the inode of its folder, as
 * /proc/kpagecgroup has it: 0: none. Only the first page of a folio knows.
 * ATW_E_UNSUPPORTED: this kernel has no such thing, or does not tell.
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

#endif
