/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memmap_ahead.h - struct pages of a running machine, many in one read.
 *
 * Such a source lends nothing, and each read of it is a system call. So the struct
 * pages that will be asked for are read together, those that follow each other as
 * one piece; any others by whole pages of the kernel's memory, a few of which are
 * kept until the next such read. That is all that is kept: what is asked for later
 * is read anew.
 */
#ifndef LINUX_MEMMAP_AHEAD_H
#define LINUX_MEMMAP_AHEAD_H

#include "linux/kmem.h"

struct memmap_ahead;
/* `size` of a struct page. NULL: no memory. */
struct memmap_ahead *memmap_ahead_create(struct atw_source *mem, uint32_t size);
void memmap_ahead_destroy(struct memmap_ahead *a);

/*
 * The struct pages of `n` frames from pfn on, which lie in this place one behind the
 * other, will be asked for. As many are taken as there is room for.
 */
void memmap_ahead_add(struct memmap_ahead *a, uint64_t pfn, uint64_t n, atw_pa pa);
/* How often those that were added have been read. */
uint64_t memmap_ahead_reads(const struct memmap_ahead *a);
/* Forget all that were added, so that there is room for others. */
void memmap_ahead_anew(struct memmap_ahead *a);
/*
 * If it was added: its bytes, good until the next call of add, and of how many frames
 * from it on they follow there. Or NULL.
 */
const uint8_t *memmap_ahead_find(struct memmap_ahead *a, struct kmem *m, uint64_t pfn,
				 uint64_t *ret_n);
/*
 * The page of the kernel's memory that begins at this address, good until the next
 * call. NULL and why.
 */
const uint8_t *memmap_ahead_page(struct memmap_ahead *a, struct kmem *m, uint64_t address,
				 struct atw_err *err);

#endif
