/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode_guest.h - entries of the second stage, which translates guest-physical
 * addresses: Intel SDM vol. 3C 29.3 (EPT), AMD APM vol. 2 15.25 (NPT), DDI 0487 D8.3 and D8.4.2 (arm64 stage 2),
 * RISC-V Privileged ISA, chapter "Hypervisor Extension", "Guest Physical Address
 * Translation".
 */
#pragma once

#include "refdecode_arm.h"
#include "refdecode_riscv.h"
#include "refdecode_x86.h"

/* 29.3.2 with tables 29-1 to 29-7; 29.3.3.1 "EPT Misconfigurations". */
static inline struct ref_entry ref_ept(unsigned level, uint64_t w)
{
	uint64_t type = ref_field(w, 5, 3);
	unsigned lost = 0;

	/* "An EPT paging-structure entry is present if any of bits 2:0 is 1" */
	if (!ref_bit(w, 0) && !ref_bit(w, 1) && !ref_bit(w, 2))
		return ref_absent();
	/* "Bit 0 is clear and bit 1 is set" */
	if (ref_bit(w, 1) && !ref_bit(w, 0))
		return ref_bad();

	if (!ref_bit(w, 0))              /* "Read access" */
		lost |= ATW_KR | ATW_UR;
	if (!ref_bit(w, 1))              /* "Write access" */
		lost |= ATW_KW | ATW_UW;
	if (!ref_bit(w, 2))              /* "Execute access" */
		lost |= ATW_KX | ATW_UX;

	/* Bit 7 of an EPT PDE and of an EPT PDPTE selects a page. */
	if (level > 0 && (level > 2 || !ref_bit(w, 7))) {
		/* 29-1: "7:3 Reserved (must be 0)"; 29-3, 29-5: "6:3" */
		if (ref_field(w, 7, 3))
			return ref_bad();
		return ref_table(ref_keep(w, 51, 12), lost);
	}

	/* "the value of bits 5:3 (EPT memory type) is 2, 3, or 7 (reserved)" */
	if (type == 2 || type == 3 || type == 7)
		return ref_bad();
	/* 29-2: "29:12 Reserved"; 29-4: "20:12 Reserved" */
	if (level == 2 && ref_field(w, 29, 12))
		return ref_bad();
	if (level == 1 && ref_field(w, 20, 12))
		return ref_bad();
	return ref_leaf(ref_keep(w, 51, 12 + 9 * level), lost, 12 + 9 * level);
}

/*
 * AMD APM vol. 2, 15.25: nested tables have the format of the host's, and a guest's accesses
 * are "treated as user accesses".
 */
static inline struct ref_entry ref_npt(unsigned level, uint64_t w)
{
	struct ref_entry e = ref_x86_64(level, w);

	if (e.lost & ATW_UR)
		e.lost |= REF_KERNEL;
	return e;
}

/*
 * Stage 2 descriptors have the layout of stage 1 (D8.3.1); of `e`, only the rights are
 * stage 1's.
 */
static inline struct ref_entry ref_arm64_s2(struct ref_entry e, uint64_t w)
{
	e.lost = 0;
	e.uw_forbids_kx = false;
	if (e.kind != ATW_LEAF)          /* no hierarchical control at stage 2 */
		return e;

	if (!ref_bit(w, 6))              /* S2AP: x0, no reads */
		e.lost |= ATW_KR | ATW_UR;
	if (!ref_bit(w, 7))              /* S2AP: 0x, no writes */
		e.lost |= ATW_KW | ATW_UW;
	/* XN[1:0], table "Stage 2 instruction execution permissions" */
	switch (ref_field(w, 54, 53)) {
	case 0:                          /* EL1 and EL0 execute */
		break;
	case 1:                          /* EL0 only */
		e.lost |= ATW_KX;
		break;
	case 2:                          /* neither */
		e.lost |= ATW_KX | ATW_UX;
		break;
	default:                         /* EL1 only */
		e.lost |= ATW_UX;
		break;
	}
	return e;
}

/*
 * "conversion of an Sv32x4, Sv39x4, Sv48x4, or Sv57x4 guest physical address is
 * accomplished with the same algorithm used for Sv32, Sv39, Sv48, or Sv57"; "all memory
 * accesses are considered to be user-level accesses", so U=1 or a fault.
 */
static inline struct ref_entry ref_riscv64_x4(unsigned level, uint64_t w)
{
	struct ref_entry e = ref_riscv64(level, w);

	if (e.kind != ATW_LEAF)
		return e;
	e.lost = 0;
	if (!ref_bit(w, 1))
		e.lost |= ATW_KR | ATW_UR;
	if (!ref_bit(w, 2))
		e.lost |= ATW_KW | ATW_UW;
	if (!ref_bit(w, 3))
		e.lost |= ATW_KX | ATW_UX;
	if (!ref_bit(w, 4))
		e.lost = ATW_RIGHTS_ALL;
	return e;
}
