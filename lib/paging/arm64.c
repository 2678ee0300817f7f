// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64.c - VMSAv8-64 stage 1, for 4K, 16K and 64K granules.
 *
 * Arm ARM DDI 0487: D8.2 (levels and sizes per granule), D8.3.1 (descriptor
 * formats), D8.4.1 (access permissions, hierarchical and direct), D8.7
 * (contiguous bit), and AArch64.BlockDescSupported, AArch64.LeafBase,
 * AArch64.ContiguousSize, AArch64.S1DirectBasePermissions of its pseudocode.
 *
 * The manual counts levels down the walk (-1 or 0 to 3), this library up from
 * the pages: level n here is level 3 - n there. RES0 bits do not fault and are
 * not part of any address.
 */
#include "paging/arm64.h"

/* ---- rights ---- */

static const struct atw_right_rule rights[] = {
	{ AL_APTABLE0, AL_APTABLE0, ATW_L_ALL, K_TABLE, ATW_UR | ATW_UW },
	{ AL_APTABLE1, AL_APTABLE1, ATW_L_ALL, K_TABLE, ALL_W },
	{ AL_PXNTABLE, AL_PXNTABLE, ATW_L_ALL, K_TABLE, ATW_KX },
	{ AL_XNTABLE, AL_XNTABLE, ATW_L_ALL, K_TABLE, ATW_UX },
	/* AP[1] only restricts data accesses: without it EL0 may still execute */
	{ AL_AP1, 0, ATW_L_ALL, K_LEAF | LEAVES_FROM_HERE, ATW_UR | ATW_UW },
	{ AL_AP2, AL_AP2, ATW_L_ALL, K_LEAF, ALL_W },
	{ AL_PXN, AL_PXN, ATW_L_ALL, K_LEAF, ATW_KX },
	{ AL_XN, AL_XN, ATW_L_ALL, K_LEAF, ATW_UX },
	/* pages that EL0 can write are never executable at EL1; after all of the above */
	{ 0, 0, ATW_L_ALL, K_LEAF | IF_USER_WRITES, ATW_KX },
	{ 0 }
};

/* ---- flags ---- */

#define ARM64_FLAGS \
	AL_FLAGS, \
	FLAG(10, ATW_L_ALL, K_ANY, 'A', "af", "access flag: it was used"), \
	FLAG(16, ATW_L_FROM(1), K_LEAF, 'T', "nt", "block: TLB may not cache it"), \
	FLAG(50, ATW_L_ALL, K_LEAF, 'G', "gp", "guarded: branch targets marked"), \
	FLAG(51, ATW_L_ALL, K_LEAF, 'D', "dbm", "hardware may mark it dirty"), \
	FLAG(54, ATW_L_ALL, K_LEAF, 'X', "uxn", "no execution by users"), \
	FLAG(59, ATW_L_ALL, K_LEAF, 'e', "pbha59", "page-based attribute"), \
	FLAG(60, ATW_L_ALL, K_LEAF, 'f', "pbha60", "page-based attribute"), \
	FLAG(61, ATW_L_ALL, K_LEAF, 'g', "pbha61", "page-based attribute"), \
	FLAG(62, ATW_L_ALL, K_LEAF, 'h', "pbha62", "page-based attribute"), \
	FLAG(63, ATW_L_ALL, K_LEAF, 's', "sw63", "ignored by hardware"), \
	FLAG(60, ATW_L_ALL, K_TABLE, 'X', "uxntable", "no user execution below")

static const struct atw_flag flags[] = { ARM64_FLAGS, AL_SHAREABLE, { 0 } };
static const struct atw_flag flags_lpa2[] = { ARM64_FLAGS, { 0 } };

static const struct atw_property_rule properties[] = {
	AL_PROPERTIES(K_ANY),
	/* D8.5.2: hardware updates the dirty state by making a DBM entry writable */
	{ BIT(51) | AL_AP2, BIT(51), ATW_L_ALL, K_LEAF, ATW_DIRTY },
	{ 0 }
};

#define STAGE .halves = ATW_SPLIT

/* ---- 4K ---- */

PAGING_MODE(arm64_4k_39, "arm64-4k-39", "arm64, 4K pages, 512 GiB a half",
	    GRANULE_4K, 39, 3, LEVELS_4K_2, { "PGD", 30, 9 });
PAGING_MODE(arm64_4k_42, "arm64-4k-42", "arm64, 4K pages, 4 TiB a half",
	    GRANULE_4K, 42, 4, LEVELS_4K_3, { "PGD", 39, 3 });
PAGING_MODE(arm64_4k_48, "arm64-4k-48", "arm64, 4K pages, 256 TiB a half",
	    GRANULE_4K, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(arm64_4k_52, "arm64-4k-52", "arm64, 4K pages, LPA2, 4 PiB a half",
	    GRANULE_4K_LPA2, 52, 5, LEVELS_4K_4, { "PGD", 48, 4 });

/* ---- 16K ---- */

#define LEVELS_16K_3 { "PTE", 14, 11 }, { "PMD", 25, 11 }, { "PUD", 36, 11 }

PAGING_MODE(arm64_16k_36, "arm64-16k-36", "arm64, 16K pages, 64 GiB a half",
	    GRANULE_16K, 36, 2, { "PTE", 14, 11 }, { "PGD", 25, 11 });
PAGING_MODE(arm64_16k_47, "arm64-16k-47", "arm64, 16K pages, 128 TiB a half",
	    GRANULE_16K, 47, 3, { "PTE", 14, 11 }, { "PMD", 25, 11 }, { "PGD", 36, 11 });
PAGING_MODE(arm64_16k_48, "arm64-16k-48", "arm64, 16K pages, 256 TiB a half",
	    GRANULE_16K, 48, 4, LEVELS_16K_3, { "PGD", 47, 1 });
PAGING_MODE(arm64_16k_52, "arm64-16k-52", "arm64, 16K pages, LPA2, 4 PiB a half",
	    GRANULE_16K_LPA2, 52, 4, LEVELS_16K_3, { "PGD", 47, 5 });

/* ---- 64K ---- */

PAGING_MODE(arm64_64k_42, "arm64-64k-42", "arm64, 64K pages, 4 TiB a half",
	    GRANULE_64K, 42, 2, { "PTE", 16, 13 }, { "PGD", 29, 13 });
PAGING_MODE(arm64_64k_48, "arm64-64k-48", "arm64, 64K pages, 256 TiB a half",
	    GRANULE_64K, 48, 3, { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 6 });
PAGING_MODE(arm64_64k_52, "arm64-64k-52", "arm64, 64K pages, LVA, 4 PiB a half",
	    GRANULE_64K, 52, 3, { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 10 });

const struct atw_extension atw_extensions_arm64[] = EXTENSIONS_LPA2(false);
