// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ept.c - Intel extended page tables: guest-physical to physical addresses.
 *
 * Intel SDM vol. 3C, "EPT Translation Mechanism", "EPT Misconfigurations".
 */
#include "paging/tables.h"

#define R      BIT(0)
#define W      BIT(1)
#define X      BIT(2)
#define RWX    (R | W | X)
#define TYPE   BITS(5, 3)
#define LARGE  BIT(7)

/* The first rule that matches decides. */
static const struct atw_rule rules[] = {
	{ RWX, 0, 0, ATW_L_ALL, ATW_ABSENT },
	/* misconfigurations: W without R, memory types that do not exist */
	{ R | W, W, 0, ATW_L_ALL, ATW_BAD },
	{ LARGE | BITS(6, 3), 0, 0, ATW_L_FROM(1), ATW_TABLE },
	{ LARGE, 0, 0, ATW_L_FROM(1), ATW_BAD },
	{ LARGE, LARGE, 0, ATW_L_FROM(3), ATW_BAD },
	{ TYPE, 2ull << 3, 0, ATW_L_ALL, ATW_BAD },
	{ TYPE, 3ull << 3, 0, ATW_L_ALL, ATW_BAD },
	{ TYPE, 7ull << 3, 0, ATW_L_ALL, ATW_BAD },
	/* large pages are aligned */
	{ 0, 0, BITS(20, 12), ATW_L(1), ATW_BAD },
	{ 0, 0, BITS(29, 12), ATW_L(2), ATW_BAD },
	{ 0, 0, 0, ATW_L_ALL, ATW_LEAF },
};

/* The AND over the path. */
static const struct atw_right_rule rights[] = {
	{ R, 0, ATW_L_ALL, K_ANY, ATW_KR | ATW_UR },
	{ W, 0, ATW_L_ALL, K_ANY, ALL_W },
	{ X, 0, ATW_L_ALL, K_ANY, ALL_X },
	{ 0 }
};

#define MEMORY(type, letter, name, help) \
	{ TYPE, (uint64_t)(type) << 3, ATW_L_ALL, K_LEAF, letter, name, help }

static const struct atw_flag flags[] = {
	FLAG(0, ATW_L_ALL, K_ANY, 'R', "r", "reads allowed"),
	FLAG(1, ATW_L_ALL, K_ANY, 'W', "w", "writes allowed"),
	FLAG(2, ATW_L_ALL, K_ANY, 'X', "x", "execution allowed"),
	MEMORY(0, 'u', "uc", "memory type uncached"),
	MEMORY(1, 'c', "wc", "memory type write-combining"),
	MEMORY(4, 't', "wt", "memory type write-through"),
	MEMORY(5, 'p', "wp", "memory type write-protected"),
	MEMORY(6, 'b', "wb", "memory type write-back"),
	FLAG(6, ATW_L_ALL, K_LEAF, 'i', "ipat", "the guest's PAT is ignored"),
	FLAG(7, ATW_L_FROM(1), K_LEAF, 'P', "large", "maps a large page"),
	FLAG(8, ATW_L_ALL, K_ANY, 'A', "accessed", "used by the CPU"),
	FLAG(9, ATW_L_ALL, K_LEAF, 'D', "dirty", "written by the CPU"),
	FLAG(10, ATW_L_ALL, K_ANY, 'x', "xu", "user execution, if there are modes"),
	FLAG(11, ATW_L_ALL, K_ANY, 's', "sw11", "software bit"),
	FLAG(52, ATW_L_ALL, K_ANY, 'm', "sw52", "software bit"),
	FLAG(53, ATW_L_ALL, K_ANY, 'n', "sw53", "software bit"),
	FLAG(57, ATW_L_ALL, K_LEAF, 'h', "sw57", "software, or verify guest paging"),
	FLAG(58, ATW_L_ALL, K_LEAF, 'w', "sw58", "software, or paging-write access"),
	FLAG(60, ATW_L_ALL, K_LEAF, 'k', "sss", "supervisor shadow stack"),
	FLAG(63, ATW_L_ALL, K_LEAF, 'v', "no-ve", "violations do not become #VE"),
	{ 0 }
};

static const struct atw_property_rule properties[] = {
	HAS(8, ATW_L_ALL, K_ANY, ATW_ACCESSED), HAS(9, ATW_L_ALL, K_LEAF, ATW_DIRTY),
	{ 0 }
};

#define EPT \
	.family = ATW_X86, .halves = ATW_FLAT, .stage2 = true, .page_shift = 12, \
	.pa_bits = 52, .word_size = 8, .addr = { { 51, 12, 12, 0, 0 } }, \
	.rules = rules, .rights = rights, .flags = flags, .properties = properties

PAGING_MODE(ept_4, "ept-4", "Intel EPT, 4 levels, 256 TiB",
	    EPT, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(ept_5, "ept-5", "Intel EPT, 5 levels, 128 PiB",
	    EPT, 57, 5, LEVELS_4K_4, { "PGD", 48, 9 });
