/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode_riscv.h - RISC-V entries, from the Privileged ISA, chapter
 * "Supervisor-Level ISA": sections Sv32, Sv39, Sv48, Sv57, Svnapot, Svpbmt.
 */
#pragma once

#include "refdecode.h"

/* Leaf permissions, with sstatus.SUM = 0 and MXR = 0. */
static inline unsigned ref_riscv_lost(uint64_t w)
{
	unsigned lost = 0;

	if (!ref_bit(w, 1))              /* R */
		lost |= ATW_KR | ATW_UR;
	if (!ref_bit(w, 2))              /* W */
		lost |= ATW_KW | ATW_UW;
	if (!ref_bit(w, 3))              /* X */
		lost |= ATW_KX | ATW_UX;
	/*
	 * "U-mode software may only access the page when U=1"; supervisor mode
	 * software "will fault on accesses to U=1 pages" with SUM clear, and
	 * "may not execute code on pages with U=1" ever.
	 */
	if (ref_bit(w, 4))
		lost |= REF_KERNEL;
	else
		lost |= REF_USER;
	return lost;
}

/* "Virtual Address Translation Process": what all the modes share. */
static inline enum atw_kind ref_riscv_kind(unsigned level, uint64_t w)
{
	bool r = ref_bit(w, 1), wr = ref_bit(w, 2), x = ref_bit(w, 3);

	/* Translation process, step 3: "if pte.v=0, or if pte.r=0 and pte.w=1" */
	if (!ref_bit(w, 0))
		return ATW_ABSENT;
	if (!r && wr)
		return ATW_BAD;

	/* Step 4: "if pte.r=1 or pte.x=1": a leaf */
	if (r || x)
		return ATW_LEAF;

	/* "Otherwise this PTE is a pointer... if i<0, stop": no level below 0 */
	if (level == 0)
		return ATW_BAD;

	/* "For non-leaf PTEs, the D, A, and U bits are reserved" */
	if (ref_bit(w, 7) || ref_bit(w, 6) || ref_bit(w, 4))
		return ATW_BAD;
	return ATW_TABLE;
}

/* Sv39, Sv48 and Sv57 have one format: "Sv39 page table entry". */
static inline struct ref_entry ref_riscv64(unsigned level, uint64_t w)
{
	enum atw_kind kind = ref_riscv_kind(level, w);
	uint64_t ppn = ref_field(w, 53, 10);
	uint64_t pbmt = ref_field(w, 62, 61);
	bool n = ref_bit(w, 63);
	struct ref_entry e;

	if (kind == ATW_ABSENT)
		return ref_absent();
	if (kind == ATW_BAD)
		return ref_bad();

	/* "Bits 60-54 are reserved... if any is set, a page fault is raised" */
	if (ref_field(w, 60, 54))
		return ref_bad();

	if (kind == ATW_TABLE) {
		/* Svpbmt, Svnapot: bits 62-61 and 63 are reserved in non-leafs */
		if (pbmt || n)
			return ref_bad();
		return ref_table(ppn << 12, 0);
	}

	/* Svpbmt: value 3 is "reserved for future standard use" */
	if (pbmt == 3)
		return ref_bad();

	/* Step 5: "if i>0 and pte.ppn[i-1:0] != 0, a misaligned superpage" */
	if (level > 0 && ref_field(ppn, 9 * level - 1, 0))
		return ref_bad();

	if (!n)
		return ref_leaf(ppn << 12, ref_riscv_lost(w), 12 + 9 * level);

	/*
	 * Svnapot, table "Page table entry encodings when pte.N=1": i = 0 and
	 * pte.ppn[0] = x xxxx 1000 is a 64 KiB region; all others reserved.
	 */
	if (level != 0 || ref_field(ppn, 3, 0) != 8)
		return ref_bad();
	e = ref_leaf(ref_keep(ppn, 43, 4) << 12, ref_riscv_lost(w), 16);
	e.replaces = true;               /* "pte.ppn[napot_bits-1:0] replaced by vpn" */
	return e;
}

/* "Sv32 page table entry": PPN 31:10, no reserved bits. */
static inline struct ref_entry ref_riscv32(unsigned level, uint64_t w)
{
	enum atw_kind kind = ref_riscv_kind(level, w);
	uint64_t ppn = ref_field(w, 31, 10);

	if (kind == ATW_ABSENT)
		return ref_absent();
	if (kind == ATW_BAD)
		return ref_bad();
	if (kind == ATW_TABLE)
		return ref_table(ppn << 12, 0);
	if (level == 1 && ref_field(ppn, 9, 0))
		return ref_bad();
	return ref_leaf(ppn << 12, ref_riscv_lost(w), level ? 22 : 12);
}
