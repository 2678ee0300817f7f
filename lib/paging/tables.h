/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.h - macros for the tables of paging modes.
 *
 * To add a mode: write its tables in a file of this folder, define one `const struct
 * atw_paging atw_mode_NAME` or PAGING_MODE(NAME, ...), and add MODE(NAME) to modes.def.
 * tests/unit/paging_tables.c then checks the tables.
 *
 * Three conventions in addition to paging/paging.h are used by entry.c only:
 *
 * - An address field with a condition (PSE-36, Arm supersections) applies to leaves
 *   above level 0. At level 0 the same bits have another meaning: bit 7 of an x86 PTE is
 *   PAT, bit 18 of an Arm small page is an address bit.
 * - A right rule with IF_USER_WRITES in its kinds matches only if ATW_UW remains after
 *   the rules before it.
 * - LEAVES_FROM_HERE in the kinds of a right rule: this rule and the later ones do not
 *   match tables, so a walk skips them there.
 */
#pragma once

#include "paging/paging.h"

#define BIT(n)        (1ull << (n))
#define BITS(hi, lo)  ((~0ull >> (63 - (hi))) & (~0ull << (lo)))

#define K_TABLE       ATW_K(ATW_TABLE)
#define K_LEAF        ATW_K(ATW_LEAF)
#define K_ANY         ATW_K_ANY
#define IF_USER_WRITES 0x80
#define LEAVES_FROM_HERE 0x40

#define KERNEL_ALL    (ATW_KR | ATW_KW | ATW_KX)
#define USER_ALL      (ATW_UR | ATW_UW | ATW_UX)
#define ALL_W         (ATW_KW | ATW_UW)
#define ALL_X         (ATW_KX | ATW_UX)

/* The levels below the root, by how many: 4K tables of 9 bits, as most CPUs have them. */
#define LEVELS_4K_2 { "PTE", 12, 9 }, { "PMD", 21, 9 }
#define LEVELS_4K_3 LEVELS_4K_2, { "PUD", 30, 9 }
#define LEVELS_4K_4 LEVELS_4K_3, { "P4D", 39, 9 }

/* The flag of one bit that is set. */
#define FLAG(bit, levels, kinds, letter, name, help) \
	{ BIT(bit), BIT(bit), levels, kinds, letter, name, help }

/* One bit that is set, and one that is clear. */
#define HAS(bit, levels, kinds, what) { BIT(bit), BIT(bit), levels, kinds, what }
#define LACKS(bit, levels, kinds, what) { BIT(bit), 0, levels, kinds, what }

/* A mode, but for what `common` sets. The levels are from the pages up to the root. */
#define PAGING_MODE(id, mode_name, text, common, bits, levels, ...) \
	const struct atw_paging atw_mode_##id = { \
		.name = mode_name, .help = text, common, .va_bits = bits, \
		.nlevels = levels, .level = { __VA_ARGS__ }, \
	}

/* What an extension substitutes for a mode's own tables. */
struct atw_extension {
	const char *name;        /* NULL ends a list */
	enum atw_family family;
	uint8_t page_shift, word_size;   /* the modes it applies to */
	uint8_t pa_bits;
	struct atw_bits addr[4];
	const struct atw_rule *rules;
	const struct atw_flag *flags;
	const struct atw_span_rule *spans;
	bool stage2;
};

extern const struct atw_extension atw_extensions_arm64[];
extern const struct atw_extension atw_extensions_arm64_s2[];
extern const struct atw_extension atw_extensions_riscv[];

#define MODE(id) extern const struct atw_paging atw_mode_##id;
#include "paging/modes.def"
#undef MODE
