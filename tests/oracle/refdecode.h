/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode.h - a second reading of the manuals: what every decoder here
 * answers, and the geometry of the modes.
 *
 * This is the oracle against which the library's tables are tested, so it
 * shares nothing with them but the public names of kinds and rights. It is
 * meant to be compared with a manual page line by line: one `if` a sentence.
 */
#pragma once

#include "paging/paging.h"

enum ref_mode {
	X86_64_4, X86_64_5,
	ARM64_4K_39, ARM64_4K_42, ARM64_4K_48, ARM64_4K_52,
	ARM64_16K_36, ARM64_16K_47, ARM64_16K_48, ARM64_16K_52,
	ARM64_64K_42, ARM64_64K_48, ARM64_64K_52,
	RISCV64_SV39, RISCV64_SV48, RISCV64_SV57,
	I386, I386_PAE, ARM_SHORT, ARM_LPAE, RISCV32_SV32,
	EPT_4, EPT_5, NPT_4, NPT_5,
	ARM64_S2_4K_32, ARM64_S2_4K_36, ARM64_S2_4K_40, ARM64_S2_4K_42,
	ARM64_S2_4K_44, ARM64_S2_4K_48, ARM64_S2_4K_52,
	ARM64_S2_16K_40, ARM64_S2_16K_48, ARM64_S2_16K_52,
	ARM64_S2_64K_40, ARM64_S2_64K_48, ARM64_S2_64K_52,
	RISCV64_SV39X4, RISCV64_SV48X4, RISCV64_SV57X4,
	REF_MODES,
};

/* As --paging-modes lists them. */
static inline const char *mode_name(enum ref_mode m)
{
	switch (m) {
	case X86_64_4:     return "x86_64-4";
	case X86_64_5:     return "x86_64-5";
	case ARM64_4K_39:  return "arm64-4k-39";
	case ARM64_4K_42:  return "arm64-4k-42";
	case ARM64_4K_48:  return "arm64-4k-48";
	case ARM64_4K_52:  return "arm64-4k-52";
	case ARM64_16K_36: return "arm64-16k-36";
	case ARM64_16K_47: return "arm64-16k-47";
	case ARM64_16K_48: return "arm64-16k-48";
	case ARM64_16K_52: return "arm64-16k-52";
	case ARM64_64K_42: return "arm64-64k-42";
	case ARM64_64K_48: return "arm64-64k-48";
	case ARM64_64K_52: return "arm64-64k-52";
	case RISCV64_SV39: return "riscv64-sv39";
	case RISCV64_SV48: return "riscv64-sv48";
	case RISCV64_SV57: return "riscv64-sv57";
	case I386:         return "i386";
	case I386_PAE:     return "i386-pae";
	case ARM_SHORT:    return "arm";
	case ARM_LPAE:     return "arm-lpae";
	case RISCV32_SV32: return "riscv32-sv32";
	case EPT_4:           return "ept-4";
	case EPT_5:           return "ept-5";
	case NPT_4:           return "npt-4";
	case NPT_5:           return "npt-5";
	case ARM64_S2_4K_32:  return "arm64-s2-4k-32";
	case ARM64_S2_4K_36:  return "arm64-s2-4k-36";
	case ARM64_S2_4K_40:  return "arm64-s2-4k-40";
	case ARM64_S2_4K_42:  return "arm64-s2-4k-42";
	case ARM64_S2_4K_44:  return "arm64-s2-4k-44";
	case ARM64_S2_4K_48:  return "arm64-s2-4k-48";
	case ARM64_S2_4K_52:  return "arm64-s2-4k-52";
	case ARM64_S2_16K_40: return "arm64-s2-16k-40";
	case ARM64_S2_16K_48: return "arm64-s2-16k-48";
	case ARM64_S2_16K_52: return "arm64-s2-16k-52";
	case ARM64_S2_64K_40: return "arm64-s2-64k-40";
	case ARM64_S2_64K_48: return "arm64-s2-64k-48";
	case ARM64_S2_64K_52: return "arm64-s2-64k-52";
	case RISCV64_SV39X4:  return "riscv64-sv39x4";
	case RISCV64_SV48X4:  return "riscv64-sv48x4";
	case RISCV64_SV57X4:  return "riscv64-sv57x4";
	default:           return NULL;
	}
}

