/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kpf.c - names of the bits of /proc/kpageflags. */
#include "linux/kpf.h"

#include <stddef.h>

#include "linux/page.h"

const char *lnx_page_flag_name(unsigned bit)
{
	static const char *const names[KPF_COUNT] = {
		[KPF_LOCKED] = "LOCKED", [KPF_ERROR] = "ERROR",
		[KPF_REFERENCED] = "REFERENCED", [KPF_UPTODATE] = "UPTODATE",
		[KPF_DIRTY] = "DIRTY", [KPF_LRU] = "LRU", [KPF_ACTIVE] = "ACTIVE",
		[KPF_SLAB] = "SLAB", [KPF_WRITEBACK] = "WRITEBACK",
		[KPF_RECLAIM] = "RECLAIM", [KPF_BUDDY] = "BUDDY",
		[KPF_MMAP] = "MMAP", [KPF_ANON] = "ANON",
		[KPF_SWAPCACHE] = "SWAPCACHE", [KPF_SWAPBACKED] = "SWAPBACKED",
		[KPF_COMPOUND_HEAD] = "COMPOUND_HEAD",
		[KPF_COMPOUND_TAIL] = "COMPOUND_TAIL", [KPF_HUGE] = "HUGE",
		[KPF_UNEVICTABLE] = "UNEVICTABLE", [KPF_HWPOISON] = "HWPOISON",
		[KPF_NOPAGE] = "NOPAGE", [KPF_KSM] = "KSM", [KPF_THP] = "THP",
		[KPF_OFFLINE] = "OFFLINE", [KPF_ZERO_PAGE] = "ZERO_PAGE",
		[KPF_IDLE] = "IDLE", [KPF_PGTABLE] = "PGTABLE",
		[KPF_RESERVED] = "RESERVED", [KPF_MLOCKED] = "MLOCKED",
		[KPF_OWNER_2] = "OWNER_2", [KPF_PRIVATE] = "PRIVATE",
		[KPF_PRIVATE_2] = "PRIVATE_2",
		[KPF_OWNER_PRIVATE] = "OWNER_PRIVATE", [KPF_ARCH] = "ARCH",
		[KPF_UNCACHED] = "UNCACHED", [KPF_SOFTDIRTY] = "SOFTDIRTY",
		[KPF_ARCH_2] = "ARCH_2", [KPF_ARCH_3] = "ARCH_3",
	};

	return bit < KPF_COUNT ? names[bit] : NULL;
}
