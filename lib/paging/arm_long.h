/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm_long.h - the descriptor bits that arm64 and 32-bit LPAE share.
 *
 * Arm ARM DDI 0487 D8.3.1 (descriptor formats), D8.3.2 (attribute fields);
 * DDI 0406 B3.6.1, B3.6.2 (Long-descriptor format).
 */
#pragma once

#include "paging/tables.h"

#define AL_VALID   BIT(0)
#define AL_TYPE    BITS(1, 0)    /* 3: table, or page at level 0; 1: block */
#define AL_AP1     BIT(6)        /* the less privileged may access it */
#define AL_AP2     BIT(7)        /* read-only */
#define AL_CONTIG  BIT(52)
#define AL_PXN     BIT(53)
#define AL_XN      BIT(54)       /* UXN in a regime with two privileges */
#define AL_PXNTABLE BIT(59)
#define AL_XNTABLE BIT(60)
#define AL_APTABLE0 BIT(61)      /* no access for the less privileged */
#define AL_APTABLE1 BIT(62)      /* no writes */

/*
 * The type bits. `blocks`: levels that know blocks. 01 is reserved at level 0
 * (D8.3.1.2 "Page descriptor") and where blocks of that size do not exist.
 */
#define AL_RULES(blocks) { \
	{ AL_TYPE, 3, 0, ATW_L_FROM(1), ATW_TABLE }, \
	{ AL_TYPE, 3, 0, ATW_L(0), ATW_LEAF }, \
	{ AL_VALID, 0, 0, ATW_L_ALL, ATW_ABSENT }, \
	{ AL_TYPE, 1, 0, (blocks), ATW_LEAF }, \
	{ 0, 0, 0, ATW_L_ALL, ATW_BAD }, \
}

#define AL_ATTR(n, letter) \
	{ BITS(4, 2), (uint64_t)(n) << 2, ATW_L_ALL, K_LEAF, letter, \
	  "attr" #n, "memory type MAIR.Attr" #n }

/* Shareability; with LPA2 these two bits carry address. */
#define AL_SHAREABLE \
	{ BITS(9, 8), 2ull << 8, ATW_L_ALL, K_LEAF, 'o', "outer", "outer shareable" }, \
	{ BITS(9, 8), 3ull << 8, ATW_L_ALL, K_LEAF, 'i', "inner", "inner shareable" }

/*
 * Linux keeps the dirty state in bit 55 (PTE_DIRTY, L_PTE_DIRTY). `accessed`: which kinds
 * of entries have an access flag.
 */
#define AL_PROPERTIES(accessed) \
	HAS(10, ATW_L_ALL, accessed, ATW_ACCESSED), HAS(55, ATW_L_ALL, K_LEAF, ATW_DIRTY), \
	LACKS(11, ATW_L_ALL, K_LEAF, ATW_GLOBAL)

#define AL_FLAGS \
	AL_ATTR(0, '0'), AL_ATTR(1, '1'), AL_ATTR(2, '2'), AL_ATTR(3, '3'), \
	AL_ATTR(4, '4'), AL_ATTR(5, '5'), AL_ATTR(6, '6'), AL_ATTR(7, '7'), \
	FLAG(5, ATW_L_ALL, K_LEAF, 'S', "ns", "non-secure"), \
	FLAG(6, ATW_L_ALL, K_LEAF, 'U', "user", "user access allowed (AP[1])"), \
	FLAG(7, ATW_L_ALL, K_LEAF, 'R', "readonly", "no writes (AP[2])"), \
	FLAG(11, ATW_L_ALL, K_LEAF, 'n', "ng", "not global: of one ASID"), \
	FLAG(52, ATW_L_ALL, K_LEAF, 'C', "contig", "one of a contiguous run"), \
	FLAG(53, ATW_L_ALL, K_LEAF, 'P', "pxn", "no execution by the kernel"), \
	FLAG(55, ATW_L_ALL, K_LEAF, 'a', "sw55", "software bit"), \
	FLAG(56, ATW_L_ALL, K_LEAF, 'b', "sw56", "software bit"), \
	FLAG(57, ATW_L_ALL, K_LEAF, 'c', "sw57", "software bit"), \
	FLAG(58, ATW_L_ALL, K_LEAF, 'd', "sw58", "software bit"), \
	FLAG(51, ATW_L_ALL, K_TABLE, 'j', "sw51", "ignored by hardware"), \
	FLAG(52, ATW_L_ALL, K_TABLE, 'k', "sw52", "ignored by hardware"), \
	FLAG(53, ATW_L_ALL, K_TABLE, 'l', "sw53", "ignored by hardware"), \
	FLAG(54, ATW_L_ALL, K_TABLE, 'm', "sw54", "ignored by hardware"), \
	FLAG(55, ATW_L_ALL, K_TABLE, 'a', "sw55", "ignored by hardware"), \
	FLAG(56, ATW_L_ALL, K_TABLE, 'b', "sw56", "ignored by hardware"), \
	FLAG(57, ATW_L_ALL, K_TABLE, 'c', "sw57", "ignored by hardware"), \
	FLAG(58, ATW_L_ALL, K_TABLE, 'd', "sw58", "ignored by hardware"), \
	FLAG(59, ATW_L_ALL, K_TABLE, 'P', "pxntable", "no kernel execution below"), \
	FLAG(61, ATW_L_ALL, K_TABLE, 'N', "aptable-nouser", "no user access below"), \
	FLAG(62, ATW_L_ALL, K_TABLE, 'R', "aptable-ro", "no writes below"), \
	FLAG(63, ATW_L_ALL, K_TABLE, 'S', "nstable", "non-secure below")