/* What an entry says. `lost` are the rights that it takes away. */
struct ref_entry {
	enum atw_kind kind;
	uint64_t addr;           /* TABLE, LEAF */
	unsigned lost;           /* TABLE, LEAF: enum atw_right */
	unsigned span;           /* LEAF: log2 of bytes */
	bool replaces;           /* LEAF */
	bool uw_forbids_kx;      /* LEAF: writable by the user, not run by the kernel */
};

#define REF_KERNEL (ATW_KR | ATW_KW | ATW_KX)
#define REF_USER   (ATW_UR | ATW_UW | ATW_UX)

static inline bool ref_bit(uint64_t word, unsigned n)
{
	return word >> n & 1;
}

/* word[hi:lo], as the manuals write it, shifted down to bit 0. */
static inline uint64_t ref_field(uint64_t word, unsigned hi, unsigned lo)
{
	return word << (63 - hi) >> (63 - hi + lo);
}

/* word[hi:lo] left where it is. */
static inline uint64_t ref_keep(uint64_t word, unsigned hi, unsigned lo)
{
	return ref_field(word, hi, lo) << lo;
}

static inline struct ref_entry ref_absent(void)
{
	return (struct ref_entry){ .kind = ATW_ABSENT };
}

static inline struct ref_entry ref_bad(void)
{
	return (struct ref_entry){ .kind = ATW_BAD };
}

static inline struct ref_entry ref_table(uint64_t addr, unsigned lost)
{
	return (struct ref_entry){
		.kind = ATW_TABLE, .addr = addr, .lost = lost,
	};
}

static inline struct ref_entry ref_leaf(uint64_t addr, unsigned lost,
					unsigned span)
{
	return (struct ref_entry){
		.kind = ATW_LEAF, .addr = addr, .lost = lost, .span = span,
	};
}

/* What the entry leaves of the rights that the tables above it left. */
static inline unsigned ref_rights(struct ref_entry e, unsigned above)
{
	unsigned left = above & ~e.lost;

	if (e.uw_forbids_kx && (left & ATW_UW))
		left &= ~ATW_KX;
	return left;
}

/* Bytes of an entry. */
static inline unsigned ref_word_size(enum ref_mode m)
{
	return m == I386 || m == ARM_SHORT || m == RISCV32_SV32 ? 4 : 8;
}

/* How many bits of a virtual address are translated. */
static inline unsigned ref_va_bits(enum ref_mode m)
{
	switch (m) {
	case X86_64_4:     return 48;    /* SDM 3A 4.5.2 */
	case X86_64_5:     return 57;
	case ARM64_4K_39:  return 39;    /* 64 - TCR_EL1.TxSZ */
	case ARM64_4K_42:  return 42;
	case ARM64_4K_48:  return 48;
	case ARM64_4K_52:  return 52;    /* FEAT_LPA2 */
	case ARM64_16K_36: return 36;
	case ARM64_16K_47: return 47;
	case ARM64_16K_48: return 48;
	case ARM64_16K_52: return 52;    /* FEAT_LPA2 */
	case ARM64_64K_42: return 42;
	case ARM64_64K_48: return 48;
	case ARM64_64K_52: return 52;    /* FEAT_LVA */
	case RISCV64_SV39: return 39;
	case RISCV64_SV48: return 48;
	case RISCV64_SV57: return 57;
	case EPT_4:        return 48;    /* SDM 3C 29.3.2 */
	case EPT_5:        return 57;
	case NPT_4:        return 48;    /* APM vol. 2, 15.25 */
	case NPT_5:        return 57;
	case ARM64_S2_4K_32: return 32;  /* 64 - VTCR_EL2.T0SZ */
	case ARM64_S2_4K_36: return 36;
	case ARM64_S2_4K_40: case ARM64_S2_16K_40: case ARM64_S2_64K_40: return 40;
	case ARM64_S2_4K_42: return 42;
	case ARM64_S2_4K_44: return 44;
	case ARM64_S2_4K_48: case ARM64_S2_16K_48: case ARM64_S2_64K_48: return 48;
	case ARM64_S2_4K_52: case ARM64_S2_16K_52: case ARM64_S2_64K_52: return 52;
	case RISCV64_SV39X4: return 41;  /* "widened by 2 bits" */
	case RISCV64_SV48X4: return 50;
	case RISCV64_SV57X4: return 59;
	default:           return 32;
	}
}

