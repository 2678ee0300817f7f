/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refdecode_x86.h - x86 entries, from the Intel SDM vol. 3A chapter 4.
 * "Ignored" bits are ignored; MAXPHYADDR is taken as 52, the most there is.
 */
#pragma once

#include "refdecode.h"

/*
 * 4.6.1: what R/W, U/S and XD of one entry forbid, with CR0.WP = 1 and
 * IA32_EFER.NXE = 1. SMEP and SMAP are not the entry's doing.
 */
static inline unsigned ref_x86_lost(uint64_t w, bool has_xd)
{
	unsigned lost = 0;

	if (!ref_bit(w, 1))              /* R/W: "if 0, writes may not be allowed" */
		lost |= ATW_KW | ATW_UW;
	if (!ref_bit(w, 2))              /* U/S: "if 0, user-mode accesses are not" */
		lost |= REF_USER;
	if (has_xd && ref_bit(w, 63))    /* XD: "if 1, instruction fetches are not" */
		lost |= ATW_KX | ATW_UX;
	return lost;
}

/* 4.5: 4-level and 5-level paging, tables 4-14 to 4-20. */
static inline struct ref_entry ref_x86_64(unsigned level, uint64_t w)
{
	unsigned lost = ref_x86_lost(w, true);

	if (!ref_bit(w, 0))              /* P */
		return ref_absent();

	if (level == 0)                  /* PTE, table 4-20; bit 7 is PAT */
		return ref_leaf(ref_keep(w, 51, 12), lost, 12);

	if (level == 1) {
		if (!ref_bit(w, 7))      /* PDE of a page table, table 4-19 */
			return ref_table(ref_keep(w, 51, 12), lost);
		if (ref_field(w, 20, 13)) /* 4-18: "20:13 Reserved (must be 0)" */
			return ref_bad();
		return ref_leaf(ref_keep(w, 51, 21), lost, 21);
	}

	if (level == 2) {
		if (!ref_bit(w, 7))      /* PDPTE of a directory, table 4-17 */
			return ref_table(ref_keep(w, 51, 12), lost);
		if (ref_field(w, 29, 13)) /* 4-16: "29:13 Reserved (must be 0)" */
			return ref_bad();
		return ref_leaf(ref_keep(w, 51, 30), lost, 30);
	}

	/* PML4E and PML5E, tables 4-15 and 4-14: "7 (PS) Reserved (must be 0)" */
	if (ref_bit(w, 7))
		return ref_bad();
	return ref_table(ref_keep(w, 51, 12), lost);
}

/* 4.3: 32-bit paging with CR4.PSE = 1 and PSE-36, tables 4-4 to 4-6. */
static inline struct ref_entry ref_i386(unsigned level, uint64_t w)
{
	unsigned lost = ref_x86_lost(w, false);

	if (!ref_bit(w, 0))
		return ref_absent();

	if (level == 0)                  /* table 4-6 */
		return ref_leaf(ref_keep(w, 31, 12), lost, 12);

	if (!ref_bit(w, 7))              /* table 4-5 */
		return ref_table(ref_keep(w, 31, 12), lost);

	/*
	 * Table 4-4, with M = 40, the most PSE-36 has: "(M-20):13 Bits (M-1):32
	 * of physical address", "21:(M-19) Reserved (must be 0)".
	 */
	if (ref_bit(w, 21))
		return ref_bad();
	return ref_leaf(ref_field(w, 20, 13) << 32 | ref_keep(w, 31, 22), lost, 22);
}

/* 4.4: PAE paging, tables 4-8 to 4-11. */
static inline struct ref_entry ref_i386_pae(unsigned level, uint64_t w)
{
	unsigned lost = ref_x86_lost(w, true);

	if (!ref_bit(w, 0))
		return ref_absent();

	if (level == 2) {
		/*
		 * Table 4-8: "2:1", "8:5" and "63:M" are "Reserved (must be
		 * 0)". There is no R/W, U/S or XD in it.
		 */
		if (ref_field(w, 2, 1) || ref_field(w, 8, 5) ||
		    ref_field(w, 63, 52))
			return ref_bad();
		return ref_table(ref_keep(w, 51, 12), 0);
	}

	/* Tables 4-9 to 4-11: "62:M Reserved (must be 0)". */
	if (ref_field(w, 62, 52))
		return ref_bad();

	if (level == 0)                  /* table 4-11 */
		return ref_leaf(ref_keep(w, 51, 12), lost, 12);

	if (!ref_bit(w, 7))              /* table 4-10 */
		return ref_table(ref_keep(w, 51, 12), lost);

	if (ref_field(w, 20, 13))        /* 4-9: "20:13 Reserved (must be 0)" */
		return ref_bad();
	return ref_leaf(ref_keep(w, 51, 21), lost, 21);
}
