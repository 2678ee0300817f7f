// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * riscv.c - RISC-V Sv32, Sv39, Sv48, Sv57, and Sv39x4, Sv48x4, Sv57x4 of guests.
 *
 * RISC-V Privileged ISA, "Supervisor-Level ISA": Sv32 (addressing and PTE
 * format, the translation algorithm), Sv39, Sv48, Sv57; chapters Svnapot,
 * Svpbmt, Svrsw60t59b. T-Head: XuanTie C910 user guide, MMU extension (MAEE).
 *
 * An encoding that the manual calls reserved raises a page fault: ATW_BAD. So
 * does the shadow-stack encoding of Zicfiss (W alone), which no kernel page
 * table has unless menvcfg.SSE is on.
 */
#include "paging/tables.h"

#define V     BIT(0)
#define R     BIT(1)
#define W     BIT(2)
#define X     BIT(3)
#define U     BIT(4)
#define G     BIT(5)
#define A     BIT(6)
#define D     BIT(7)
#define RWX   (R | W | X)
#define UAD   (U | A | D)        /* reserved in an entry that points to a table */
#define PBMT  BITS(62, 61)
#define N     BIT(63)
#define NAPOT (N | BITS(13, 10)) /* N and PPN[3:0] */
#define NAPOT_64K (N | BIT(13))

/* A superpage faults if the low bits of its page number are not zero. */
#define MISALIGNED \
	{ 0, 0, BITS(18, 10), ATW_L(1), ATW_BAD }, \
	{ 0, 0, BITS(27, 10), ATW_L(2), ATW_BAD }, \
	{ 0, 0, BITS(36, 10), ATW_L(3), ATW_BAD }, \
	{ 0, 0, BITS(45, 10), ATW_L(4), ATW_BAD }

/* `rsv`: bits that must be zero in each valid entry. */
#define RV64_RULES(rsv) { \
	/* frequent words first */ \
	{ V | RWX | UAD | (rsv) | PBMT | N, V, 0, ATW_L_FROM(1), ATW_TABLE }, \
	{ V | R | (rsv) | PBMT | N, V | R, 0, ATW_L(0), ATW_LEAF }, \
	{ V, 0, 0, ATW_L_ALL, ATW_ABSENT }, \
	/* a table pointer at level 0, or with bits that are reserved in tables */ \
	{ RWX, 0, 0, ATW_L_ALL, ATW_BAD }, \
	{ R | W, W, 0, ATW_L_ALL, ATW_BAD }, \
	{ 0, 0, (rsv), ATW_L_ALL, ATW_BAD }, \
	{ PBMT, PBMT, 0, ATW_L_ALL, ATW_BAD }, \
	/* Svnapot has one size: 64K, at level 0 */ \
	{ NAPOT, NAPOT_64K, 0, ATW_L(0), ATW_LEAF }, \
	{ N, N, 0, ATW_L_ALL, ATW_BAD }, \
	MISALIGNED, \
	{ 0, 0, 0, ATW_L_ALL, ATW_LEAF }, \
}

static const struct atw_rule rules[] = RV64_RULES(BITS(60, 54));
/* Svrsw60t59b gives bits 60 and 59 to software. */
static const struct atw_rule rules_rsw[] = RV64_RULES(BITS(58, 54));

/* T-Head's memory type replaces PBMT and N, and is never reserved. */
static const struct atw_rule rules_thead[] = {
	{ V | RWX | UAD | BITS(58, 54), V, 0, ATW_L_FROM(1), ATW_TABLE },
	{ V | R | BITS(58, 54), V | R, 0, ATW_L(0), ATW_LEAF },
	{ V, 0, 0, ATW_L_ALL, ATW_ABSENT },
	{ RWX, 0, 0, ATW_L_ALL, ATW_BAD },
	{ R | W, W, 0, ATW_L_ALL, ATW_BAD },
	{ 0, 0, BITS(58, 54), ATW_L_ALL, ATW_BAD },
	MISALIGNED,
	{ 0, 0, 0, ATW_L_ALL, ATW_LEAF },
};

