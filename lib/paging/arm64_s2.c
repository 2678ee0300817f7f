// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64_s2.c - VMSAv8-64 stage 2: guest-physical to physical addresses, for 4K, 16K and
 * 64K granules.
 *
 * Arm ARM DDI 0487: D8.2.2 (concatenated tables: the root is up to 16 tables, one behind
 * the other, so that a level is saved), D8.3.1 (descriptor formats), D8.4.2 (stage 2
 * permissions), and AArch64.S2DirectBasePermissions of its pseudocode. Names end with the
 * number of bits of a guest-physical address, which is 64 - VTCR_EL2.T0SZ; as in KVM, a
 * walk begins at the lowest level that 16 tables can be the root of.
 */
#include "paging/arm64.h"

#define S2AP_R BIT(6)
#define S2AP_W BIT(7)
#define S2_XN  BITS(54, 53)

/* Tables restrict nothing. XN[1:0]: 1 not at EL1, 2 neither, 3 not at EL0. */
static const struct atw_right_rule rights[] = {
	{ S2AP_R, 0, ATW_L_ALL, K_LEAF | LEAVES_FROM_HERE, ATW_KR | ATW_UR },
	{ S2AP_W, 0, ATW_L_ALL, K_LEAF, ALL_W },
	{ S2_XN, 1ull << 53, ATW_L_ALL, K_LEAF, ATW_KX },
	{ S2_XN, 2ull << 53, ATW_L_ALL, K_LEAF, ALL_X },
	{ S2_XN, 3ull << 53, ATW_L_ALL, K_LEAF, ATW_UX },
	{ 0 }
};

