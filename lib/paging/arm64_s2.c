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

#define S2(shift) \
	.family = ATW_ARM64, .halves = ATW_FLAT, .stage2 = true, .page_shift = shift, \
	.word_size = 8, .rights = rights, .properties = properties
#define S2_4K \
	S2(12), .pa_bits = 48, .addr = ADDR_4K, \
	.rules = rules_4k, .flags = flags, .spans = spans_4k
#define S2_4K_LPA2 \
	S2(12), .pa_bits = 52, .addr = ADDR_4K_LPA2, \
	.rules = rules_4k_lpa2, .flags = flags_lpa2, .spans = spans_4k
#define S2_16K \
	S2(14), .pa_bits = 48, .addr = ADDR_16K, \
	.rules = rules_16k, .flags = flags, .spans = spans_16k
#define S2_16K_LPA2 \
	S2(14), .pa_bits = 52, .addr = ADDR_16K_LPA2, \
	.rules = rules_16k_lpa2, .flags = flags_lpa2, .spans = spans_16k
#define S2_64K \
	S2(16), .pa_bits = 52, .addr = ADDR_64K, \
	.rules = rules_64k, .flags = flags, .spans = spans_64k

const struct atw_paging atw_mode_arm64_s2_4k_32 = {
	.name = "arm64-s2-4k-32",
	.help = "arm64 stage 2, 4K pages, 4 GiB, 4 root tables",
	S2_4K, .va_bits = 32, .nlevels = 2,
	.level = { { "PTE", 12, 9 }, { "PGD", 21, 11 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_36 = {
	.name = "arm64-s2-4k-36",
	.help = "arm64 stage 2, 4K pages, 64 GiB",
	S2_4K, .va_bits = 36, .nlevels = 3,
	.level = { LEVELS_4K_2, { "PGD", 30, 6 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_40 = {
	.name = "arm64-s2-4k-40",
	.help = "arm64 stage 2, 4K pages, 1 TiB, 2 root tables",
	S2_4K, .va_bits = 40, .nlevels = 3,
	.level = { LEVELS_4K_2, { "PGD", 30, 10 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_42 = {
	.name = "arm64-s2-4k-42",
	.help = "arm64 stage 2, 4K pages, 4 TiB, 8 root tables",
	S2_4K, .va_bits = 42, .nlevels = 3,
	.level = { LEVELS_4K_2, { "PGD", 30, 12 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_44 = {
	.name = "arm64-s2-4k-44",
	.help = "arm64 stage 2, 4K pages, 16 TiB",
	S2_4K, .va_bits = 44, .nlevels = 4,
	.level = { LEVELS_4K_3, { "PGD", 39, 5 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_48 = {
	.name = "arm64-s2-4k-48",
	.help = "arm64 stage 2, 4K pages, 256 TiB",
	S2_4K, .va_bits = 48, .nlevels = 4,
	.level = { LEVELS_4K_3, { "PGD", 39, 9 } },
};

const struct atw_paging atw_mode_arm64_s2_4k_52 = {
	.name = "arm64-s2-4k-52",
	.help = "arm64 stage 2, 4K pages, LPA2, 4 PiB, 16 root tables",
	S2_4K_LPA2, .va_bits = 52, .nlevels = 4,
	.level = { LEVELS_4K_3, { "PGD", 39, 13 } },
};

const struct atw_paging atw_mode_arm64_s2_16k_40 = {
	.name = "arm64-s2-16k-40",
	.help = "arm64 stage 2, 16K pages, 1 TiB, 16 root tables",
	S2_16K, .va_bits = 40, .nlevels = 2,
	.level = { { "PTE", 14, 11 }, { "PGD", 25, 15 } },
};

const struct atw_paging atw_mode_arm64_s2_16k_48 = {
	.name = "arm64-s2-16k-48",
	.help = "arm64 stage 2, 16K pages, 256 TiB, 2 root tables",
	S2_16K, .va_bits = 48, .nlevels = 3,
	.level = { { "PTE", 14, 11 }, { "PMD", 25, 11 }, { "PGD", 36, 12 } },
};

const struct atw_paging atw_mode_arm64_s2_16k_52 = {
	.name = "arm64-s2-16k-52",
	.help = "arm64 stage 2, 16K pages, LPA2, 4 PiB",
	S2_16K_LPA2, .va_bits = 52, .nlevels = 4,
	.level = { { "PTE", 14, 11 }, { "PMD", 25, 11 }, { "PUD", 36, 11 }, { "PGD", 47, 5 } },
};

const struct atw_paging atw_mode_arm64_s2_64k_40 = {
	.name = "arm64-s2-64k-40",
	.help = "arm64 stage 2, 64K pages, 1 TiB",
	S2_64K, .va_bits = 40, .nlevels = 2,
	.level = { { "PTE", 16, 13 }, { "PGD", 29, 11 } },
};

const struct atw_paging atw_mode_arm64_s2_64k_48 = {
	.name = "arm64-s2-64k-48",
	.help = "arm64 stage 2, 64K pages, 256 TiB",
	S2_64K, .va_bits = 48, .nlevels = 3,
	.level = { { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 6 } },
};

const struct atw_paging atw_mode_arm64_s2_64k_52 = {
	.name = "arm64-s2-64k-52",
	.help = "arm64 stage 2, 64K pages, 4 PiB",
	S2_64K, .va_bits = 52, .nlevels = 3,
	.level = { { "PTE", 16, 13 }, { "PMD", 29, 13 }, { "PGD", 42, 10 } },
};

const struct atw_extension atw_extensions_arm64_s2[] = {
	{ "lpa2", ATW_ARM64, 12, 8, 52, ADDR_4K_LPA2,
	  rules_4k_lpa2, flags_lpa2, spans_4k, true },
	{ "lpa2", ATW_ARM64, 14, 8, 52, ADDR_16K_LPA2,
	  rules_16k_lpa2, flags_lpa2, spans_16k, true },
	{ 0 }
};
