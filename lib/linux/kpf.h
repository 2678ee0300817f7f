/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kpf.h - bits of /proc/kpageflags, by the names they have in
 * include/uapi/linux/kernel-page-flags.h and include/linux/kernel-page-flags.h.
 */
#pragma once

#include <stdint.h>

enum kpf {
	KPF_LOCKED, KPF_ERROR, KPF_REFERENCED, KPF_UPTODATE, KPF_DIRTY, KPF_LRU,
	KPF_ACTIVE, KPF_SLAB, KPF_WRITEBACK, KPF_RECLAIM, KPF_BUDDY, KPF_MMAP,
	KPF_ANON, KPF_SWAPCACHE, KPF_SWAPBACKED, KPF_COMPOUND_HEAD,
	KPF_COMPOUND_TAIL, KPF_HUGE, KPF_UNEVICTABLE, KPF_HWPOISON, KPF_NOPAGE,
	KPF_KSM, KPF_THP, KPF_OFFLINE, KPF_ZERO_PAGE, KPF_IDLE, KPF_PGTABLE,
	KPF_RESERVED = 32, KPF_MLOCKED, KPF_OWNER_2, KPF_PRIVATE, KPF_PRIVATE_2,
	KPF_OWNER_PRIVATE, KPF_ARCH, KPF_UNCACHED, KPF_SOFTDIRTY, KPF_ARCH_2,
	KPF_ARCH_3,
	KPF_COUNT
};

static inline uint64_t kpf(enum kpf bit)
{
	return (uint64_t)1 << bit;
}