#define MEMATTR(n, letter) \
	{ BITS(5, 2), (uint64_t)(n) << 2, ATW_L_ALL, K_LEAF, letter, "memattr" #n, \
	  "memory type MemAttr " #n }

#define S2_FLAGS \
	MEMATTR(0, '0'), MEMATTR(1, '1'), MEMATTR(2, '2'), MEMATTR(3, '3'), \
	MEMATTR(4, '4'), MEMATTR(5, '5'), MEMATTR(6, '6'), MEMATTR(7, '7'), \
	MEMATTR(8, '8'), MEMATTR(9, '9'), MEMATTR(10, 'a'), MEMATTR(11, 'b'), \
	MEMATTR(12, 'c'), MEMATTR(13, 'd'), MEMATTR(14, 'e'), MEMATTR(15, 'f'), \
	FLAG(6, ATW_L_ALL, K_LEAF, 'R', "r", "reads allowed"), \
	FLAG(7, ATW_L_ALL, K_LEAF, 'W', "w", "writes allowed"), \
	FLAG(10, ATW_L_ALL, K_ANY, 'A', "af", "access flag: it was used"), \
	FLAG(11, ATW_L_ALL, K_LEAF, 'n', "fnxs", "TLB invalidation may skip it"), \
	FLAG(16, ATW_L_FROM(1), K_LEAF, 'T', "nt", "block: TLB may not cache it"), \
	FLAG(51, ATW_L_ALL, K_LEAF, 'D', "dbm", "hardware may mark it dirty"), \
	FLAG(52, ATW_L_ALL, K_LEAF, 'C', "contig", "one of a contiguous run"), \
	{ S2_XN, 1ull << 53, ATW_L_ALL, K_LEAF, 'P', "pxn", "no execution at EL1" }, \
	{ S2_XN, 2ull << 53, ATW_L_ALL, K_LEAF, 'X', "xn", "no execution" }, \
	{ S2_XN, 3ull << 53, ATW_L_ALL, K_LEAF, 'U', "uxn", "no execution at EL0" }, \
	FLAG(55, ATW_L_ALL, K_LEAF, 'p', "sw55", "software bit"), \
	FLAG(56, ATW_L_ALL, K_LEAF, 'q', "sw56", "software bit"), \
	FLAG(57, ATW_L_ALL, K_LEAF, 's', "sw57", "software bit"), \
	FLAG(58, ATW_L_ALL, K_LEAF, 't', "sw58", "software bit")

static const struct atw_flag flags[] = { S2_FLAGS, AL_SHAREABLE, { 0 } };
static const struct atw_flag flags_lpa2[] = { S2_FLAGS, { 0 } };

static const struct atw_property_rule properties[] = {
	HAS(10, ATW_L_ALL, K_ANY, ATW_ACCESSED),
	/* D8.5.2: hardware updates the dirty state by making a DBM entry writable */
	{ BIT(51) | S2AP_W, BIT(51) | S2AP_W, ATW_L_ALL, K_LEAF, ATW_DIRTY },
	{ 0 }
};

#define STAGE .halves = ATW_FLAT, .stage2 = true

PAGING_MODE(arm64_s2_4k_32, "arm64-s2-4k-32",
	    "arm64 stage 2, 4K pages, 4 GiB, 4 root tables",
	    GRANULE_4K, 32, 2, { "PTE", 12, 9 }, { "PGD", 21, 11 });
PAGING_MODE(arm64_s2_4k_36, "arm64-s2-4k-36", "arm64 stage 2, 4K pages, 64 GiB",
	    GRANULE_4K, 36, 3, LEVELS_4K_2, { "PGD", 30, 6 });
PAGING_MODE(arm64_s2_4k_40, "arm64-s2-4k-40",
	    "arm64 stage 2, 4K pages, 1 TiB, 2 root tables",
	    GRANULE_4K, 40, 3, LEVELS_4K_2, { "PGD", 30, 10 });
PAGING_MODE(arm64_s2_4k_42, "arm64-s2-4k-42",
	    "arm64 stage 2, 4K pages, 4 TiB, 8 root tables",
	    GRANULE_4K, 42, 3, LEVELS_4K_2, { "PGD", 30, 12 });
PAGING_MODE(arm64_s2_4k_44, "arm64-s2-4k-44", "arm64 stage 2, 4K pages, 16 TiB",
	    GRANULE_4K, 44, 4, LEVELS_4K_3, { "PGD", 39, 5 });
PAGING_MODE(arm64_s2_4k_48, "arm64-s2-4k-48", "arm64 stage 2, 4K pages, 256 TiB",
	    GRANULE_4K, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(arm64_s2_4k_52, "arm64-s2-4k-52",
	    "arm64 stage 2, 4K pages, LPA2, 4 PiB, 16 root tables",
	    GRANULE_4K_LPA2, 52, 4, LEVELS_4K_3, { "PGD", 39, 13 });
PAGING_MODE(arm64_s2_16k_40, "arm64-s2-16k-40",
	    "arm64 stage 2, 16K pages, 1 TiB, 16 root tables",
	    GRANULE_16K, 40, 2, { "PTE", 14, 11 }, { "PGD", 25, 15 });
PAGING_MODE(arm64_s2_16k_48, "arm64-s2-16k-48",
	    "arm64 stage 2, 16K pages, 256 TiB, 2 root tables",
	    GRANULE_16K, 48, 3, { "PTE", 14, 11 }, { "PMD", 25, 11 }, { "PGD", 36, 12 });
PAGING_MODE(arm64_s2_16k_52, "arm64-s2-16k-52", "arm64 stage 2, 16K pages, LPA2, 4 PiB",
	    GRANULE_16K_LPA2, 52, 4, { "PTE", 14, 11 }, { "PMD", 25, 11 },
	    { "PUD", 36, 11 }, { "PGD", 47, 5 });
PAGING_MODE(arm64_s2_64k_40, "arm64-s2-64k-40", "arm64 stage 2, 64K pages, 1 TiB",
	    GRANULE_64K, 40, 2, { "PTE", 16, 13 }, { "PGD", 29, 11 });
PAGING_MODE(arm64_s2_64k_48, "arm64-s2-64k-48", "arm64 stage 2, 64K pages, 256 TiB",
	    GRANULE_64K, 48, 3, { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 6 });
PAGING_MODE(arm64_s2_64k_52, "arm64-s2-64k-52", "arm64 stage 2, 64K pages, 4 PiB",
	    GRANULE_64K, 52, 3, { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 10 });

const struct atw_extension atw_extensions_arm64_s2[] = EXTENSIONS_LPA2(true);
