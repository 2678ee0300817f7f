// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm.c - 32-bit Arm: the Short-descriptor format, and LPAE.
 *
 * Arm ARM DDI 0406 B3.5.1 (Short-descriptor formats), B3.6.1 (Long-descriptor formats),
 * B3.7.1 (access permissions), B3.7.2 (execute-never); in DDI 0487 the same is in G5.4,
 * G5.5. Permissions are decoded with SCTLR.AFE 0, as Linux uses the short format; domains
 * are assumed to be Client, because DACR is not part of the tables.
 */
#include "paging/arm_long.h"

/* ---- Short-descriptor ---- */

#define TYPE      BITS(1, 0)
#define PAGES     ATW_L(0)
#define SECTIONS  ATW_L(1)
#define SUPER     BIT(18)        /* of a section: it is one of a supersection */

/* Second level: 01 large page, 1x small page (bit 0 is XN).
 * First level: 01 table, 1x section (bit 0 is PXN, or SBZ before that). */
static const struct atw_rule rules[] = {
	{ TYPE, 0, 0, ATW_L_ALL, ATW_ABSENT },
	{ 0, 0, 0, PAGES, ATW_LEAF },
	{ TYPE, 1, 0, SECTIONS, ATW_TABLE },
	{ 0, 0, 0, SECTIONS, ATW_LEAF },
	{ 0, 0, 0, ATW_L_ALL, ATW_BAD },
};

/* AP[2], AP[1:0]: 15, 11:10 in a section; 9, 5:4 in a page. */
#define AP(levels, ap2, ap10) \
	/* x00: no access (100 is reserved) */ \
	{ 3ull << (ap10), 0, levels, K_LEAF, ATW_RIGHTS_ALL }, \
	/* x01: kernel only; execution requires read permission */ \
	{ 3ull << (ap10), 1ull << (ap10), levels, K_LEAF, USER_ALL }, \
	/* 010: users read */ \
	{ BIT(ap2) | 3ull << (ap10), 2ull << (ap10), levels, K_LEAF, ATW_UW }, \
	/* 1xx: read-only */ \
	{ BIT(ap2), BIT(ap2), levels, K_LEAF, ALL_W }

static const struct atw_right_rule rights[] = {
	{ BIT(2), BIT(2), SECTIONS, K_TABLE, ATW_KX },              /* PXN */
	AP(PAGES, 9, 4),
	{ BIT(1) | BIT(0), BIT(1) | BIT(0), PAGES, K_LEAF, ALL_X }, /* small */
	{ BIT(15) | TYPE, BIT(15) | 1, PAGES, K_LEAF, ALL_X },      /* large */
	AP(SECTIONS, 15, 10),
	{ BIT(0), BIT(0), SECTIONS, K_LEAF, ATW_KX },
	{ BIT(4), BIT(4), SECTIONS, K_LEAF, ALL_X },
	{ 0 }
};

