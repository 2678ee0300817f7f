/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap_ahead.h - read-ahead of struct pages of a running machine.
 *
 * Such a source lends no memory, and each read is a system call. So the struct pages that
 * will be needed are read together, contiguous ones as one part; others are read by whole
 * pages of kernel memory, a few of which are kept until the next batch. Nothing else is
 * kept: later lookups read again.
 */
#ifndef LINUX_MEMMAP_AHEAD_H
#define LINUX_MEMMAP_AHEAD_H

#include "linux/kmem.h"

struct memmap_ahead;
/* `size` of a struct page. NULL: no memory. */
struct memmap_ahead *memmap_ahead_create(struct atw_source *mem, uint32_t size);
void memmap_ahead_destroy(struct memmap_ahead *a);

/*
 * The struct pages of `n` frames from pfn on, which are contiguous at this address, will
 * be needed. As many are added as there is room for.
 */
void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, uint64_t n, atw_pa pa);
/* The number of batches that were read. */
uint64_t memmap_ahead_reads(const struct memmap_ahead *a);
/* Discard all that were added, which makes room for others. */
void memmap_ahead_anew(struct memmap_ahead *a);
/*
 * If it was added: its bytes, valid until the next call of add, and the number of frames
 * from it on that follow there. Or NULL.
 */
const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn,
				 uint64_t *ret_n);
/*
 * The page of kernel memory at this address, valid until the next call. NULL with the
 * reason.
 */
const uint8_t *memmap_ahead_page(struct memmap_ahead *a, struct kmem *m, uint64_t address,
				 struct atw_err *err);

#endif