/* The lowest virtual address bit that a table of this level indexes with. */
static inline unsigned ref_shift(enum ref_mode m, unsigned level)
{
	switch (m) {
	case ARM64_16K_36:
	case ARM64_16K_47:
	case ARM64_16K_48:
	case ARM64_16K_52:
	case ARM64_S2_16K_40:
	case ARM64_S2_16K_48:
	case ARM64_S2_16K_52:            /* DDI 0487 D8.2: IA[24:14], [35:25]... */
		return 14 + 11 * level;
	case ARM64_64K_42:
	case ARM64_64K_48:
	case ARM64_64K_52:
	case ARM64_S2_64K_40:
	case ARM64_S2_64K_48:
	case ARM64_S2_64K_52:            /* IA[28:16], [41:29]... */
		return 16 + 13 * level;
	case I386:                       /* SDM 3A fig. 4-2: 21:12, 31:22 */
	case RISCV32_SV32:               /* VPN[0], VPN[1] */
		return 12 + 10 * level;
	case ARM_SHORT:                  /* DDI 0487 G5.4: VA[19:12], [31:20] */
		return level == 0 ? 12 : level == 1 ? 20 : 32;
	default:                         /* 20:12, 29:21, 38:30, 47:39, 56:48 */
		return 12 + 9 * level;
	}
}

/*
 * Address bits that a larger root translates: DDI 0487 D8.2.2, up to 16 concatenated
 * tables, of which KVM makes full use; RISC-V Sv39x4 and so on, "root page table is four
 * times larger".
 */
static inline unsigned ref_root_bits(enum ref_mode m)
{
	if (m >= ARM64_S2_4K_32 && m <= ARM64_S2_64K_52)
		return 4;
	return m >= RISCV64_SV39X4 && m <= RISCV64_SV57X4 ? 2 : 0;
}

/* Levels are as many as it takes to reach the top of the address. */
static inline unsigned ref_levels(enum ref_mode m)
{
	unsigned n = 1;

	while (ref_shift(m, n) + ref_root_bits(m) < ref_va_bits(m))
		n++;
	return n;
}

static inline uint64_t ref_index(enum ref_mode m, unsigned level, uint64_t va)
{
	unsigned above = ref_shift(m, level + 1);

	/* the root has fewer entries, or more */
	if (above > ref_va_bits(m) || level == ref_levels(m) - 1)
		above = ref_va_bits(m);
	return ref_field(va, above - 1, ref_shift(m, level));
}

/* Whether the mode can translate the address at all. */
static inline bool ref_valid(enum ref_mode m, uint64_t va)
{
	unsigned bits = ref_va_bits(m);
	unsigned ones = 0;

	/* 32-bit addresses, held in 64 bits. */
	if (bits == 32)
		return va <= UINT32_MAX;

	/* Guest-physical addresses are numbers without a sign. */
	if (m >= EPT_4 && m <= RISCV64_SV57X4)
		return ref_field(va, 63, bits) == 0;

	for (unsigned i = bits; i < 64; i++)
		ones += ref_bit(va, i);

	/* DDI 0487 D8.1: all 0: TTBR0; all 1: TTBR1; else a fault (no TBI). */
	if (m >= ARM64_4K_39 && m <= ARM64_64K_52)
		return ones == 0 || ones == 64 - bits;

	/*
	 * SDM vol. 1 3.3.7.1: canonical means that bits 63 down to the most
	 * significant implemented one are all the same. RISC-V says it of
	 * Sv39, Sv48 and Sv57: "bits 63-39 all equal to bit 38".
	 */
	return ref_bit(va, bits - 1) ? ones == 64 - bits : ones == 0;
}