#define DOMAIN(n, letter) \
	{ BITS(8, 5), (uint64_t)(n) << 5, SECTIONS, K_TABLE, letter, \
	  "domain" #n, "memory domain " #n }, \
	/* a supersection has address bits there, and domain 0 */ \
	{ SUPER | BITS(8, 5), (uint64_t)(n) << 5, SECTIONS, K_LEAF, letter, \
	  "domain" #n, "memory domain " #n }

#define SMALL(bit, letter, name, help) \
	{ BIT(bit) | BIT(1), BIT(bit) | BIT(1), PAGES, K_LEAF, letter, name, help }
#define BIG(bit, letter, name, help) \
	{ BIT(bit) | TYPE, BIT(bit) | 1, PAGES, K_LEAF, letter, name, help }

static const struct atw_flag flags[] = {
	FLAG(2, ATW_L_ALL, K_LEAF, 'B', "b", "memory type, bit B"),
	FLAG(3, ATW_L_ALL, K_LEAF, 'C', "c", "memory type, bit C"),
	/* pages */
	SMALL(0, 'X', "xn", "no execution"),
	SMALL(6, 't', "tex0", "memory type, TEX[0]"),
	SMALL(7, 'u', "tex1", "memory type, TEX[1]"),
	SMALL(8, 'v', "tex2", "memory type, TEX[2]"),
	{ TYPE, 1, PAGES, K_LEAF, 'L', "large", "one of a 64K large page" },
	BIG(12, 't', "tex0", "memory type, TEX[0]"),
	BIG(13, 'u', "tex1", "memory type, TEX[1]"),
	BIG(14, 'v', "tex2", "memory type, TEX[2]"),
	BIG(15, 'X', "xn", "no execution"),
	FLAG(4, PAGES, K_LEAF, 'a', "ap0", "permission AP[0]"),
	FLAG(5, PAGES, K_LEAF, 'U', "ap1", "permission AP[1]: user access"),
	FLAG(9, PAGES, K_LEAF, 'R', "ap2", "permission AP[2]: read-only"),
	FLAG(10, PAGES, K_LEAF, 's', "shared", "shareable"),
	FLAG(11, PAGES, K_LEAF, 'n', "ng", "not global: of one ASID"),
	/* sections */
	FLAG(0, SECTIONS, K_LEAF, 'P', "pxn", "no execution by the kernel"),
	FLAG(4, SECTIONS, K_LEAF, 'X', "xn", "no execution"),
	FLAG(10, SECTIONS, K_LEAF, 'a', "ap0", "permission AP[0]"),
	FLAG(11, SECTIONS, K_LEAF, 'U', "ap1", "permission AP[1]: user access"),
	FLAG(12, SECTIONS, K_LEAF, 't', "tex0", "memory type, TEX[0]"),
	FLAG(13, SECTIONS, K_LEAF, 'u', "tex1", "memory type, TEX[1]"),
	FLAG(14, SECTIONS, K_LEAF, 'v', "tex2", "memory type, TEX[2]"),
	FLAG(15, SECTIONS, K_LEAF, 'R', "ap2", "permission AP[2]: read-only"),
	FLAG(16, SECTIONS, K_LEAF, 's', "shared", "shareable"),
	FLAG(17, SECTIONS, K_LEAF, 'n', "ng", "not global: of one ASID"),
	FLAG(18, SECTIONS, K_LEAF, 'L', "large", "one of a 16M supersection"),
	FLAG(19, SECTIONS, K_LEAF, 'S', "ns", "non-secure"),
	FLAG(2, SECTIONS, K_TABLE, 'P', "pxn", "no execution by the kernel below"),
	FLAG(3, SECTIONS, K_TABLE, 'S', "ns", "non-secure below"),
	DOMAIN(1, '1'), DOMAIN(2, '2'), DOMAIN(3, '3'), DOMAIN(4, '4'),
	DOMAIN(5, '5'), DOMAIN(6, '6'), DOMAIN(7, '7'), DOMAIN(8, '8'),
	DOMAIN(9, '9'), DOMAIN(10, 'A'), DOMAIN(11, 'D'), DOMAIN(12, 'E'),
	DOMAIN(13, 'F'), DOMAIN(14, 'G'), DOMAIN(15, 'H'),
	{ 0 }
};

/* Sixteen identical entries; the address bits inside of the range come from the VA. */
static const struct atw_span_rule spans[] = {
	{ TYPE, 1, PAGES, 16, true },
	{ SUPER | BIT(1), SUPER | BIT(1), SECTIONS, 24, true },
	{ 0 }
};

/* Linux has accessed and dirty in a table of its own, and not here. */
static const struct atw_property_rule properties[] = {
	LACKS(11, PAGES, K_LEAF, ATW_GLOBAL), LACKS(17, SECTIONS, K_LEAF, ATW_GLOBAL), { 0 }
};

const struct atw_paging atw_mode_arm = {
	.name = "arm", .help = "32-bit Arm, Short-descriptor format",
	.family = ATW_ARM, .halves = ATW_FLAT, .page_shift = 12,
	.pa_bits = 40, .va_bits = 32, .word_size = 4, .nlevels = 2,
	.level = { { "PTE", 12, 8 }, { "PGD", 20, 12 } },
	.addr = {
		/* a table of 256 entries is 1 KiB, so its address has two bits more */
		{ 31, 10, 10, 0, 0 },
		{ 23, 20, 32, SUPER | BIT(1), SUPER | BIT(1) },
		{ 8, 5, 36, SUPER | BIT(1), SUPER | BIT(1) },
	},
	.rules = rules, .rights = rights, .flags = flags, .spans = spans,
	.properties = properties,
};

/* ---- LPAE ---- */

/* 2M, 1G. Bits 47:40 are SBZP in ARMv7 and fault in ARMv8: not decoded. */
static const struct atw_rule lpae_rules[] = AL_RULES(ATW_L(1) | ATW_L(2));

/* XN applies to both privileges, and execution requires read permission. */
static const struct atw_right_rule lpae_rights[] = {
	{ AL_APTABLE0, AL_APTABLE0, ATW_L_ALL, K_TABLE, USER_ALL },
	{ AL_APTABLE1, AL_APTABLE1, ATW_L_ALL, K_TABLE, ALL_W },
	{ AL_PXNTABLE, AL_PXNTABLE, ATW_L_ALL, K_TABLE, ATW_KX },
	{ AL_XNTABLE, AL_XNTABLE, ATW_L_ALL, K_TABLE, ALL_X },
	{ AL_AP1, 0, ATW_L_ALL, K_LEAF | LEAVES_FROM_HERE, USER_ALL },
	{ AL_AP2, AL_AP2, ATW_L_ALL, K_LEAF, ALL_W },
	{ AL_PXN, AL_PXN, ATW_L_ALL, K_LEAF, ATW_KX },
	{ AL_XN, AL_XN, ATW_L_ALL, K_LEAF, ALL_X },
	{ 0 }
};

static const struct atw_flag lpae_flags[] = {
	AL_FLAGS, AL_SHAREABLE,
	FLAG(10, ATW_L_ALL, K_LEAF, 'A', "af", "access flag: it was used"),
	FLAG(54, ATW_L_ALL, K_LEAF, 'X', "xn", "no execution"),
	FLAG(60, ATW_L_ALL, K_TABLE, 'X', "xntable", "no execution below"),
	{ 0 }
};

/* The root has only four entries: no contiguous range of 16 there. */
static const struct atw_span_rule lpae_spans[] = {
	{ AL_CONTIG, AL_CONTIG, ATW_L(0), 16, false },
	{ AL_CONTIG, AL_CONTIG, ATW_L(1), 25, false },
	{ 0 }
};

static const struct atw_property_rule lpae_properties[] = {
	AL_PROPERTIES(K_LEAF), { 0 }
};

const struct atw_paging atw_mode_arm_lpae = {
	.name = "arm-lpae", .help = "32-bit Arm, Long-descriptor format (LPAE)",
	.family = ATW_ARM, .halves = ATW_FLAT, .page_shift = 12,
	.pa_bits = 40, .va_bits = 32, .word_size = 8, .nlevels = 3,
	.level = { LEVELS_4K_2, { "PGD", 30, 2 } },
	.addr = { { 39, 12, 12, 0, 0 } },
	.rules = lpae_rules, .rights = lpae_rights, .flags = lpae_flags,
	.spans = lpae_spans, .properties = lpae_properties,
};
