// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * i386.c - x86 32-bit paging with PSE-36, and PAE paging.
 *
 * Intel SDM vol. 3A 4.3 (tables 4-4 to 4-6), 4.4 (tables 4-8 to 4-11).
 */
#include "paging/x86.h"

/* ---- 32-bit paging ---- */

static const struct atw_rule rules[] = {
	{ X86_P, 0, 0, ATW_L_ALL, ATW_ABSENT },
	{ X86_P, X86_P, 0, ATW_L(0), ATW_LEAF },
	{ X86_P | X86_PS, X86_P, 0, ATW_L(1), ATW_TABLE },
	/* 4 MiB; bit 21 is the one between both address fields */
	{ X86_P | X86_PS | BIT(21), X86_P | X86_PS, 0, ATW_L(1), ATW_LEAF },
	{ 0, 0, 0, ATW_L_ALL, ATW_BAD },
};

static const struct atw_right_rule rights[] = {
	X86_RIGHTS(ATW_L_ALL),
	{ 0 }
};

static const struct atw_flag flags[] = {
	X86_FLAGS(ATW_L_ALL),
	{ 0 }
};

static const struct atw_property_rule properties[] = { X86_PROPERTIES(ATW_L_ALL) };

const struct atw_paging atw_mode_i386 = {
	.name = "i386", .help = "x86 32-bit paging, with PSE-36",
	.family = ATW_X86, .halves = ATW_FLAT, .page_shift = 12,
	.pa_bits = 40, .va_bits = 32, .word_size = 4, .nlevels = 2,
	.level = { { "PTE", 12, 10 }, { "PGD", 22, 10 } },
	.addr = {
		{ 31, 12, 12, 0, 0 },
		{ 20, 13, 32, X86_PS, X86_PS },
	},
	.rules = rules, .rights = rights, .flags = flags, .properties = properties,
};

/* ---- PAE ---- */

/* Bits 62..52 are reserved here, unlike in 4-level paging. */
#define PAE_RSV   BITS(62, 52)
/* A PDPTE has no rights, no A, no page size and no NX either: table 4-8. */
#define PDPTE_RSV (BITS(63, 52) | BITS(8, 5) | BITS(2, 1))

static const struct atw_rule pae_rules[] = {
	{ X86_P, 0, 0, ATW_L_ALL, ATW_ABSENT },
	{ X86_P | PAE_RSV, X86_P, 0, ATW_L(0), ATW_LEAF },
	{ X86_P | X86_PS | PAE_RSV, X86_P, 0, ATW_L(1), ATW_TABLE },
	{ X86_P | PDPTE_RSV, X86_P, 0, ATW_L(2), ATW_TABLE },
	{ X86_P | X86_PS | PAE_RSV | BITS(20, 13), X86_P | X86_PS, 0,
	  ATW_L(1), ATW_LEAF },
	{ 0, 0, 0, ATW_L_ALL, ATW_BAD },
};

#define PAE_LV (ATW_L(0) | ATW_L(1))

static const struct atw_right_rule pae_rights[] = {
	X86_RIGHTS(PAE_LV),
	{ X86_NX, X86_NX, PAE_LV, K_ANY, ALL_X },
	{ 0 }
};

static const struct atw_flag pae_flags[] = {
	X86_FLAGS(PAE_LV),
	FLAG(63, PAE_LV, K_ANY, 'X', "nx", "no execution"),
	{ 0 }
};

static const struct atw_property_rule pae_properties[] = { X86_PROPERTIES(PAE_LV) };

const struct atw_paging atw_mode_i386_pae = {
	.name = "i386-pae", .help = "x86 32-bit paging with physical address extension",
	.family = ATW_X86, .halves = ATW_FLAT, .page_shift = 12,
	.pa_bits = 52, .va_bits = 32, .word_size = 8, .nlevels = 3,
	.level = { LEVELS_4K_2, { "PGD", 30, 2 } },
	.addr = { { 51, 12, 12, 0, 0 } },
	.rules = pae_rules, .rights = pae_rights, .flags = pae_flags,
	.properties = pae_properties,
};