static const struct atw_rule rules_sv32[] = {
	{ V | RWX | UAD, V, 0, ATW_L(1), ATW_TABLE },
	{ V | R, V | R, 0, ATW_L(0), ATW_LEAF },
	{ V, 0, 0, ATW_L_ALL, ATW_ABSENT },
	{ RWX, 0, 0, ATW_L_ALL, ATW_BAD },
	{ R | W, W, 0, ATW_L_ALL, ATW_BAD },
	{ 0, 0, BITS(19, 10), ATW_L(1), ATW_BAD },
	{ 0, 0, 0, ATW_L_ALL, ATW_LEAF },
};

/*
 * Only the leaf has permissions. Supervisor code never executes a U page, and reads or
 * writes it only while sstatus.SUM is set, which is not part of the tables.
 */
static const struct atw_right_rule rights[] = {
	{ R, 0, ATW_L_ALL, K_LEAF | LEAVES_FROM_HERE, ATW_KR | ATW_UR },
	{ W, 0, ATW_L_ALL, K_LEAF, ALL_W },
	{ X, 0, ATW_L_ALL, K_LEAF, ALL_X },
	{ U, 0, ATW_L_ALL, K_LEAF, USER_ALL },
	{ U, U, ATW_L_ALL, K_LEAF, KERNEL_ALL },
	{ 0 }
};

/*
 * "Guest Physical Address Translation" in chapter "Hypervisor": every access of a guest
 * is checked as one of user mode, so U must be set.
 */
static const struct atw_right_rule rights_x4[] = {
	{ R, 0, ATW_L_ALL, K_LEAF | LEAVES_FROM_HERE, ATW_KR | ATW_UR },
	{ W, 0, ATW_L_ALL, K_LEAF, ALL_W },
	{ X, 0, ATW_L_ALL, K_LEAF, ALL_X },
	{ U, 0, ATW_L_ALL, K_LEAF, ATW_RIGHTS_ALL },
	{ 0 }
};

#define RISCV_FLAGS \
	FLAG(1, ATW_L_ALL, K_LEAF, 'R', "r", "readable"), \
	FLAG(2, ATW_L_ALL, K_LEAF, 'W', "w", "writable"), \
	FLAG(3, ATW_L_ALL, K_LEAF, 'X', "x", "executable"), \
	FLAG(4, ATW_L_ALL, K_LEAF, 'U', "user", "a user page"), \
	FLAG(5, ATW_L_ALL, K_ANY, 'G', "global", "in all address spaces"), \
	FLAG(6, ATW_L_ALL, K_LEAF, 'A', "accessed", "it was used"), \
	FLAG(7, ATW_L_ALL, K_LEAF, 'D', "dirty", "it was written"), \
	FLAG(8, ATW_L_ALL, K_ANY, 's', "rsw8", "software bit"), \
	FLAG(9, ATW_L_ALL, K_ANY, 't', "rsw9", "software bit")

#define RV64_FLAGS \
	RISCV_FLAGS, \
	{ PBMT, BIT(61), ATW_L_ALL, K_LEAF, 'n', "nc", \
	  "memory type non-cacheable" }, \
	{ PBMT, BIT(62), ATW_L_ALL, K_LEAF, 'i', "io", \
	  "memory type I/O, strongly ordered" }, \
	FLAG(63, ATW_L(0), K_LEAF, 'N', "napot", "one of a 64K run")

static const struct atw_flag flags_sv32[] = { RISCV_FLAGS, { 0 } };
static const struct atw_flag flags[] = { RV64_FLAGS, { 0 } };

static const struct atw_flag flags_rsw[] = {
	RV64_FLAGS,
	FLAG(59, ATW_L_ALL, K_ANY, 'e', "rsw59", "software bit"),
	FLAG(60, ATW_L_ALL, K_ANY, 'f', "rsw60", "software bit"),
	{ 0 }
};

