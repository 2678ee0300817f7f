/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86.h - the entry bits that all x86 modes share.
 *
 * Intel SDM vol. 3A: 4.3 (32-bit), 4.4 (PAE), 4.5 (4- and 5-level paging), 4.6
 * (access rights), 4.9 (memory types); AMD APM vol. 2: 5.3, 5.4, 5.6, 7.8.
 */
#pragma once

#include "paging/tables.h"

#define X86_P    BIT(0)          /* present */
#define X86_RW   BIT(1)
#define X86_US   BIT(2)
#define X86_PWT  BIT(3)
#define X86_PCD  BIT(4)
#define X86_PS   BIT(7)          /* page size; in a PTE this bit is PAT */
#define X86_PAT4K BIT(7)
#define X86_PATLG BIT(12)        /* PAT of a large leaf */
#define X86_NX   BIT(63)

#define X86_PTE  ATW_L(0)
#define X86_LARGE ATW_L_FROM(1)

/*
 * A leaf's memory type is PAT[pat << 2 | pcd << 1 | pwt]. The names are those
 * of the table that Linux programs (arch/x86/mm/pat/memtype.c): WB WC UC- UC,
 * WB WP UC- WT. Without PWT the upper half repeats the lower one.
 */
#define X86_TYPE(levels, pat, type, letter, name, help) \
	{ (pat) | X86_PCD | X86_PWT, (type), levels, K_LEAF, letter, name, help }
#define X86_TYPES(levels, pat) \
	X86_TYPE(levels, pat, X86_PWT, \
		 'w', "wc", "memory type write-combining"), \
	X86_TYPE(levels, pat, X86_PCD | X86_PWT, \
		 'u', "uc", "memory type uncached"), \
	X86_TYPE(levels, pat, (pat) | X86_PWT, \
		 'o', "wp", "memory type write-protected"), \
	X86_TYPE(levels, pat, (pat) | X86_PCD | X86_PWT, \
		 't', "wt", "memory type write-through")

#define X86_PROPERTIES(lv) \
	HAS(5, lv, K_ANY, ATW_ACCESSED), HAS(6, ATW_L_ALL, K_LEAF, ATW_DIRTY), \
	HAS(8, ATW_L_ALL, K_LEAF, ATW_GLOBAL), { 0 }

/* `lv`: levels with permissions in their entries; the others have PWT and PCD only. */
#define X86_FLAGS(lv) \
	FLAG(1, lv, K_ANY, 'W', "rw", "writes allowed"), \
	FLAG(2, lv, K_ANY, 'U', "us", "user access allowed"), \
	FLAG(3, ATW_L_ALL, K_ANY, 'T', "pwt", "page-level write-through"), \
	FLAG(4, ATW_L_ALL, K_ANY, 'C', "pcd", "page-level cache disable"), \
	FLAG(5, lv, K_ANY, 'A', "accessed", "used by the CPU"), \
	FLAG(6, ATW_L_ALL, K_LEAF, 'D', "dirty", "written by the CPU"), \
	FLAG(7, X86_LARGE, K_LEAF, 'P', "large", "maps a large page"), \
	FLAG(8, ATW_L_ALL, K_LEAF, 'G', "global", "survives a CR3 switch"), \
	FLAG(7, X86_PTE, K_LEAF, 'a', "pat", "memory type index, high bit"), \
	FLAG(12, X86_LARGE, K_LEAF, 'a', "pat", "memory type index, high bit"), \
	X86_TYPE(ATW_L_ALL, 0ull, 0, 'b', "wb", "memory type write-back"), \
	X86_TYPE(ATW_L_ALL, 0ull, X86_PCD, \
		 'm', "uc-minus", "memory type uncached unless MTRRs say WC"), \
	X86_TYPES(X86_PTE, X86_PAT4K), \
	X86_TYPES(X86_LARGE, X86_PATLG), \
	FLAG(9, ATW_L_ALL, K_ANY, '1', "sw9", "software bit"), \
	FLAG(10, ATW_L_ALL, K_ANY, '2', "sw10", "software bit"), \
	FLAG(11, ATW_L_ALL, K_ANY, '3', "sw11", "software bit")

/* W and U are the AND over the path, NX the OR: 4.6.1. */
#define X86_RIGHTS(lv) \
	{ X86_RW, 0, lv, K_ANY, ALL_W }, \
	{ X86_US, 0, lv, K_ANY, USER_ALL }
