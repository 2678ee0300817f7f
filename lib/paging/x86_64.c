// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86_64.c - x86 4-level and 5-level paging, and AMD nested paging (NPT), which translates
 * guest-physical addresses by tables of the same format.
 *
 * Intel SDM vol. 3A 4.5, tables 4-15 to 4-20; AMD APM vol. 2, 5.3. Bits 52..58 (in tables
 * 52..62) are ignored by the CPU, not reserved. Address bits above MAXPHYADDR of the CPU
 * are reserved; it is not recorded in an entry, so all of 12..51 count as address.
 */
#include "paging/x86.h"

static const struct atw_rule rules[] = {
	{ X86_P | X86_PS, X86_P, 0, ATW_L_FROM(1), ATW_TABLE },
	{ X86_P, X86_P, 0, ATW_L(0), ATW_LEAF },
	{ X86_P, 0, 0, ATW_L_ALL, ATW_ABSENT },
	/* 2 MiB, 1 GiB; the address bits below their alignment are reserved */
	{ X86_P | X86_PS | BITS(20, 13), X86_P | X86_PS, 0, ATW_L(1), ATW_LEAF },
	{ X86_P | X86_PS | BITS(29, 13), X86_P | X86_PS, 0, ATW_L(2), ATW_LEAF },
	/* PS is reserved in a PML4E and a PML5E */
	{ 0, 0, 0, ATW_L_ALL, ATW_BAD },
};

static const struct atw_right_rule rights[] = {
	X86_RIGHTS(ATW_L_ALL),
	{ X86_NX, X86_NX, ATW_L_ALL, K_ANY, ALL_X },
	{ 0 }
};

/* AMD APM vol. 2, 15.25: all accesses of a guest are those of a user to nested tables. */
static const struct atw_right_rule rights_npt[] = {
	{ X86_RW, 0, ATW_L_ALL, K_ANY, ALL_W },
	{ X86_US, 0, ATW_L_ALL, K_ANY, ATW_RIGHTS_ALL },
	{ X86_NX, X86_NX, ATW_L_ALL, K_ANY, ALL_X },
	{ 0 }
};

#define PKEY(n, letter) \
	{ BITS(62, 59), (uint64_t)(n) << 59, ATW_L_ALL, K_LEAF, letter, \
	  "pkey" #n, "protection key " #n }

#define SW_FLAGS \
	FLAG(52, ATW_L_ALL, K_ANY, 'c', "sw52", "software bit"), \
	FLAG(53, ATW_L_ALL, K_ANY, 'd', "sw53", "software bit"), \
	FLAG(54, ATW_L_ALL, K_ANY, 'e', "sw54", "software bit"), \
	FLAG(55, ATW_L_ALL, K_ANY, 'f', "sw55", "software bit"), \
	FLAG(56, ATW_L_ALL, K_ANY, 'g', "sw56", "software bit"), \
	FLAG(57, ATW_L_ALL, K_ANY, 'h', "sw57", "software bit"), \
	FLAG(58, ATW_L_ALL, K_ANY, 'i', "sw58", "software bit")

/* Protection keys have these bits in leaves of a first stage. */
#define SW_OR_KEY(kinds) \
	FLAG(59, ATW_L_ALL, kinds, 'j', "sw59", "software bit"), \
	FLAG(60, ATW_L_ALL, kinds, 'k', "sw60", "software bit"), \
	FLAG(61, ATW_L_ALL, kinds, 'l', "sw61", "software bit"), \
	FLAG(62, ATW_L_ALL, kinds, 'n', "sw62", "software bit")
#define NX_FLAG FLAG(63, ATW_L_ALL, K_ANY, 'X', "nx", "no execution")

static const struct atw_flag flags[] = {
	X86_FLAGS(ATW_L_ALL), SW_FLAGS, SW_OR_KEY(K_TABLE),
	PKEY(1, 'B'), PKEY(2, 'E'), PKEY(3, 'F'), PKEY(4, 'H'), PKEY(5, 'I'),
	PKEY(6, 'J'), PKEY(7, 'K'), PKEY(8, 'L'), PKEY(9, 'M'), PKEY(10, 'N'),
	PKEY(11, 'O'), PKEY(12, 'Q'), PKEY(13, 'R'), PKEY(14, 'S'), PKEY(15, 'V'),
	NX_FLAG, { 0 }
};
static const struct atw_flag flags_npt[] = {
	X86_FLAGS(ATW_L_ALL), SW_FLAGS, SW_OR_KEY(K_ANY), NX_FLAG, { 0 }
};

static const struct atw_property_rule properties[] = { X86_PROPERTIES(ATW_L_ALL) };

#define X86_64_ANY \
	.family = ATW_X86, .page_shift = 12, .pa_bits = 52, .word_size = 8, \
	.addr = { { 51, 12, 12, 0, 0 } }, .rules = rules, .properties = properties
#define X86_64 X86_64_ANY, .halves = ATW_SIGNED, .rights = rights, .flags = flags
#define NPT X86_64_ANY, .halves = ATW_FLAT, .stage2 = true, .rights = rights_npt, \
	.flags = flags_npt

PAGING_MODE(x86_64_4, "x86_64-4", "x86 4-level paging, 256 TiB",
	    X86_64, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(x86_64_5, "x86_64-5", "x86 5-level paging (LA57), 128 PiB",
	    X86_64, 57, 5, LEVELS_4K_4, { "PGD", 48, 9 });

PAGING_MODE(npt_4, "npt-4", "AMD nested paging (NPT), 4 levels, 256 TiB",
	    NPT, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(npt_5, "npt-5", "AMD nested paging (NPT), 5 levels, 128 PiB",
	    NPT, 57, 5, LEVELS_4K_4, { "PGD", 48, 9 });