static const struct atw_flag flags_thead[] = {
	RISCV_FLAGS,
	FLAG(59, ATW_L_ALL, K_ANY, 'T', "thead-sec", "trustable"),
	FLAG(60, ATW_L_ALL, K_ANY, 'H', "thead-sh", "shareable"),
	FLAG(61, ATW_L_ALL, K_ANY, 'B', "thead-b", "bufferable"),
	FLAG(62, ATW_L_ALL, K_ANY, 'C', "thead-c", "cacheable"),
	FLAG(63, ATW_L_ALL, K_ANY, 'O', "thead-so", "strongly ordered"),
	{ 0 }
};

static const struct atw_property_rule properties[] = {
	HAS(6, ATW_L_ALL, K_LEAF, ATW_ACCESSED), HAS(7, ATW_L_ALL, K_LEAF, ATW_DIRTY),
	HAS(5, ATW_L_ALL, K_LEAF, ATW_GLOBAL), { 0 }
};

/* The rules accept no PPN[3:0] other than that of 64K. */
static const struct atw_span_rule spans[] = {
	{ N, N, ATW_L(0), 16, true },
	{ 0 }
};

#define ADDR_RV64 { { 53, 10, 12, 0, 0 } }

#define RV64_ANY \
	.family = ATW_RISCV, .page_shift = 12, .pa_bits = 56, .word_size = 8, \
	.addr = ADDR_RV64, .rules = rules, .flags = flags, .spans = spans, \
	.properties = properties
#define RV64 RV64_ANY, .halves = ATW_SIGNED, .rights = rights
/* The root has four times the size: it translates two more bits. */
#define RV64_X4 RV64_ANY, .halves = ATW_FLAT, .stage2 = true, .rights = rights_x4

PAGING_MODE(riscv64_sv39, "riscv64-sv39", "RISC-V Sv39, 512 GiB",
	    RV64, 39, 3, LEVELS_4K_2, { "PGD", 30, 9 });
PAGING_MODE(riscv64_sv48, "riscv64-sv48", "RISC-V Sv48, 256 TiB",
	    RV64, 48, 4, LEVELS_4K_3, { "PGD", 39, 9 });
PAGING_MODE(riscv64_sv57, "riscv64-sv57", "RISC-V Sv57, 128 PiB",
	    RV64, 57, 5, LEVELS_4K_4, { "PGD", 48, 9 });

PAGING_MODE(riscv64_sv39x4, "riscv64-sv39x4", "RISC-V Sv39x4 of a guest, 2 TiB",
	    RV64_X4, 41, 3, LEVELS_4K_2, { "PGD", 30, 11 });
PAGING_MODE(riscv64_sv48x4, "riscv64-sv48x4", "RISC-V Sv48x4 of a guest, 1 PiB",
	    RV64_X4, 50, 4, LEVELS_4K_3, { "PGD", 39, 11 });
PAGING_MODE(riscv64_sv57x4, "riscv64-sv57x4", "RISC-V Sv57x4 of a guest, 512 PiB",
	    RV64_X4, 59, 5, LEVELS_4K_4, { "PGD", 48, 11 });

const struct atw_paging atw_mode_riscv32_sv32 = {
	.name = "riscv32-sv32", .help = "RISC-V Sv32, 4 GiB",
	.family = ATW_RISCV, .halves = ATW_FLAT, .page_shift = 12,
	.pa_bits = 34, .va_bits = 32, .word_size = 4, .nlevels = 2,
	.level = { { "PTE", 12, 10 }, { "PGD", 22, 10 } },
	.addr = { { 31, 10, 12, 0, 0 } },
	.rules = rules_sv32, .rights = rights, .flags = flags_sv32,
	.properties = properties,
};

#define EXTENSIONS(is_stage2) \
	{ "thead", ATW_RISCV, 12, 8, 56, ADDR_RV64, \
	  rules_thead, flags_thead, NULL, is_stage2 }, \
	{ "svrsw60t59b", ATW_RISCV, 12, 8, 56, ADDR_RV64, \
	  rules_rsw, flags_rsw, spans, is_stage2 }

const struct atw_extension atw_extensions_riscv[] = {
	EXTENSIONS(false), EXTENSIONS(true), { 0 }
};
